#include "models/base/random.hpp"

#include <algorithm>
#include <cmath>

namespace replisim {

RandomStream::RandomStream(std::uint64_t seed, std::string_view name) : key_(mixed(seed)) {
  for (const char c : name)
    key_ = mixed(key_ ^ static_cast<unsigned char>(c));
}

std::int64_t RandomStream::poisson(std::uint64_t index, double mean) const {
  if (mean <= 0)
    return 0;
  if (mean > 40) { // Box-Muller on two draws of a sub-stream
    const double radius = std::sqrt(-2 * std::log(1 - uniform(2 * index)));
    const double normal = radius * std::cos(2 * M_PI * uniform(2 * index + 1));
    return std::max<std::int64_t>(0, std::llround(mean + std::sqrt(mean) * normal));
  }
  double rest = uniform(index);
  double probability = std::exp(-mean);
  std::int64_t k = 0;
  while (rest >= probability and k < 1000) {
    rest -= probability;
    probability *= mean / static_cast<double>(++k);
  }
  return k;
}

} // namespace replisim
