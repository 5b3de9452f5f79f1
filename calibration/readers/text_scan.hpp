// Taking apart a line from left to right: literals, numbers, quoted names, WAL positions.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace replisim::readers {

class TextScan {
public:
  explicit TextScan(std::string_view text) : rest_(text) {}

  std::string_view rest() const { return rest_; }
  /// Takes `literal` when it stands here.
  bool skip(std::string_view literal);
  /// Takes everything up to and with the next `literal`; takes nothing when there is none.
  bool skip_past(std::string_view literal);
  /// Takes and returns what stands before the next `literal` (which is taken, too); all the rest without one.
  std::string_view until(std::string_view literal);
  /// A name in double quotes, without them; empty when none stands here.
  std::string_view quoted();
  /// Digits, with a sign if any; nothing is taken when there are none or too many.
  std::optional<std::int64_t> whole();
  /// A decimal number.
  std::optional<double> real();
  /// "16/B374D848", in any width.
  std::optional<std::uint64_t> lsn();

private:
  std::string_view rest_;
};

/// Reads "16/B374D848" (all of `text`).
std::optional<std::uint64_t> parse_lsn(std::string_view text);

} // namespace replisim::readers
