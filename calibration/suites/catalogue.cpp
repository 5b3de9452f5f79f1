// The list of validation suites.
#include "calibration/suites/suite.hpp"

#include "models/base/errors.hpp"
#include "models/base/suggest.hpp"

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
      {"lab-streaming", "times and CPU seconds of that pair on two cores, beside their own noise",
       make_lab_streaming},
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

std::string to_string(LimitKind kind) {
  switch (kind) {
  case LimitKind::MapePct:
    return "mape_pct";
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
