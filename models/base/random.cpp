#include "models/base/random.hpp"

#include <algorithm>
#include <cmath>

namespace replisim {

namespace {
/// splitmix64's finalizer (Steele, Lea, Flood 2014).
std::uint64_t mixed(std::uint64_t x) {
  x += 0x9e3779b97f4a7c15ULL;
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9ULL;
  x = (x ^ (x >> 27)) * 0x94d049bb133111ebULL;
  return x ^ (x >> 31);
}
} // namespace

RandomStream::RandomStream(std::uint64_t seed, std::string_view name) : key_(mixed(seed)) {
  for (const char c : name)
    key_ = mixed(key_ ^ static_cast<unsigned char>(c));
}

std::uint64_t RandomStream::bits(std::uint64_t index) const { return mixed(key_ ^ mixed(index)); }

double RandomStream::uniform(std::uint64_t index) const {
  return static_cast<double>(bits(index) >> 11) * 0x1.0p-53;
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
