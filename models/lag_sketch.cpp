#include "models/lag_sketch.hpp"

#include <algorithm>
#include <cmath>

namespace replisim {

namespace {
constexpr double smallest_s = 1e-6;
constexpr double accuracy = 0.01;
const double log_gamma = std::log((1 + accuracy) / (1 - accuracy));
constexpr std::int64_t spread_parts = 16; ///< a spread of delays is split into at most this many
} // namespace

std::size_t LagSketch::bucket_of(double seconds) {
  return seconds <= smallest_s
             ? 0
             : static_cast<std::size_t>(std::ceil(std::log(seconds / smallest_s) / log_gamma));
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
