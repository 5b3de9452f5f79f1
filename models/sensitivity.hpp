// How much each input of a function decides its value: designs and estimators of screening (Morris) and of
// variance-based indices (Sobol). Inputs live in the unit cube; who asks maps them to quantities.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

namespace replisim {

using UnitPoint = std::vector<double>;

/// One walk of a Morris design: inputs + 1 points, of which each differs from the one before it in one input.
struct MorrisWalk {
  std::vector<UnitPoint> points;
  std::vector<std::size_t> moved; ///< by step: the input that changes from points[i] to points[i + 1]
};

/// Walk number `index` of a design with four levels (0, 1/3, 2/3, 1), steps of 2/3 and the inputs in random
/// order (Morris, 1991). The same seed and number give the same walk.
MorrisWalk morris_walk(std::size_t inputs, std::uint64_t seed, std::uint64_t index);

/// Elementary effects of one input: change of the value over change of the input.
struct MorrisEffects {
  double mean = 0;          ///< mu
  double mean_absolute = 0; ///< mu*: how much it matters
  double deviation = 0;     ///< sigma: how much that depends on where one stands
};

/// `values[w][i]` is the function at points[i] of walk w.
std::vector<MorrisEffects> morris_effects(const std::vector<MorrisWalk>& walks,
                                          const std::vector<std::vector<double>>& values);

/// Shares of the variance of a function's value.
struct SobolIndex {
  double first = 0; ///< by the input alone
  double total = 0; ///< with all its interactions
};

/// From two independent samples of inputs A and B and their values, and for each input the values at A with
/// that input's column from B: first-order indices by Saltelli et al. (2010), total ones by Jansen (1999). A
/// function that does not vary has all indices 0. Requires samples of equal size, at least 2.
std::vector<SobolIndex> sobol_indices(const std::vector<double>& at_a, const std::vector<double>& at_b,
                                      const std::vector<std::vector<double>>& mixed);

} // namespace replisim
