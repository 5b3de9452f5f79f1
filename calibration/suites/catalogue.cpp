// The list of validation suites.
#include "calibration/suites/suite.hpp"

#include "models/base/errors.hpp"
#include "models/base/suggest.hpp"

#include <algorithm>
#include <fmt/format.h>

namespace replisim {

const std::vector<SuiteEntry>& suite_catalogue() {
  static const std::vector<SuiteEntry> entries = {
      {"seed-streaming",
       "time of one transaction of 5,000,000 rows with streaming off and parallel, as posted on "
       "pgsql-hackers",
       make_seed_streaming},
      {"lab-counters", "slot counters, file sizes and WAL volume of a real pair, from first principles",
       make_lab_counters},
      {"lab-streaming",
       "times and CPU seconds of that pair on two cores, predicted from four of its runs, beside their own "
       "noise",
       make_lab_streaming},
      {"lab-pgbench", "pgbench with 1 to 32 clients on that pair: TPS, and CPU of walsender and apply worker",
       make_lab_pgbench},
      {"seed-publisher-tps",
       "pgbench TPS of a publisher with and without retention for conflict detection, as posted on "
       "pgsql-hackers",
       make_seed_publisher_tps},
      {"seed-invalidation",
       "time of one decoding of open transactions over which DDL commits, as posted on pgsql-hackers",
       make_seed_invalidation},
      {"lab-invalidation", "the same on servers of our own before and after the fix", make_lab_invalidation},
      {"public-invalidation", "DDL on many tables, whose cost grows with the square of their number",
       make_public_invalidation},
      {"lab-17-vs-18", "what PostgreSQL 17 and 18 spill and stream, from the version table alone",
       make_lab_17_vs_18},
      {"seed-transfer", "the table of seed-streaming from the lab's costs and one ratio of speeds",
       make_seed_transfer},
      {"lab-locks", "how long that pair's subscriber held its locks, and how long a session waited for a row",
       make_lab_locks},
  };
  return entries;
}

Suite make_suite(const std::string& name, const Library& library) {
  std::vector<std::string> names;
  for (const SuiteEntry& entry : suite_catalogue()) {
    if (entry.name == name) {
      Suite suite = entry.make(library);
      suite.name = entry.name;
      suite.description = entry.description;
      return suite;
    }
    names.push_back(entry.name);
  }
  throw UsageError(fmt::format("unknown suite '{}'{}", name, suggestion(name, names)));
}

bool Suite::judged() const {
  const bool by_noise = std::any_of(noise.begin(), noise.end(),
                                    [](const MetricNoise& metric) { return metric.at_most_pct > 0; });
  return not limits.empty() or not rules.empty() or not orders.empty() or by_noise;
}

std::string to_string(LimitKind kind) {
  switch (kind) {
  case LimitKind::MapePct:
    return "mape_pct";
  case LimitKind::MedianErrorPct:
    return "median_error_pct";
  case LimitKind::RepeatErrorRatio:
    return "repeat_error_ratio";
  case LimitKind::MaxErrorPct:
    return "max_error_pct";
  case LimitKind::ImprovementPoints:
    return "improvement_points";
  case LimitKind::FittedParameters:
    return "fitted_parameters";
  }
  return {};
}

} // namespace replisim
