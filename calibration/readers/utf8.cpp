#include "calibration/readers/utf8.hpp"

#include <cstdint>
#include <cstring>

namespace replisim::readers {

namespace {

/// How many bytes at the start of `text` are certainly ASCII and not NUL, looked at eight at a time.
std::size_t plain_ascii_length(std::string_view text) {
  constexpr std::uint64_t high_bits = 0x8080808080808080U;
  constexpr std::uint64_t ones = 0x0101010101010101U;
  std::size_t at = 0;
  for (; at + 8 <= text.size(); at += 8) {
    std::uint64_t word = 0;
    std::memcpy(&word, text.data() + at, 8);
    // Where a byte is zero, subtracting one from each borrows into its high bit.
    if (((word | (word - ones)) & high_bits) != 0)
      break;
  }
  return at;
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
  for (std::size_t at = 0; at < text.size();) {
    at += plain_ascii_length(text.substr(at));
    if (at == text.size())
      break;
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
