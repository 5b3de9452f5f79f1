// What a sample can say: intervals of means and of quantiles, where a warm-up ends, whether batches of values
// are independent. Plain functions of numbers; nothing here knows where they come from.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

namespace replisim {

/// A mean and half the width of its 95 % confidence interval.
struct Interval {
  double mean = 0;
  double half_width = 0;
  bool operator==(const Interval&) const = default;
};

/// The 0.975 quantile of Student's t distribution, degrees_of_freedom >= 1: exact values up to 4, from
/// there the expansion of Abramowitz and Stegun, Handbook of Mathematical Functions, 26.7.5 (relative
/// error below 2e-4).
double student_t_975(int degrees_of_freedom);

/// Mean of independent values and the half width t * s / sqrt(n); equal values give exactly 0, and so
/// does a single one. Requires at least one value.
Interval interval_95(const std::vector<double>& values);

/// Values at the beginning of a series that are still warming up.
struct WarmUp {
  std::size_t values = 0;
  std::string refused; ///< why no end of it can be seen; empty: it ends there
};

/// MSER-5 (White, Cobb and Spratt, 2000): the series in batches of five, cut where the squared standard error
/// of what remains is smallest, at most at its middle. A minimum at that last place is refused: the series is
/// still changing.
WarmUp warm_up_mser5(const std::vector<double>& values);

/// The von Neumann ratio: mean squared difference of neighbours over the variance; 2 for independent values,
/// less for positively correlated ones. Requires two values; equal values count as independent.
double von_neumann_ratio(const std::vector<double>& values);

/// Whether the ratio of so many values is what independent ones have, at 10 % (one-sided; von Neumann, 1941).
bool looks_independent(double ratio, std::size_t values);

/// An interval of the mean of correlated values.
struct BatchMeans {
  Interval interval;       ///< its mean is that of all values, also where no interval is supported
  std::size_t batches = 0; ///< the interval is of so many means ...
  std::size_t values = 0;  ///< ... of so many values each
  double ratio = 0;        ///< von Neumann ratio at which correlation was last tested
  std::string refused;     ///< why the sample supports no interval; empty: it does
};

/// Batch means (Fishman, 1978): batches are doubled until at least 32 of them pass the test above, and then
/// four of these make one, which leaves their remaining correlation behind. Values from `first` on count.
BatchMeans batch_means(const std::vector<double>& values, std::size_t first = 0);

/// Order statistics (from 1) between which a quantile lies with 95 %.
struct QuantileRanks {
  std::size_t low = 0;
  std::size_t high = 0;
};

/// The ranks for `quantile` (0 to 1, exclusive) of `values` independent ones, by the binomial distribution,
/// beyond 100,000 by its normal approximation. Nothing where the sample is too small to have them.
std::optional<QuantileRanks> quantile_ranks_95(std::size_t values, double quantile);

/// The smallest independent sample that supports an interval of `quantile`.
std::size_t fewest_values_for(double quantile);

} // namespace replisim
