// Points of a unit cube, by number: Latin hypercube and Sobol designs of any size in constant memory.
#pragma once

#include "sim/scenario/scenario.hpp"

#include <cstddef>
#include <cstdint>

namespace replisim {

/// Most dimensions of a Sobol design (those the table of direction numbers covers).
inline constexpr std::size_t sobol_dimensions_max = 21;

/// A coordinate in [0, 1) of sample `index` (0 to plan.points - 1) in `dimension`.
///
/// Latin hypercube: each of the plan.points equal slices of a dimension holds exactly one sample. The order
/// of slices is a permutation by a Feistel network that walks cycles (Black and Rogaway 2002), so that no
/// list of samples needs to exist. Sobol: direction numbers of Joe and Kuo (2008), all dimensions shifted
/// digitally by the seed; each of the 2^k equal slices of a dimension holds one of the first 2^k samples.
/// Requires dimension < sobol_dimensions_max.
double sample_coordinate(const SamplePlan& plan, std::uint64_t index, std::size_t dimension);

} // namespace replisim
