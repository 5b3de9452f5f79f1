#include "sim/scenario/promise.hpp"

#include "models/base/units.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <sstream>

namespace replisim {

namespace {

constexpr std::array<std::string_view, 9> statistics = {"mean", "p50",   "p95",   "p99", "max",
                                                        "min",  "count", "total", "peak"};

/// Statistics that are ordered whatever the distribution: min, p50, p95, p99, max.
int order_of(std::string_view statistic) {
  constexpr std::array<std::string_view, 5> ordered = {"min", "p50", "p95", "p99", "max"};
  const auto found = std::find(ordered.begin(), ordered.end(), statistic);
  return found == ordered.end() ? -1 : static_cast<int>(found - ordered.begin());
}

bool is_statistic(std::string_view word) {
  return std::find(statistics.begin(), statistics.end(), word) != statistics.end();
}

std::string without_statistic(std::string_view metric) {
  const auto last = metric.rfind('_');
  const bool has = last != std::string_view::npos and is_statistic(metric.substr(last + 1));
  return std::string(has ? metric.substr(0, last) : metric);
}

enum class Kind { Seconds, Bytes, Share, Rate, Plain };

Kind kind_of(std::string_view metric) {
  const std::string base = without_statistic(metric);
  if (base == "disk" or base.starts_with("peak_disk_used_"))
    return Kind::Share;
  if (metric.ends_with("_count"))
    return Kind::Plain;
  if (base.ends_with("_bytes"))
    return Kind::Bytes;
  if (base.ends_with("_s"))
    return Kind::Seconds;
  return base.ends_with("tps") ? Kind::Rate : Kind::Plain;
}

std::optional<double> read_limit(const std::string& metric, const std::string& text, std::string& problem) {
  const Kind kind = kind_of(metric);
  if (const auto plain = parse_number(text); plain and (kind == Kind::Plain or kind == Kind::Rate))
    return plain;
  if (kind == Kind::Plain) {
    problem = fmt::format("'{}' is no number, which {} is", text, metric);
    return std::nullopt;
  }
  const Dimension dimension = kind == Kind::Seconds ? Dimension::Duration
                              : kind == Kind::Bytes ? Dimension::Size
                              : kind == Kind::Share ? Dimension::Percent
                                                    : Dimension::EventRate;
  const auto parsed = parse_quantity(text, dimension);
  if (parsed.ok)
    return parsed.value;
  problem = fmt::format("{}: {}", metric, parsed.problem);
  return std::nullopt;
}

struct Words {
  std::string subject; ///< before the comparison
  bool below = true;
  std::string limit;
};

/// Splits at the comparison: a sign, or "(never) above" and "(never) below".
std::optional<Words> split(std::string_view text) {
  struct Comparison {
    std::string_view text;
    bool below;
  };
  constexpr std::array<Comparison, 8> comparisons = {{{" never above ", true},
                                                      {" never below ", false},
                                                      {"<=", true},
                                                      {">=", false},
                                                      {"<", true},
                                                      {">", false},
                                                      {" below ", true},
                                                      {" above ", false}}};
  for (const auto& [sign, below] : comparisons)
    if (const auto at = text.find(sign); at != std::string_view::npos) {
      const auto trimmed = [](std::string_view part) {
        const auto first = part.find_first_not_of(" \t");
        const auto last = part.find_last_not_of(" \t");
        return first == std::string_view::npos ? std::string()
                                               : std::string(part.substr(first, last - first + 1));
      };
      return Words{trimmed(text.substr(0, at)), below, trimmed(text.substr(at + sign.size()))};
    }
  return std::nullopt;
}

} // namespace

std::string metric_name(std::string_view words, std::string& statistic) {
  std::istringstream stream{std::string(words)};
  std::string metric, second, third;
  stream >> metric >> second >> third;
  if (metric.empty() or not third.empty())
    return {};
  const bool disk = metric == "disk" and not second.empty();
  if (disk)
    return fmt::format("peak_disk_used_{}", second);
  if (not second.empty() and not is_statistic(second))
    return {};
  if (not second.empty())
    metric += "_" + second;
  const std::string base = without_statistic(metric);
  statistic = base.size() < metric.size() ? metric.substr(base.size() + 1) : "";
  return metric;
}

std::optional<Promise> parse_promise(std::string_view text, std::string& problem) {
  constexpr std::string_view form =
      "write METRIC [p50|p95|p99|mean|max] < VALUE, as in 'lag_s p99 < 5s' or 'disk never above 80 %'";
  const auto words = split(text);
  if (not words or words->limit.empty()) {
    problem = fmt::format("'{}' promises nothing that can be checked; {}", text, form);
    return std::nullopt;
  }
  Promise out;
  out.text = std::string(text);
  out.below = words->below;
  out.metric = metric_name(words->subject, out.statistic);
  if (out.metric.empty()) {
    problem = fmt::format("'{}' names no metric; {}", words->subject, form);
    return std::nullopt;
  }
  const auto limit = read_limit(out.metric, words->limit, problem);
  if (not limit)
    return std::nullopt;
  out.limit = *limit;
  if (out.below and out.limit <= 0) {
    problem = fmt::format("'{}' cannot be kept: nothing is below zero", text);
    return std::nullopt;
  }
  return out;
}

std::string contradiction(const Promise& one, const Promise& other) {
  if (one.below == other.below)
    return {};
  const Promise& most = one.below ? one : other;  // the figure stays below ...
  const Promise& least = one.below ? other : one; // ... and above
  if (without_statistic(most.metric) != without_statistic(least.metric) or least.limit < most.limit)
    return {};
  const int high = order_of(most.statistic), low = order_of(least.statistic);
  const bool never = most.statistic == least.statistic or (low >= 0 and high >= 0 and low <= high) or
                     (least.statistic == "mean" and most.statistic == "max");
  return never ? fmt::format("'{}' and '{}' contradict each other", one.text, other.text) : "";
}

std::string metric_text(std::string_view metric, double value) {
  if (std::isnan(value))
    return "-";
  if (std::isinf(value))
    return "never";
  const auto signed_text = [value](const std::string& text) { return (value < 0 ? "-" : "") + text; };
  const double size = std::abs(value);
  switch (kind_of(metric)) {
  case Kind::Seconds:
    return signed_text(format_duration(size));
  case Kind::Bytes:
    return signed_text(format_bytes(size));
  case Kind::Share:
    return fmt::format("{:.1f} %", 100 * value);
  case Kind::Rate:
    return fmt::format("{:.4g}/s", value);
  case Kind::Plain:
    break;
  }
  return value == std::round(value) ? signed_text(format_count(static_cast<std::int64_t>(size)))
                                    : fmt::format("{:.4g}", value);
}

} // namespace replisim
