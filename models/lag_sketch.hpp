// A sketch of many delays: quantiles within 1 %, from 1 microsecond to 31 years, in constant memory.
#pragma once

#include <cstdint>
#include <vector>

namespace replisim {

/// Log-scaled histogram (DDSketch's mapping, Masson et al. 2019, with relative accuracy 1 %).
class LagSketch {
public:
  /// `count` delays spread evenly from `first_s` to `last_s` (either may be the larger one).
  void add_spread(double first_s, double last_s, std::int64_t count);
  void add(double seconds, double weight);
  void add(const LagSketch& other);

  /// Adds all that `other` holds.
  void merge(const LagSketch& other);

  double count() const { return count_; }
  double mean() const { return count_ > 0 ? sum_ / count_ : 0; }
  double maximum() const { return maximum_; }
  /// Quantile in [0, 1]; 0 when nothing was added.
  double quantile(double q) const;

private:
  static std::size_t bucket_of(double seconds);
  std::vector<double> weights_;
  double count_ = 0;
  double sum_ = 0;
  double maximum_ = 0;
};

} // namespace replisim
