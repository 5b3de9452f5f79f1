// How long the rest of a series of jobs will take, told from those that have ended.
#pragma once

#include <cstdint>
#include <deque>
#include <optional>
#include <string>

namespace replisim {

/// Extrapolates the pace of the last while: the last quarter of the time so far, at least 10 s. Where jobs
/// get slower towards the end it follows, instead of promising the average of the beginning.
class TimeLeft {
public:
  /// `done` of `total` have ended `elapsed_s` after the start. Where `done` falls, another series has begun.
  void update(double elapsed_s, std::uint64_t done, std::uint64_t total);
  /// Seconds; nothing before 3 jobs and 2 s, when nobody could know.
  std::optional<double> seconds() const;

private:
  struct Sample {
    double elapsed_s;
    std::uint64_t done;
  };
  std::deque<Sample> samples_; ///< at most one a second, of the last while, and the newest
  Sample now_{0, 0};
  std::uint64_t total_ = 0;
};

/// "[######....] 1234/5000 25% about 3 min left", without the last part while nothing is known.
std::string progress_line(const std::string& label, std::uint64_t done, std::uint64_t total,
                          std::optional<double> left_s);

} // namespace replisim
