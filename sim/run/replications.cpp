#include "sim/run/replications.hpp"

#include "models/base/check.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <utility>

namespace replisim {

double student_t_975(int degrees_of_freedom) {
  REPLISIM_REQUIRE(degrees_of_freedom >= 1, "an interval needs two values or more");
  constexpr std::array exact{12.706204736174698, 4.302652729749464, 3.182446305283710, 2.776445105197793};
  if (degrees_of_freedom <= static_cast<int>(exact.size()))
    return exact.at(static_cast<std::size_t>(degrees_of_freedom) - 1);
  const double v = degrees_of_freedom;
  const double x = 1.959963984540054; // the normal distribution's quantile
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
  if (*low == *high)
    return {*low, 0};
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

std::uint64_t replication_seed(std::uint64_t base, int replication) {
  return base + static_cast<std::uint64_t>(replication) - 1;
}

Replications summarise_replications(std::vector<RunResult> runs) {
  REPLISIM_REQUIRE(not runs.empty(), "no replication finished");
  Replications out;
  std::map<std::string, std::vector<double>> values;
  for (const auto& run : runs) {
    out.deterministic = out.deterministic and run.metrics == runs.front().metrics;
    for (const auto& [name, value] : run.metrics)
      values[name].push_back(value);
  }
  for (const auto& [name, list] : values)
    out.metrics[name] = interval_95(list);
  out.runs = std::move(runs);
  return out;
}

} // namespace replisim
