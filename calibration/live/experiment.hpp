// One measured run of a scenario on a pair of throwaway servers.
#pragma once

#include "calibration/live/loads.hpp"
#include "calibration/live/timeline_sampler.hpp"
#include "sim/run/result.hpp"

#include <memory>
#include <optional>
#include <string>

namespace replisim::live {

/// A publisher and a subscriber.
class Pair {
public:
  Pair(Workspace& workspace, Binaries binaries, int port);

  ThrowawayServer& pub() { return *pub_; }
  ThrowawayServer& sub() { return *sub_; }
  Workspace& workspace() { return workspace_; }
  const Binaries& binaries() const { return binaries_; }
  /// Gives both servers the scenario's settings; restarts one where a setting asks for it.
  void configure(const Scenario& scenario);
  /// Makes both servers as empty as they were, pgbench's tables of this scale (0: none) excepted.
  void clear(std::int64_t pgbench_scale);

private:
  void configure(ThrowawayServer& server, const Settings& settings, const Version& version);

  Workspace& workspace_;
  Binaries binaries_;
  std::unique_ptr<ThrowawayServer> pub_;
  std::unique_ptr<ThrowawayServer> sub_;
  std::int64_t pgbench_scale_ = 0; ///< of the tables there
};

/// What one run left.
struct Measured {
  Metrics figures; ///< by the names that simulated results have
  bool rows_match = true;
  double sampler_cores = 0; ///< what measuring took, in cores
  double session_cores = 0;
  std::string timeline; ///< CSV
  std::string pub_log;
  std::string sub_log;
  std::string pgbench;
};

/// Runs `scenario` once. Throws UsageError with a sentence when the servers refuse something; Interrupted.
Measured measure(const Scenario& scenario, Pair& pair);

} // namespace replisim::live
