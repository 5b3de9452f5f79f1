// Differences of two samples taken with common random numbers, and how far to believe many of them at once.
#pragma once

#include "models/statistics.hpp"

#include <vector>

namespace replisim {

/// Two-sided probability of |T| >= |t| for Student's t with `degrees_of_freedom` >= 1, by the continued
/// fraction of the incomplete beta function (Press et al., Numerical Recipes, 6.4).
double student_t_two_sided(double t, int degrees_of_freedom);

/// A difference, second less first, of values that belong together one by one.
struct PairedDifference {
  double first = 0, second = 0; ///< means
  Interval difference; ///< of 8 to 100 values wider where they are skewed (symmetric bootstrap-t; Hall, 1988)
  double p = 1; ///< of a difference at least so far from 0 where there is none; exact differences: 0 or 1
  /// Variance of the difference had the samples been independent, over that of the paired one: what pairing
  /// saves in replications. 0: the paired one is 0, the samples move together exactly.
  double variance_factor = 1;
};

/// Requires two samples of equal size, at least 2.
PairedDifference paired_difference(const std::vector<double>& first, const std::vector<double>& second);

/// Which of many hypotheses may be rejected with an error probability of `alpha` for all of them together
/// (Holm, 1979).
std::vector<bool> rejected_by_holm(const std::vector<double>& p, double alpha);

} // namespace replisim
