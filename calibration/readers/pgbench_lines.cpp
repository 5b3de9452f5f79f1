// The two kinds of log lines of pgbench.
#include "calibration/readers/pgbench.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <vector>

namespace replisim::readers {

namespace {

std::vector<std::string_view> fields_of(std::string_view line) {
  std::vector<std::string_view> fields;
  while (true) {
    line.remove_prefix(std::min(line.find_first_not_of(' '), line.size()));
    if (line.empty())
      return fields;
    const auto end = std::min(line.find(' '), line.size());
    fields.push_back(line.substr(0, end));
    line.remove_prefix(end);
  }
}

template <typename Number>
bool read(std::string_view text, Number& out) {
  const auto [stop, error] = std::from_chars(text.data(), text.data() + text.size(), out);
  return error == std::errc() and stop == text.data() + text.size();
}

constexpr std::array<std::string_view, 5> outcomes = {"skipped", "failed", "serialization", "deadlock",
                                                      "other"};

/// 2001 to 2286: seconds since 1970 that no count of transactions is likely to be.
bool is_epoch(double seconds) { return seconds >= 1e9 and seconds < 1e10; }

} // namespace

std::optional<PgbenchTransaction> parse_pgbench_transaction(std::string_view line, std::string& why) {
  const auto fields = fields_of(line);
  if (fields.size() < 6 or fields.size() > 8) {
    why = fmt::format(
        "the line has {} fields; a transaction has 6 to 8 (client, number, latency, script, seconds, "
        "microseconds, and with --rate or --max-tries lag and retries)",
        fields.size());
    return std::nullopt;
  }
  PgbenchTransaction out;
  std::int64_t number = 0, seconds = 0, microseconds = 0;
  const auto bad = [&](std::size_t field, std::string_view name) {
    why = fmt::format("{}: '{}' is no whole number", name, fields[field]);
    return std::nullopt;
  };
  if (not read(fields[0], out.client))
    return bad(0, "client");
  if (not read(fields[1], number))
    return bad(1, "number of the transaction");
  if (std::find(outcomes.begin(), outcomes.end(), fields[2]) != outcomes.end())
    out.outcome = fields[2];
  else if (not read(fields[2], out.latency_us))
    return bad(2, "latency");
  if (not read(fields[3], out.script))
    return bad(3, "script");
  if (not read(fields[4], seconds) or not is_epoch(static_cast<double>(seconds)))
    return bad(4, "seconds since 1970");
  if (not read(fields[5], microseconds) or microseconds < 0 or microseconds >= 1'000'000)
    return bad(5, "microseconds");
  out.end_us = seconds * 1'000'000 + microseconds;
  std::int64_t extra = 0;
  if (fields.size() > 6) {
    if (not read(fields[6], extra))
      return bad(6, "lag");
    out.lag_us = extra;
  }
  if (fields.size() > 7) {
    if (not read(fields[7], extra))
      return bad(7, "retries");
    out.retries = extra;
  }
  return out;
}

std::optional<PgbenchInterval> parse_pgbench_interval(std::string_view line, std::string& why) {
  const auto fields = fields_of(line);
  static constexpr std::array<std::size_t, 5> known = {6, 10, 11, 15, 16};
  if (std::find(known.begin(), known.end(), fields.size()) == known.end()) {
    why = fmt::format(
        "the line has {} fields; an interval has 6, 10, 11 (14 and before), 15 (15 to 18) or 16 (19)",
        fields.size());
    return std::nullopt;
  }
  std::array<double, 16> values{};
  for (std::size_t i = 0; i < fields.size(); ++i)
    if (not read(fields[i], values[i])) {
      why = fmt::format("field {}: '{}' is no number", i + 1, fields[i]);
      return std::nullopt;
    }
  if (not is_epoch(values[0])) {
    why = fmt::format("field 1: '{}' are no seconds since 1970", fields[0]);
    return std::nullopt;
  }
  PgbenchInterval out;
  out.start_us = static_cast<TimeUs>(values[0]) * 1'000'000;
  out.transactions = values[1];
  out.latency_sum_us = values[2];
  out.latency_sum2_us2 = values[3];
  out.latency_min_us = values[4];
  out.latency_max_us = values[5];
  // lag: 6 to 9; then skipped, retried, retries, failures of three kinds.
  out.skipped = values[10];
  out.retried = values[11];
  out.retries = values[12];
  out.failures = values[13] + values[14] + values[15];
  return out;
}

} // namespace replisim::readers
