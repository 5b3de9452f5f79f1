// A recorded workload as a compact mix: flows of the frequent small transactions, and how well that fits.
#pragma once

#include "calibration/import/recorded_workload.hpp"

#include <vector>

namespace replisim {

/// Transactions of one kind as a flow.
struct MixFlow {
  RecordedSteps steps;
  std::int64_t transactions = 0;
  bool poisson = false;
  double rate_per_s = 0;
  std::vector<double> curve; ///< factors on the rate, one each interval of curve_interval_s; empty: steady
  double curve_interval_s = 0;
};

/// How near the mix is to what was recorded.
struct MixFit {
  double transactions_in_flows = 0; ///< share of all; the others are replayed one by one
  double changes_in_flows = 0;
  double rows_error = 0;     ///< changes of the flows over the recorded ones, minus 1
  double sizes_distance = 0; ///< largest difference of the two distributions of rows per transaction (0 to 1)
  double gaps_distance = 0;  ///< the same of the gaps between commits, weighted over the flows
  double gaps_limit = 0;     ///< what chance alone would give at 95 % (Kolmogorov)
  double counts_dispersion =
      0; ///< variance over mean of the commits in a second, beside the curve; Poisson: 1
};

struct Mix {
  std::vector<MixFlow> flows;
  std::vector<RecordedTransaction> replayed; ///< the large ones, those with savepoints, those rolled back
  MixFit fit;
};

/// Small transactions that do the same to the same tables are one flow; where their rows differ, it has the
/// mean, rounded. At most `most_flows` flows: kinds too rare for one are replayed.
Mix fit_mix(const RecordedWorkload& workload, std::size_t most_flows = 20);

} // namespace replisim
