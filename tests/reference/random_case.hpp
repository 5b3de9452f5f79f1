// Small scenarios at random, for the comparison of the simulator with the reference model: each can be
// simulated, given to the reference model, written as a scenario file, and made smaller.
#pragma once

#include "sim/scenario/scenario.hpp"
#include "tests/reference/pipeline_model.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace replisim::test {

struct CaseTable {
  Table table;
  bool published = true;
};

struct Case {
  std::uint64_t seed = 0;
  int version = 17;
  Streaming streaming = Streaming::Off;
  int work_mem_kb = 64;
  bool fsync = false;
  bool commit_waits = true;
  double fsync_latency_s = 1e-3;
  int wal_writer_delay_ms = 9;
  std::optional<Link> link;
  int pool = 2;    ///< max_parallel_apply_workers_per_subscription
  int workers = 4; ///< max_logical_replication_workers
  CostParameters costs;
  Rows batch_rows = 1;
  std::vector<CaseTable> tables;
  std::vector<BatchLoad> transactions;

  Rows rows() const;
};

Case random_case(std::uint64_t seed);

/// Costs of a usual machine, all of them within what a profile may state.
CostParameters usual_costs();

/// As the simulator takes it.
Scenario scenario_of(const Case& from);
/// As the reference model takes it: sizes and prices as models/ computes them, each kept by unit tests of its
/// own.
reference::Input reference_input(const Case& from);
/// As a file that `replisim run` reads.
std::string yaml_of(const Case& from);

/// Variants with something left out or made smaller, the boldest first.
std::vector<Case> smaller(const Case& from);

} // namespace replisim::test
