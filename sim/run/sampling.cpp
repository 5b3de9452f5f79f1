#include "sim/run/sampling.hpp"

#include "models/base/check.hpp"

#include <array>
#include <vector>

namespace replisim {

namespace {

/// SplitMix64 (Steele, Lea and Flood 2014): a good hash of 64 bits.
std::uint64_t mixed(std::uint64_t x) {
  x += 0x9e3779b97f4a7c15ULL;
  x = (x ^ (x >> 30U)) * 0xbf58476d1ce4e5b9ULL;
  x = (x ^ (x >> 27U)) * 0x94d049bb133111ebULL;
  return x ^ (x >> 31U);
}

std::uint64_t key_of(std::uint64_t seed, std::uint64_t purpose, std::uint64_t a) {
  return mixed(mixed(mixed(seed) ^ purpose) ^ a);
}

/// In [0, 1), with so few bits that adding a slice's number below 2^30 is exact.
double unit_of(std::uint64_t bits) { return static_cast<double>(bits >> 42U) * 0x1p-22; }

/// A permutation of 0 to n-1: a Feistel network over the next even number of bits, applied again until the
/// result is below n.
std::uint64_t permuted(std::uint64_t value, std::uint64_t n, std::uint64_t key) {
  unsigned half = 1;
  while ((std::uint64_t{1} << (2 * half)) < n)
    ++half;
  const std::uint64_t mask = (std::uint64_t{1} << half) - 1;
  do {
    std::uint64_t left = value >> half;
    std::uint64_t right = value & mask;
    for (std::uint64_t round = 0; round < 6; ++round) {
      const std::uint64_t next = left ^ (key_of(key, round, right) & mask);
      left = right;
      right = next;
    }
    value = (left << half) | right;
  } while (value >= n);
  return value;
}

/// One dimension's primitive polynomial (degree, inner coefficients) and initial direction numbers.
struct Direction {
  unsigned degree;
  unsigned coefficients;
  std::vector<unsigned> initial;
};

/// Dimensions 2 to 21 of the table new-joe-kuo-6; the first is the van der Corput sequence.
const std::vector<Direction>& directions() {
  static const std::vector<Direction> table = {
      {1, 0, {1}},
      {2, 1, {1, 3}},
      {3, 1, {1, 3, 1}},
      {3, 2, {1, 1, 1}},
      {4, 1, {1, 1, 3, 3}},
      {4, 4, {1, 3, 5, 13}},
      {5, 2, {1, 1, 5, 5, 17}},
      {5, 4, {1, 1, 5, 5, 5}},
      {5, 7, {1, 1, 7, 11, 19}},
      {5, 11, {1, 1, 5, 1, 1}},
      {5, 13, {1, 1, 1, 3, 11}},
      {5, 14, {1, 3, 5, 5, 31}},
      {6, 1, {1, 3, 3, 9, 7, 49}},
      {6, 13, {1, 1, 1, 15, 21, 21}},
      {6, 16, {1, 3, 1, 13, 27, 49}},
      {6, 19, {1, 1, 1, 15, 7, 5}},
      {6, 22, {1, 3, 1, 15, 13, 25}},
      {6, 25, {1, 1, 5, 5, 19, 61}},
      {7, 1, {1, 3, 7, 11, 23, 15, 103}},
      {7, 4, {1, 3, 7, 13, 13, 15, 69}},
  };
  return table;
}

constexpr unsigned sobol_bits = 32;

/// The direction numbers of a dimension, each as a binary fraction of 32 bits.
std::array<std::uint32_t, sobol_bits> direction_numbers(std::size_t dimension) {
  std::array<std::uint32_t, sobol_bits> v{};
  if (dimension == 0) {
    for (unsigned i = 0; i < sobol_bits; ++i)
      v.at(i) = std::uint32_t{1} << (sobol_bits - 1 - i);
    return v;
  }
  const Direction& d = directions().at(dimension - 1);
  for (unsigned i = 0; i < sobol_bits; ++i) {
    if (i < d.degree) {
      v.at(i) = static_cast<std::uint32_t>(d.initial[i]) << (sobol_bits - 1 - i);
      continue;
    }
    v.at(i) = v.at(i - d.degree) ^ (v.at(i - d.degree) >> d.degree);
    for (unsigned k = 1; k < d.degree; ++k)
      if (((d.coefficients >> (d.degree - 1 - k)) & 1U) != 0)
        v.at(i) ^= v.at(i - k);
  }
  return v;
}

double sobol(std::uint64_t seed, std::uint64_t index, std::size_t dimension) {
  REPLISIM_REQUIRE(dimension < sobol_dimensions_max, "no direction numbers for dimension {}", dimension);
  const auto v = direction_numbers(dimension);
  auto bits = static_cast<std::uint32_t>(key_of(seed, 2, dimension) >> 32U);
  for (unsigned i = 0; i < sobol_bits and (index >> i) != 0; ++i)
    if (((index >> i) & 1U) != 0)
      bits ^= v.at(i);
  return bits * 0x1p-32;
}

} // namespace

double sample_coordinate(const SamplePlan& plan, std::uint64_t index, std::size_t dimension) {
  if (plan.method == SampleMethod::Sobol)
    return sobol(plan.seed, index, dimension);
  const std::uint64_t slice = permuted(index, plan.points, key_of(plan.seed, 0, dimension));
  const double within = unit_of(key_of(key_of(plan.seed, 1, dimension), 3, index));
  return (static_cast<double>(slice) + within) / static_cast<double>(plan.points);
}

} // namespace replisim
