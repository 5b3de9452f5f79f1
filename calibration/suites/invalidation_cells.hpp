// Cells of the invalidation suites: decoding of open transactions over which DDL commits.
#pragma once

#include "calibration/suites/suite.hpp"

#include <map>

namespace replisim {

/// One decoding: workload (A to E), what the server is ("17.4"), open transactions.
struct InvalidationRun {
  std::string workload;
  std::string version;
  int transactions = 0;
  auto operator<=>(const InvalidationRun&) const = default;
};

/// Where each run's cell is in a suite.
using InvalidationCells = std::map<InvalidationRun, std::size_t>;

/// A cell of `decode_s`; `folder` holds invalidation_a.yaml to invalidation_e.yaml.
Cell invalidation_cell(const InvalidationRun& run, const std::string& folder, const std::string& id);

/// Extra time of `run` over `base` for each open transaction, in us.
double extra_us(const std::vector<double>& seconds, const InvalidationCells& cells,
                const InvalidationRun& run, const InvalidationRun& base);

} // namespace replisim
