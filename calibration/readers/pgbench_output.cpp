// pgbench's summary and progress lines, in the wording of 9.x to 19.
#include "calibration/readers/pgbench.hpp"

#include "models/base/units.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <string>

namespace replisim::readers {

namespace {

/// A number at the start of `text`; a decimal comma is read as a point and said.
struct LeadingNumber {
  std::optional<double> value;
  bool comma = false;
};

LeadingNumber leading_number(std::string_view text) {
  text.remove_prefix(std::min(text.find_first_not_of(' '), text.size()));
  std::string digits(text.substr(0, std::min(text.find_first_not_of("-0123456789.,"), text.size())));
  while (digits.ends_with(',') or digits.ends_with('.'))
    digits.pop_back();
  LeadingNumber out;
  const auto comma = digits.find(',');
  out.comma = comma != std::string::npos;
  if (out.comma)
    digits[comma] = '.';
  out.value = parse_number(digits);
  return out;
}

/// What a line of the summary says: how it begins, and the figure it gives.
struct SummaryLine {
  std::string_view start;
  std::string_view metric;
  std::string_view stat;
  double unit;
};

constexpr SummaryLine summary_lines[] = {
    {"scaling factor: ", "scale", "", 1},
    {"number of clients: ", "clients", "", 1},
    {"number of threads: ", "threads", "", 1},
    {"duration: ", "duration_s", "", 1},
    {"number of transactions actually processed: ", "transactions", "", 1},
    {"number of failed transactions: ", "failed_transactions", "", 1},
    {"number of other failures: ", "other_failures", "", 1},
    {"number of transactions skipped: ", "skipped_transactions", "", 1},
    {"total number of retries: ", "retries", "", 1},
    {"latency average = ", "latency_s", "mean", 1e-3},
    {"latency average: ", "latency_s", "mean", 1e-3},
    {"latency stddev = ", "latency_s", "stddev", 1e-3},
    {"latency stddev: ", "latency_s", "stddev", 1e-3},
    {"rate limit schedule lag: avg ", "schedule_lag_s", "mean", 1e-3},
    {"initial connection time = ", "initial_connection_s", "", 1e-3},
    {"average connection time = ", "connection_s", "mean", 1e-3}};

class Summary {
public:
  Summary(LineInput& input, ReadContext& context) : input_(input), context_(context) {}

  void add(std::string_view line) {
    if (line.starts_with("progress: "))
      return progress(line);
    if (line.starts_with("SQL script ")) // what follows repeats the figures for each script
      in_scripts_ = true;
    if (line.starts_with("transaction type: "))
      begin();
    if (line.starts_with("tps = "))
      return tps(line);
    if (in_scripts_)
      return;
    for (const SummaryLine& known : summary_lines)
      if (line.starts_with(known.start)) {
        if (const auto value = number(line, line.substr(known.start.size())))
          put(known.metric, *value * known.unit, known.stat);
        return;
      }
  }

  void finish() {
    if (begun_ and not seen_.contains("tps"))
      input_.report_file("truncated", "ends before the line 'tps = ...': the run was cut short, or the file");
    check();
  }

private:
  void begin() {
    if (begun_) {
      input_.report("second_run",
                    "another run begins here; its figures stand beside those of the one before");
      check();
    }
    begun_ = true;
    in_scripts_ = false;
    seen_.clear();
  }

  std::optional<double> number(std::string_view line, std::string_view text) {
    const LeadingNumber found = leading_number(text);
    if (not found.value)
      input_.report("no_number", fmt::format("'{}': a number is missing; the line was left out", line));
    else if (found.comma)
      input_.report("decimal_comma",
                    fmt::format("'{}': the comma was read as a decimal point ({})", line, *found.value));
    return found.value;
  }

  void put(std::string_view metric, double value, std::string_view stat = {}, Labels labels = {}) {
    if (not stat.empty())
      labels["stat"] = std::string(stat);
    seen_[std::string(metric) + (stat == "stddev" ? " stddev" : "")] = value;
    const std::uint64_t at = input_.line_number();
    context_.observation.figures.push_back(
        {std::string(metric), value, {}, std::move(labels), "", context_.place(at, at)});
  }

  void tps(std::string_view line) {
    const auto value = number(line, line.substr(6));
    if (not value)
      return;
    // 13 and before give two: with and without the time that connecting takes.
    if (line.find("(including ") != std::string_view::npos)
      put("tps_with_connecting", *value);
    else
      put("tps", *value);
  }

  /// progress: 5.0 s, 150.5 tps, lat 26.282 ms stddev 24.490[, lag 1.2 ms][, 3 skipped], 0 failed
  void progress(std::string_view line) {
    const auto t = number(line, line.substr(10));
    if (not t)
      return;
    // With --progress-timestamp the clock stands in place of the run's own seconds.
    const bool is_wall = *t >= 1e9;
    context_.info().time_base = is_wall ? TimeBase::Wall : TimeBase::Start;
    const auto at_us = static_cast<TimeUs>(std::llround(*t * 1e6));
    if (at_us < last_progress_us_)
      return input_.report("clock_back",
                           "the time goes back against the progress line above; it was left out");
    last_progress_us_ = at_us;
    context_.info().see(at_us);
    sample(line, " s, ", "tps", 1, at_us);
    sample(line, ", lat ", "latency_s", 1e-3, at_us);
    sample(line, ", lag ", "schedule_lag_s", 1e-3, at_us);
  }

  void sample(std::string_view line, std::string_view mark, std::string_view metric, double unit,
              TimeUs at_us) {
    const auto at = line.find(mark);
    if (at == std::string_view::npos)
      return;
    const auto text = line.substr(at + mark.size());
    if (text.starts_with("NaN") or text.starts_with("-nan") or text.starts_with("nan"))
      return; // an interval without a transaction
    if (const auto value = number(line, text))
      context_.observation.series(metric, context_.source).add({at_us, *value * unit, input_.line_number()});
  }

  /// In a closed loop clients / latency is the rate (Little's law).
  void check() {
    const auto get = [&](const char* name) {
      const auto at = seen_.find(name);
      return at == seen_.end() ? 0 : at->second;
    };
    const double clients = get("clients"), latency_s = get("latency_s"), tps = get("tps");
    if (clients <= 0 or latency_s <= 0 or tps <= 0 or seen_.contains("schedule_lag_s") or
        seen_.contains("connection_s"))
      return;
    const double expected = clients / latency_s;
    if (std::abs(expected / tps - 1) > 0.1)
      input_.report_file("inconsistent",
                         fmt::format("{:.0f} clients at {:.3f} ms make {:.1f} transactions a second, the "
                                     "file says {:.1f}: figures of different runs, or clients that wait",
                                     clients, latency_s * 1e3, expected, tps));
  }

  LineInput& input_;
  ReadContext& context_;
  std::map<std::string, double> seen_;
  bool begun_ = false, in_scripts_ = false;
  TimeUs last_progress_us_ = 0;
};

class OutputReader final : public Reader {
public:
  std::string_view name() const override { return "pgbench"; }
  std::string_view reads() const override { return "pgbench's output"; }

  Match recognises(const FileHead& head) const override {
    int marks = 0;
    for (const std::string_view line : head.lines(200)) {
      marks += line.starts_with("transaction type: ") or line.starts_with("pgbench (") ? 2 : 0;
      marks += line.starts_with("progress: ") and line.find(" tps, lat ") != std::string_view::npos ? 2 : 0;
      marks += line.starts_with("number of clients: ") or line.starts_with("tps = ") ? 1 : 0;
    }
    return marks >= 2 ? Match::Certain : (marks == 1 ? Match::Perhaps : Match::No);
  }

  void read(LineInput& input, ReadContext& context) const override {
    context.info().format = "pgbench's output";
    Summary summary(input, context);
    std::string_view line;
    while (input.next(line))
      summary.add(line);
    summary.finish();
  }
};

} // namespace

std::unique_ptr<Reader> make_pgbench_output_reader() { return std::make_unique<OutputReader>(); }

} // namespace replisim::readers
