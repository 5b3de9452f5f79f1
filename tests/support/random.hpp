// Random numbers for tests: counter-based (splitmix64), the same on every machine and library.
#pragma once

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace replisim::test {

class Random {
public:
  /// Two generators with the same seed and stream give the same numbers; streams of one seed are independent.
  explicit Random(std::uint64_t seed, std::uint64_t stream = 0)
      : state_(mixed(seed + golden * (2 * stream + 1))) {}

  std::uint64_t bits() {
    state_ += golden;
    return mixed(state_);
  }
  /// Uniform in (0, 1), both ends excluded.
  double uniform() { return (static_cast<double>(bits() >> 11) + 0.5) * 0x1p-53; }
  /// Exponential with the given mean.
  double exponential(double mean) { return -mean * std::log(uniform()); }
  /// Uniform whole number from low to high, both included.
  std::int64_t between(std::int64_t low, std::int64_t high) {
    const auto width = static_cast<std::uint64_t>(high - low + 1);
    return low + static_cast<std::int64_t>(bits() % width);
  }
  bool chance(double probability) { return uniform() < probability; }
  template <class Value>
  const Value& pick(const std::vector<Value>& values) {
    return values[static_cast<std::size_t>(between(0, static_cast<std::int64_t>(values.size()) - 1))];
  }

private:
  static constexpr std::uint64_t golden = 0x9e3779b97f4a7c15ULL;
  static std::uint64_t mixed(std::uint64_t z) {
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ULL;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebULL;
    return z ^ (z >> 31);
  }
  std::uint64_t state_;
};

} // namespace replisim::test
