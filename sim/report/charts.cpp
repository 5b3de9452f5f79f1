#include "sim/report/charts.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <string_view>

namespace replisim {

namespace {

constexpr std::array<std::string_view, 9> blocks = {" ", "▁", "▂", "▃", "▄", "▅", "▆", "▇", "█"};
constexpr std::array<std::string_view, 9> ascii = {" ", "_", "_", ".", "-", "-", "=", "+", "#"};

} // namespace

std::string sparkline(const std::vector<double>& values, std::size_t width, Glyphs glyphs) {
  if (values.empty() or width == 0)
    return {};
  const double top = *std::max_element(values.begin(), values.end());
  const std::size_t columns = std::min(width, values.size());
  std::string out;
  for (std::size_t i = 0; i < columns; ++i) {
    const auto from = values.begin() + static_cast<std::ptrdiff_t>(i * values.size() / columns);
    const auto to = values.begin() + static_cast<std::ptrdiff_t>((i + 1) * values.size() / columns);
    const double largest = *std::max_element(from, to);
    // Anything above 0 shows.
    const double level = top > 0 and largest > 0 ? std::max(1.0, std::round(8 * largest / top)) : 0;
    out += (glyphs == Glyphs::Blocks ? blocks : ascii)[static_cast<std::size_t>(level)];
  }
  return out;
}

std::string share_bar(double share, std::size_t width, Glyphs glyphs) {
  const double full = std::clamp(share, 0.0, 1.0) * static_cast<double>(width);
  const auto filled = static_cast<std::size_t>(std::round(full));
  std::string out;
  for (std::size_t i = 0; i < width; ++i)
    out += glyphs == Glyphs::Blocks ? (i < filled ? "█" : "░") : (i < filled ? "#" : ".");
  return out;
}

} // namespace replisim
