// `replisim collect`: samples a running pair read-only, for observe, import, calibrate and `scenario --from`.
//
// What is written: NAME.pub.views and NAME.sub.views, the statistics views as JSON, one row a line, with
// facts (settings, tables, publications, subscriptions) at the beginning, now and then, and at the end;
// NAME.timeline.csv with LSNs, locks and, where a server runs on this host, CPU seconds by process class;
// NAME.tables.txt for `import --tables`. Connection strings, the texts of statements and values of columns
// are never read or written.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <string>

namespace replisim::live {

struct CollectOptions {
  std::string publisher; ///< conninfo
  std::string subscriber;
  std::filesystem::path out;
  std::string name = "cluster";
  double interval_s = 1;
  double duration_s = 0; ///< 0: until Ctrl-C
  std::function<void(const std::string& sentence)> say;
};

struct CollectSummary {
  std::uint64_t samples = 0;
  int reconnects = 0;
  double seconds = 0;
  bool interrupted = false;
  double own_cores = 0;        ///< of this program
  double publisher_cores = -1; ///< of its session there; -1: on another host
  double subscriber_cores = -1;
  std::uint64_t bytes = 0; ///< written
};

/// Samples. Throws UsageError with a sentence and a next step when one of the two cannot be read.
CollectSummary collect(const CollectOptions& options);

} // namespace replisim::live
