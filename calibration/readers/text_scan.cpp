#include "calibration/readers/text_scan.hpp"

#include <charconv>
#include <system_error>

namespace replisim::readers {

bool TextScan::skip(std::string_view literal) {
  if (not rest_.starts_with(literal))
    return false;
  rest_.remove_prefix(literal.size());
  return true;
}

bool TextScan::skip_past(std::string_view literal) {
  const std::size_t at = rest_.find(literal);
  if (at == std::string_view::npos)
    return false;
  rest_.remove_prefix(at + literal.size());
  return true;
}

std::string_view TextScan::until(std::string_view literal) {
  const std::size_t at = rest_.find(literal);
  const std::string_view found = rest_.substr(0, at);
  rest_ = at == std::string_view::npos ? std::string_view{} : rest_.substr(at + literal.size());
  return found;
}

std::string_view TextScan::quoted() {
  if (not skip("\""))
    return {};
  return until("\"");
}

std::optional<std::int64_t> TextScan::whole() {
  std::int64_t value = 0;
  const auto [end, error] = std::from_chars(rest_.data(), rest_.data() + rest_.size(), value);
  if (error != std::errc())
    return {};
  rest_.remove_prefix(static_cast<std::size_t>(end - rest_.data()));
  return value;
}

std::optional<double> TextScan::real() {
  double value = 0;
  const auto [end, error] = std::from_chars(rest_.data(), rest_.data() + rest_.size(), value);
  if (error != std::errc())
    return {};
  rest_.remove_prefix(static_cast<std::size_t>(end - rest_.data()));
  return value;
}

std::optional<std::uint64_t> TextScan::lsn() {
  const char* end = rest_.data() + rest_.size();
  std::uint32_t high = 0;
  std::uint32_t low = 0;
  const auto first = std::from_chars(rest_.data(), end, high, 16);
  if (first.ec != std::errc() or first.ptr == end or *first.ptr != '/')
    return {};
  const auto second = std::from_chars(first.ptr + 1, end, low, 16);
  if (second.ec != std::errc())
    return {};
  rest_.remove_prefix(static_cast<std::size_t>(second.ptr - rest_.data()));
  return (static_cast<std::uint64_t>(high) << 32U) | low;
}

std::optional<std::uint64_t> parse_lsn(std::string_view text) {
  TextScan scan(text);
  const auto value = scan.lsn();
  return scan.rest().empty() ? value : std::nullopt;
}

} // namespace replisim::readers
