#include "models/sensitivity.hpp"

#include "models/base/check.hpp"
#include "models/base/random.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>

namespace replisim {

MorrisWalk morris_walk(std::size_t inputs, std::uint64_t seed, std::uint64_t index) {
  constexpr double step = 2.0 / 3; // levels / (2 (levels - 1)) for four levels
  const RandomStream random(seed, fmt::format("morris.{}", index));
  std::uint64_t drawn = 0;
  UnitPoint at(inputs);
  for (double& x : at)
    x = std::floor(random.uniform(drawn++) * 4) / 3;
  MorrisWalk walk;
  walk.moved.resize(inputs);
  std::iota(walk.moved.begin(), walk.moved.end(), std::size_t{0});
  for (std::size_t i = inputs; i-- > 1;) {
    const auto other = static_cast<std::size_t>(random.uniform(drawn++) * static_cast<double>(i + 1));
    std::swap(walk.moved[i], walk.moved[other]);
  }
  walk.points.push_back(at);
  for (const std::size_t input : walk.moved) {
    at[input] += at[input] < 0.5 ? step : -step;
    at[input] = std::clamp(at[input], 0.0, 1.0);
    walk.points.push_back(at);
  }
  return walk;
}

std::vector<MorrisEffects> morris_effects(const std::vector<MorrisWalk>& walks,
                                          const std::vector<std::vector<double>>& values) {
  REPLISIM_REQUIRE(not walks.empty() and walks.size() == values.size(), "{} walks, {} lists of values",
                   walks.size(), values.size());
  const std::size_t inputs = walks.front().moved.size();
  std::vector<std::vector<double>> effects(inputs);
  for (std::size_t w = 0; w < walks.size(); ++w)
    for (std::size_t i = 0; i < inputs; ++i) {
      const std::size_t input = walks[w].moved[i];
      const double moved = walks[w].points[i + 1][input] - walks[w].points[i][input];
      effects[input].push_back((values[w][i + 1] - values[w][i]) / moved);
    }
  std::vector<MorrisEffects> out(inputs);
  for (std::size_t i = 0; i < inputs; ++i) {
    const auto n = static_cast<double>(effects[i].size());
    for (const double effect : effects[i]) {
      out[i].mean += effect / n;
      out[i].mean_absolute += std::abs(effect) / n;
    }
    double squares = 0;
    for (const double effect : effects[i])
      squares += (effect - out[i].mean) * (effect - out[i].mean);
    out[i].deviation = n > 1 ? std::sqrt(squares / (n - 1)) : 0;
  }
  return out;
}

std::vector<SobolIndex> sobol_indices(const std::vector<double>& at_a, const std::vector<double>& at_b,
                                      const std::vector<std::vector<double>>& mixed) {
  REPLISIM_REQUIRE(at_a.size() == at_b.size() and at_a.size() >= 2, "samples of {} and {} values",
                   at_a.size(), at_b.size());
  const auto n = static_cast<double>(at_a.size());
  double mean = 0;
  for (std::size_t i = 0; i < at_a.size(); ++i)
    mean += (at_a[i] + at_b[i]) / (2 * n);
  double variance = 0;
  for (std::size_t i = 0; i < at_a.size(); ++i)
    variance += ((at_a[i] - mean) * (at_a[i] - mean) + (at_b[i] - mean) * (at_b[i] - mean)) / (2 * n);
  std::vector<SobolIndex> out;
  for (const auto& values : mixed) {
    REPLISIM_REQUIRE(values.size() == at_a.size(), "{} mixed values of {}", values.size(), at_a.size());
    SobolIndex index;
    for (std::size_t i = 0; i < values.size() and variance > 0; ++i) {
      index.first += (at_b[i] - mean) * (values[i] - at_a[i]) / (n * variance);
      index.total += (at_a[i] - values[i]) * (at_a[i] - values[i]) / (2 * n * variance);
    }
    out.push_back(index);
  }
  return out;
}

} // namespace replisim
