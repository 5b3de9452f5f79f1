#include "models/statistics.hpp"

#include "models/base/check.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>

namespace replisim {

namespace {

constexpr double normal_975 = 1.959963984540054;
constexpr double normal_90 = 1.2815515655446004;
constexpr std::size_t mser_batch = 5;
constexpr std::size_t fewest_mser_batches = 10;
/// Batches that a test of correlation needs, and into which of them one batch of the interval is made.
constexpr std::size_t fewest_tested = 32;
constexpr std::size_t tested_in_one = 4;
constexpr std::size_t exact_binomial = 100'000;

double mean_of(const std::vector<double>& values) {
  return std::accumulate(values.begin(), values.end(), 0.0) / static_cast<double>(values.size());
}

/// Means of `size` values each, of the last values where they do not divide evenly.
std::vector<double> means_of(const std::vector<double>& values, std::size_t first, std::size_t size) {
  const std::size_t count = (values.size() - first) / size;
  std::vector<double> means(count, 0.0);
  const std::size_t from = values.size() - count * size;
  for (std::size_t i = 0; i < count * size; ++i)
    means[i / size] += values[from + i] / static_cast<double>(size);
  return means;
}

/// P(X <= k) of the binomial distribution.
double binomial_cdf(std::size_t k, std::size_t n, double p) {
  const double size = static_cast<double>(n);
  const double deviation = std::sqrt(size * p * (1 - p));
  const double lowest = std::max(0.0, std::floor(size * p - 12 * deviation - 12));
  double sum = 0;
  for (std::size_t i = static_cast<std::size_t>(lowest); i <= std::min(k, n); ++i) {
    const double x = static_cast<double>(i);
    sum += std::exp(std::lgamma(size + 1) - std::lgamma(x + 1) - std::lgamma(size - x + 1) + x * std::log(p) +
                    (size - x) * std::log1p(-p));
  }
  return sum;
}

} // namespace

double student_t_975(int degrees_of_freedom) {
  REPLISIM_REQUIRE(degrees_of_freedom >= 1, "an interval needs two values or more");
  constexpr std::array exact{12.706204736174698, 4.302652729749464, 3.182446305283710, 2.776445105197793};
  if (degrees_of_freedom <= static_cast<int>(exact.size()))
    return exact.at(static_cast<std::size_t>(degrees_of_freedom) - 1);
  const double v = degrees_of_freedom;
  const double x = normal_975;
  const double x2 = x * x;
  const double g1 = x * (x2 + 1) / 4;
  const double g2 = x * (5 * x2 * x2 + 16 * x2 + 3) / 96;
  const double g3 = x * (3 * x2 * x2 * x2 + 19 * x2 * x2 + 17 * x2 - 15) / 384;
  const double g4 =
      x * (79 * x2 * x2 * x2 * x2 + 776 * x2 * x2 * x2 + 1482 * x2 * x2 - 1920 * x2 - 945) / 92160;
  return x + g1 / v + g2 / (v * v) + g3 / (v * v * v) + g4 / (v * v * v * v);
}

Interval interval_95(const std::vector<double>& values) {
  REPLISIM_REQUIRE(not values.empty(), "there is no mean of nothing");
  const auto [low, high] = std::minmax_element(values.begin(), values.end());
  if (values.size() == 1 or *low == *high) // a single one may be no number
    return {values.front(), 0};
  const double n = static_cast<double>(values.size());
  double sum = 0;
  for (const double value : values)
    sum += value;
  const double mean = sum / n;
  double squares = 0;
  for (const double value : values)
    squares += (value - mean) * (value - mean);
  const double deviation = std::sqrt(squares / (n - 1));
  return {mean, student_t_975(static_cast<int>(values.size()) - 1) * deviation / std::sqrt(n)};
}

WarmUp warm_up_mser5(const std::vector<double>& values) {
  if (values.size() < mser_batch * fewest_mser_batches)
    return {0, fmt::format("{} values are too few to see where a warm-up ends; {} are needed", values.size(),
                           mser_batch * fewest_mser_batches)};
  const std::vector<double> means = means_of(values, 0, mser_batch);
  // From the back: mean and squared deviations of what remains behind each place (Welford).
  const std::size_t last = means.size() / 2;
  double mean = 0, squares = 0, count = 0, best = 0;
  std::size_t cut = last;
  for (std::size_t i = means.size(); i-- > 0;) {
    ++count;
    const double step = means[i] - mean;
    mean += step / count;
    squares += step * (means[i] - mean);
    const double error = squares / (count * count);
    if (i == last or (i < last and error <= best)) {
      best = error;
      cut = i;
    }
  }
  const std::size_t skipped = values.size() - means.size() * mser_batch;
  if (cut == last)
    return {values.size() / 2, "it is still changing in the second half of the run: there is no steady state "
                               "to estimate, or the run is too short to reach it"};
  return {cut == 0 ? 0 : cut * mser_batch + skipped, ""};
}

double von_neumann_ratio(const std::vector<double>& values) {
  REPLISIM_REQUIRE(values.size() >= 2, "a ratio of neighbours needs two of them");
  const double mean = mean_of(values);
  double differences = 0, squares = 0;
  for (std::size_t i = 0; i < values.size(); ++i) {
    squares += (values[i] - mean) * (values[i] - mean);
    if (i > 0)
      differences += (values[i] - values[i - 1]) * (values[i] - values[i - 1]);
  }
  return squares > 0 ? differences / squares : 2;
}

bool looks_independent(double ratio, std::size_t values) {
  const double n = static_cast<double>(values);
  return ratio >= 2 - normal_90 * 2 * std::sqrt((n - 2) / (n * n - 1));
}

BatchMeans batch_means(const std::vector<double>& values, std::size_t first) {
  REPLISIM_REQUIRE(first < values.size(), "nothing is left behind the warm-up");
  const std::size_t count = values.size() - first;
  BatchMeans out;
  out.interval.mean = mean_of(means_of(values, first, 1));
  for (std::size_t size = 1; count / size >= fewest_tested; size *= 2) {
    const std::vector<double> tested = means_of(values, first, size);
    out.ratio = von_neumann_ratio(tested);
    if (not looks_independent(out.ratio, tested.size()))
      continue;
    out.values = size * tested_in_one;
    const std::vector<double> means = means_of(values, first, out.values);
    out.batches = means.size();
    out.interval.half_width = interval_95(means).half_width;
    return out;
  }
  out.refused =
      count < fewest_tested
          ? fmt::format("{} values are too few; {} are needed", count, fewest_tested)
          : fmt::format("its values depend on each other over more than a {}th of the run: a longer "
                        "run is needed",
                        fewest_tested);
  return out;
}

std::optional<QuantileRanks> quantile_ranks_95(std::size_t values, double quantile) {
  REPLISIM_REQUIRE(quantile > 0 and quantile < 1, "quantile {}", quantile);
  if (values < fewest_values_for(quantile))
    return std::nullopt;
  const double n = static_cast<double>(values);
  const double middle = n * quantile, spread = normal_975 * std::sqrt(n * quantile * (1 - quantile));
  QuantileRanks ranks{static_cast<std::size_t>(std::max(1.0, std::floor(middle - spread))),
                      static_cast<std::size_t>(std::min(n, std::ceil(middle + spread) + 1))};
  if (values > exact_binomial)
    return ranks;
  while (ranks.low > 1 and binomial_cdf(ranks.low - 1, values, quantile) > 0.025)
    --ranks.low;
  while (binomial_cdf(ranks.low, values, quantile) <= 0.025)
    ++ranks.low;
  while (ranks.high < values and binomial_cdf(ranks.high - 1, values, quantile) < 0.975)
    ++ranks.high;
  while (ranks.high > 1 and binomial_cdf(ranks.high - 2, values, quantile) >= 0.975)
    --ranks.high;
  return ranks;
}

std::size_t fewest_values_for(double quantile) {
  REPLISIM_REQUIRE(quantile > 0 and quantile < 1, "quantile {}", quantile);
  const double rarer = std::max(quantile, 1 - quantile);
  return static_cast<std::size_t>(std::ceil(std::log(0.025) / std::log(rarer)));
}

} // namespace replisim
