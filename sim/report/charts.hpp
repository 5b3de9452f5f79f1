// Small pictures made of characters.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

namespace replisim {

/// Whether pictures may use block characters; a terminal that does not speak UTF-8 gets ASCII.
enum class Glyphs { Blocks, Ascii };

/// The course of a series in at most `width` columns, each the largest value of its part; 0 is the floor.
/// Empty where the series is.
std::string sparkline(const std::vector<double>& values, std::size_t width, Glyphs glyphs);

/// A bar of `width` columns, filled up to `share` (0 to 1).
std::string share_bar(double share, std::size_t width, Glyphs glyphs);

} // namespace replisim
