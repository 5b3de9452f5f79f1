#include "sim/run/time_left.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace replisim {

namespace {

constexpr double shortest_window_s = 10;
constexpr double window_share = 0.25;
constexpr double earliest_s = 2;
constexpr std::uint64_t earliest_done = 3;
constexpr int bar_width = 20;

std::string left_text(double seconds) {
  const auto whole = static_cast<std::int64_t>(std::ceil(seconds));
  if (whole < 90)
    return fmt::format("{} s", whole);
  if (whole < 90 * 60)
    return fmt::format("{} min", (whole + 30) / 60);
  return fmt::format("{} h {:02} min", whole / 3600, whole % 3600 / 60);
}

} // namespace

void TimeLeft::update(double elapsed_s, std::uint64_t done, std::uint64_t total) {
  if (done < now_.done) { // another series
    samples_.clear();
    samples_.push_back({elapsed_s, 0});
  } else if (samples_.empty()) {
    samples_.push_back({0, 0});
  }
  if (elapsed_s - samples_.back().elapsed_s >= 1)
    samples_.push_back({elapsed_s, done});
  now_ = {elapsed_s, done};
  total_ = total;
  const double window_s = std::max(shortest_window_s, elapsed_s * window_share);
  while (samples_.size() > 1 and samples_[1].elapsed_s <= elapsed_s - window_s)
    samples_.pop_front();
}

std::optional<double> TimeLeft::seconds() const {
  if (samples_.empty() or now_.elapsed_s < earliest_s or now_.done < earliest_done)
    return std::nullopt;
  const Sample& first = samples_.front();
  const auto ended = static_cast<double>(now_.done - first.done);
  if (ended <= 0)
    return std::nullopt;
  return (now_.elapsed_s - first.elapsed_s) / ended * static_cast<double>(total_ - now_.done);
}

std::string progress_line(const std::string& label, std::uint64_t done, std::uint64_t total,
                          std::optional<double> left_s) {
  const auto share = total == 0 ? 1.0 : static_cast<double>(done) / static_cast<double>(total);
  const int filled = static_cast<int>(share * bar_width);
  std::string out = fmt::format("{} [{:#<{}}{:.<{}}] {}/{} {:.0f}%", label, "", filled, "",
                                bar_width - filled, done, total, std::floor(share * 100));
  if (left_s)
    out += fmt::format(", about {} left", left_text(*left_s));
  return out;
}

} // namespace replisim
