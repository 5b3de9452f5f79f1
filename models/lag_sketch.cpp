#include "models/lag_sketch.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>

namespace replisim {

namespace {
constexpr double smallest_s = 1e-6;
constexpr double accuracy = 0.01;
const double log_gamma = std::log((1 + accuracy) / (1 - accuracy));
constexpr std::int64_t spread_parts = 16; ///< a spread of delays is split into at most this many

std::size_t computed_bucket(double seconds) {
  return static_cast<std::size_t>(std::ceil(std::log(seconds / smallest_s) / log_gamma));
}

/// Buckets without logarithms: a part of an octave, told by the first bits of a number, reaches into two
/// buckets at most, and a comparison with the bound between them decides.
class Buckets {
public:
  Buckets() {
    for (std::size_t bucket = 0; bounds_.empty() or bounds_.back() < part_begins(parts); ++bucket)
      bounds_.push_back(smallest_s * std::exp(log_gamma * static_cast<double>(bucket)));
    std::uint16_t bucket = 0;
    for (std::size_t part = 0; part < parts; ++part) {
      while (bounds_[bucket] < part_begins(part))
        ++bucket;
      first_.at(part) = bucket;
    }
  }
  std::size_t of(double seconds) const {
    const std::size_t part = (std::bit_cast<std::uint64_t>(seconds) >> dropped_bits) - lowest;
    if (part >= parts)
      return computed_bucket(seconds);
    std::size_t bucket = first_[part];
    while (bounds_[bucket] < seconds)
      ++bucket;
    return bucket;
  }

private:
  static constexpr int dropped_bits = 52 - 7;    ///< 128 parts an octave: each is less than a bucket wide
  static constexpr std::size_t parts = 128 * 40; ///< from half a microsecond to six days
  static constexpr std::uint64_t lowest = std::bit_cast<std::uint64_t>(0x1p-21) >> dropped_bits;
  static double part_begins(std::size_t part) {
    return std::bit_cast<double>((lowest + part) << dropped_bits);
  }
  std::vector<double> bounds_;
  std::array<std::uint16_t, parts> first_{};
};
} // namespace

std::size_t LagSketch::bucket_of(double seconds) {
  static const Buckets buckets;
  return seconds <= smallest_s ? 0 : buckets.of(seconds);
}

void LagSketch::add(double seconds, double weight) {
  const std::size_t bucket = bucket_of(seconds);
  if (bucket >= weights_.size())
    weights_.resize(bucket + 1, 0.0);
  weights_[bucket] += weight;
  count_ += weight;
  sum_ += weight * seconds;
  maximum_ = std::max(maximum_, seconds);
}

void LagSketch::add(const LagSketch& other) {
  weights_.resize(std::max(weights_.size(), other.weights_.size()), 0.0);
  for (std::size_t i = 0; i < other.weights_.size(); ++i)
    weights_[i] += other.weights_[i];
  count_ += other.count_;
  sum_ += other.sum_;
  maximum_ = std::max(maximum_, other.maximum_);
}

void LagSketch::add_spread(double first_s, double last_s, std::int64_t count) {
  if (count <= 0)
    return;
  if (first_s == last_s) {
    add(first_s, static_cast<double>(count));
    return;
  }
  if (bucket_of(first_s) == bucket_of(last_s)) {
    add((first_s + last_s) / 2, static_cast<double>(count));
    maximum_ = std::max({maximum_, first_s, last_s});
    return;
  }
  const std::int64_t parts = std::min(count, spread_parts);
  for (std::int64_t i = 0; i < parts; ++i) {
    const double at = (static_cast<double>(i) + 0.5) / static_cast<double>(parts);
    add(first_s + at * (last_s - first_s), static_cast<double>(count) / static_cast<double>(parts));
  }
  maximum_ = std::max({maximum_, first_s, last_s});
}

void LagSketch::merge(const LagSketch& other) {
  weights_.resize(std::max(weights_.size(), other.weights_.size()), 0.0);
  for (std::size_t i = 0; i < other.weights_.size(); ++i)
    weights_[i] += other.weights_[i];
  count_ += other.count_;
  sum_ += other.sum_;
  maximum_ = std::max(maximum_, other.maximum_);
}

double LagSketch::quantile(double q) const {
  double rest = q * count_;
  for (std::size_t i = 0; i < weights_.size(); ++i) {
    rest -= weights_[i];
    if (rest <= 1e-9 * count_ and weights_[i] > 0) // the middle of the bucket, in relative terms
      return std::min(maximum_, smallest_s * 2 * std::exp(log_gamma * static_cast<double>(i)) /
                                    (1 + std::exp(log_gamma)));
  }
  return maximum_;
}

} // namespace replisim
