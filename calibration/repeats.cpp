// Arithmetic on repeated measurements.
#include "calibration/repeats.hpp"

#include "models/base/check.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace replisim {

double median(std::vector<double> values) {
  REPLISIM_REQUIRE(!values.empty(), "the median of no values");
  std::sort(values.begin(), values.end());
  const std::size_t middle = values.size() / 2;
  return values.size() % 2 == 1 ? values[middle] : (values[middle - 1] + values[middle]) / 2;
}

double improvement_pct(double before, double after) { return (before - after) / before * 100; }

double error_pct(double measured, double predicted) {
  if (measured == 0)
    return predicted == 0 ? 0 : std::numeric_limits<double>::quiet_NaN();
  return (predicted - measured) / measured * 100;
}

std::vector<double> leave_one_out_errors_pct(const std::vector<double>& repeats) {
  std::vector<double> errors;
  if (repeats.size() < 2)
    return errors;
  for (std::size_t left_out = 0; left_out < repeats.size(); ++left_out) {
    if (repeats[left_out] == 0)
      continue;
    std::vector<double> others = repeats;
    others.erase(others.begin() + static_cast<std::ptrdiff_t>(left_out));
    errors.push_back(std::abs(error_pct(repeats[left_out], median(others))));
  }
  return errors;
}

} // namespace replisim
