// Random numbers that depend on (seed, stream, index) and nothing else: adding a component moves nobody
// else's draws, and the same index gives the same number in every run.
#pragma once

#include <cstdint>
#include <string_view>

namespace replisim {

class RandomStream {
public:
  RandomStream(std::uint64_t seed, std::string_view name);
  /// Uniform in [0, 1), the `index`-th of the stream.
  double uniform(std::uint64_t index) const { return static_cast<double>(bits(index) >> 11) * 0x1.0p-53; }
  /// Poisson with the given mean: by inversion up to a mean of 40, above it the normal approximation
  /// (rounded, not below 0), whose relative error in any probability is then below 2 %.
  std::int64_t poisson(std::uint64_t index, double mean) const;

private:
  /// splitmix64's finalizer (Steele, Lea, Flood 2014).
  static std::uint64_t mixed(std::uint64_t x) {
    x += 0x9e3779b97f4a7c15ULL;
    x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9ULL;
    x = (x ^ (x >> 27)) * 0x94d049bb133111ebULL;
    return x ^ (x >> 31);
  }
  std::uint64_t bits(std::uint64_t index) const { return mixed(key_ ^ mixed(index)); }
  std::uint64_t key_;
};

} // namespace replisim
