#include "models/paired.hpp"

#include "models/base/check.hpp"
#include "models/base/random.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

namespace replisim {

namespace {

/// The continued fraction of the incomplete beta function, by Lentz's method.
double beta_fraction(double a, double b, double x) {
  constexpr double tiny = 1e-300;
  constexpr double enough = 1e-14;
  const auto kept_away = [](double value) { return std::abs(value) < tiny ? tiny : value; };
  double c = 1;
  double d = 1 / kept_away(1 - (a + b) * x / (a + 1));
  double h = d;
  for (int i = 1; i <= 500; ++i) {
    const double m = i;
    const double even = m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m));
    const double odd = -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1));
    for (const double term : {even, odd}) {
      d = 1 / kept_away(1 + term * d);
      c = kept_away(1 + term / c);
      h *= d * c;
    }
    if (std::abs(d * c - 1) < enough)
      break;
  }
  return h;
}

/// Regularised incomplete beta function.
double incomplete_beta(double a, double b, double x) {
  if (x <= 0 or x >= 1)
    return x <= 0 ? 0 : 1;
  const double front =
      std::exp(std::lgamma(a + b) - std::lgamma(a) - std::lgamma(b) + a * std::log(x) + b * std::log1p(-x));
  return x < (a + 1) / (a + b + 2) ? front * beta_fraction(a, b, x) / a
                                   : 1 - front * beta_fraction(b, a, 1 - x) / b;
}

double variance(const std::vector<double>& values) {
  const auto n = static_cast<double>(values.size());
  const double mean = std::accumulate(values.begin(), values.end(), 0.0) / n;
  double squares = 0;
  for (const double value : values)
    squares += (value - mean) * (value - mean);
  return squares / (n - 1);
}

constexpr std::size_t fewest_resampled = 8; ///< values; of fewer, resamples are too often all alike
constexpr std::size_t most_resampled = 100; ///< of more, the mean is near enough to normal
constexpr std::size_t resamples = 1999;

/// The 95 % quantile of |t| over samples drawn with replacement from the values themselves (the symmetric
/// bootstrap-t of Hall, 1988): what takes the place of Student's quantile where values are skewed. The draws
/// are always the same ones.
double resampled_t_95(const std::vector<double>& values, double mean) {
  const std::size_t n = values.size();
  const RandomStream stream(1, "resampled t");
  std::vector<double> drawn(n), found;
  found.reserve(resamples);
  std::uint64_t index = 0;
  for (std::size_t r = 0; r < resamples; ++r) {
    for (double& value : drawn)
      value =
          values[std::min(n - 1, static_cast<std::size_t>(stream.uniform(index++) * static_cast<double>(n)))];
    const double deviation = std::sqrt(variance(drawn) / static_cast<double>(n));
    const double off =
        std::abs(std::accumulate(drawn.begin(), drawn.end(), 0.0) / static_cast<double>(n) - mean);
    found.push_back(deviation > 0 ? off / deviation : std::numeric_limits<double>::infinity());
  }
  const auto at = found.begin() + static_cast<std::ptrdiff_t>((resamples + 1) * 95 / 100 - 1);
  std::nth_element(found.begin(), at, found.end());
  return *at;
}

/// Student's interval, or the wider one of resampling where that is so.
Interval interval_of_skewed_95(const std::vector<double>& values) {
  Interval out = interval_95(values);
  if (values.size() < fewest_resampled or values.size() > most_resampled or out.half_width == 0)
    return out;
  const double t = resampled_t_95(values, out.mean);
  if (std::isfinite(t))
    out.half_width =
        std::max(out.half_width, t * std::sqrt(variance(values) / static_cast<double>(values.size())));
  return out;
}

} // namespace

double student_t_two_sided(double t, int degrees_of_freedom) {
  REPLISIM_REQUIRE(degrees_of_freedom >= 1, "{} degrees of freedom", degrees_of_freedom);
  const double n = degrees_of_freedom;
  return std::isinf(t) ? 0 : incomplete_beta(n / 2, 0.5, n / (n + t * t));
}

PairedDifference paired_difference(const std::vector<double>& first, const std::vector<double>& second) {
  REPLISIM_REQUIRE(first.size() == second.size() and first.size() >= 2, "{} and {} paired values",
                   first.size(), second.size());
  std::vector<double> differences;
  for (std::size_t i = 0; i < first.size(); ++i)
    differences.push_back(second[i] - first[i]);
  PairedDifference out;
  out.first = interval_95(first).mean;
  out.second = interval_95(second).mean;
  out.difference = interval_of_skewed_95(differences);
  const double paired = variance(differences);
  const double apart = variance(first) + variance(second);
  out.variance_factor = paired > 0 ? apart / paired : apart > 0 ? 0 : 1;
  if (out.difference.half_width == 0) {
    out.p = out.difference.mean == 0 ? 1 : 0;
    return out;
  }
  const auto n = static_cast<double>(first.size());
  out.p =
      student_t_two_sided(out.difference.mean / std::sqrt(paired / n), static_cast<int>(first.size()) - 1);
  return out;
}

std::vector<bool> rejected_by_holm(const std::vector<double>& p, double alpha) {
  std::vector<std::size_t> order(p.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) { return p[a] < p[b]; });
  std::vector<bool> out(p.size(), false);
  for (std::size_t i = 0; i < order.size(); ++i) {
    if (p[order[i]] > alpha / static_cast<double>(order.size() - i))
      break;
    out[order[i]] = true;
  }
  return out;
}

} // namespace replisim
