#include "calibration/readers/utf8.hpp"

#include <cstdint>

namespace replisim::readers {

namespace {

/// Whether all bytes are ASCII and none is NUL; a plain loop that compilers turn into vector code.
bool is_plain_ascii(std::string_view text) {
  unsigned high = 0;
  unsigned zeros = 0;
  for (const char c : text) {
    high |= static_cast<unsigned char>(c);
    zeros += c == '\0' ? 1U : 0U;
  }
  return (high & 0x80U) == 0 and zeros == 0;
}

/// Length of the valid sequence at the start of `text`, 0 when there is none. RFC 3629: no overlong forms, no
/// surrogates, nothing above U+10FFFF.
std::size_t sequence_length(std::string_view text) {
  const auto byte = [&](std::size_t i) -> std::uint32_t {
    return i < text.size() ? static_cast<unsigned char>(text[i]) : 0U;
  };
  const auto continues = [&](std::size_t i) { return (byte(i) & 0xC0U) == 0x80U; };
  const std::uint32_t first = byte(0);
  if (first < 0x80)
    return first == 0 ? 0 : 1;
  if (first >= 0xC2 and first <= 0xDF)
    return continues(1) ? 2 : 0;
  if (first >= 0xE0 and first <= 0xEF) {
    const bool is_overlong = first == 0xE0 and byte(1) < 0xA0;
    const bool is_surrogate = first == 0xED and byte(1) > 0x9F;
    return continues(1) and continues(2) and not is_overlong and not is_surrogate ? 3 : 0;
  }
  if (first >= 0xF0 and first <= 0xF4) {
    const bool is_overlong = first == 0xF0 and byte(1) < 0x90;
    const bool is_too_large = first == 0xF4 and byte(1) > 0x8F;
    return continues(1) and continues(2) and continues(3) and not is_overlong and not is_too_large ? 4 : 0;
  }
  return 0;
}

} // namespace

std::size_t find_unclean_byte(std::string_view text) {
  if (is_plain_ascii(text))
    return std::string_view::npos;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t length = sequence_length(text.substr(at));
    if (length == 0)
      return at;
    at += length;
  }
  return std::string_view::npos;
}

std::string make_clean_utf8(std::string_view text) {
  std::string clean;
  clean.reserve(text.size() + 16);
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t length = sequence_length(text.substr(at));
    if (length > 0)
      clean.append(text.substr(at, length));
    else if (text[at] != '\0')
      clean.append("\xEF\xBF\xBD");
    at += length > 0 ? length : 1;
  }
  return clean;
}

} // namespace replisim::readers
