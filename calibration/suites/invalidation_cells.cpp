#include "calibration/suites/invalidation_cells.hpp"

#include <cctype>
#include <fmt/format.h>

namespace replisim {

Cell invalidation_cell(const InvalidationRun& run, const std::string& folder, const std::string& id) {
  const char letter = static_cast<char>(std::tolower(static_cast<unsigned char>(run.workload.front())));
  Cell cell;
  cell.id = id;
  cell.unit = "s";
  cell.metric = "decode_s";
  cell.scenario = fmt::format("{}/invalidation_{}.yaml", folder, letter);
  cell.overrides = {"servers.pub.version=" + run.version,
                    fmt::format("workload.open.sessions={}", run.transactions)};
  return cell;
}

double extra_us(const std::vector<double>& seconds, const InvalidationCells& cells,
                const InvalidationRun& run, const InvalidationRun& base) {
  return (seconds[cells.at(run)] - seconds[cells.at(base)]) / run.transactions * 1e6;
}

} // namespace replisim
