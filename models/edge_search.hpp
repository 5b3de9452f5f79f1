// Where along a quantity something stops holding: a look over the whole range, then bisection. Whether there
// is one edge or several is seen, not assumed; each look may also end in "cannot be told".
#pragma once

#include <functional>
#include <optional>
#include <utility>
#include <vector>

namespace replisim {

enum class Keeps { Yes, No, Unknown };

struct EdgeQuestion {
  double low = 0, high = 1;
  bool log = false;        ///< the first look in equal ratios, and geometric means of bisection
  double quantum = 0;      ///< values are multiples of it; 0: any value
  double tolerance = 0.01; ///< of the value
  int grid = 9;            ///< values of the first look, at least 2
  bool largest = true;     ///< small values are the easy ones; else large ones
};

struct EdgeLook {
  double value = 0;
  Keeps keeps = Keeps::Unknown;
};

struct EdgeAnswer {
  std::vector<EdgeLook> looks; ///< in order of value
  std::optional<double> keeps; ///< the last value that keeps, from the first that does; nothing: none does
  std::optional<double>
      breaks; ///< the nearest one beyond that surely does not; nothing: the range ends before
  std::vector<std::pair<double, double>> elsewhere; ///< further stretches of the first look that keep
  bool easy_end_breaks = false;                     ///< although others keep
};

/// `look` judges several values at once; it is called with each value once.
EdgeAnswer find_edge(const EdgeQuestion& question,
                     const std::function<std::vector<Keeps>(const std::vector<double>&)>& look);

} // namespace replisim
