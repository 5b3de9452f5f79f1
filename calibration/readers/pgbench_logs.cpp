// Readers of pgbench's logs: one line a transaction, or one line an interval.
#include "calibration/readers/pgbench.hpp"

#include "models/lag_sketch.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>

namespace replisim::readers {

namespace {

/// Share of the first lines that must be of the kind.
template <typename Parse>
Match share_of(const FileHead& head, Parse parse) {
  std::size_t good = 0, all = 0;
  std::string why;
  for (const std::string_view line : head.lines(20)) {
    if (line.empty())
      continue;
    ++all;
    good += parse(line, why).has_value() ? 1 : 0;
  }
  if (good == 0 or 2 * good < all)
    return Match::No;
  return good == all ? Match::Likely : Match::Perhaps;
}

constexpr double seconds_of(double microseconds) { return microseconds * 1e-6; }

class TransactionLog {
public:
  TransactionLog(LineInput& input, ReadContext& context) : input_(input), context_(context) {}

  void add(std::string_view line) {
    std::string why;
    const auto parsed = parse_pgbench_transaction(line, why);
    if (not parsed)
      return input_.report("no_transaction", why + "; it was left out");
    context_.info().see(parsed->end_us);
    const double end_s = seconds_of(static_cast<double>(parsed->end_us));
    if (not parsed->outcome.empty()) {
      ++outcomes_[std::string(parsed->outcome)];
      return;
    }
    first_s_ = count_ == 0 ? end_s : std::min(first_s_, end_s);
    last_s_ = count_ == 0 ? end_s : std::max(last_s_, end_s);
    ++count_;
    retries_ += parsed->retries.value_or(0);
    const double latency_s = seconds_of(static_cast<double>(parsed->latency_us));
    sum2_ += latency_s * latency_s;
    sketch_.add(std::max(latency_s, 1e-9), 1);
    context_.observation.series("latency_s", context_.source)
        .add({parsed->end_us, latency_s, input_.line_number()});
  }

  void finish() {
    if (count_ == 0)
      return input_.report_file("no_rows", "holds no completed transaction");
    const Place place = context_.place(1, input_.line_number());
    const auto figure = [&](const std::string& metric, double value, Labels labels, const std::string& how) {
      context_.observation.figures.push_back({metric, value, {}, std::move(labels), how, place});
    };
    figure("transactions", static_cast<double>(count_), {}, "completed, counted");
    if (last_s_ > first_s_)
      figure("tps", static_cast<double>(count_ - 1) / (last_s_ - first_s_), {},
             "completed transactions between the first and the last end");
    figure("latency_s", sketch_.mean(), {{"stat", "mean"}}, "");
    const double variance = sum2_ / static_cast<double>(count_) - sketch_.mean() * sketch_.mean();
    figure("latency_s", std::sqrt(std::max(0.0, variance)), {{"stat", "stddev"}}, "");
    for (const auto& [name, quantile] : {std::pair{"p50", 0.5}, {"p95", 0.95}, {"p99", 0.99}})
      figure("latency_s", sketch_.quantile(quantile), {{"stat", name}}, "to 1 %");
    figure("latency_s", sketch_.maximum(), {{"stat", "max"}}, "");
    if (retries_ > 0)
      figure("retries", static_cast<double>(retries_), {}, "");
    for (const auto& [outcome, times] : outcomes_)
      figure("failed_transactions", static_cast<double>(times), {{"outcome", outcome}}, "");
  }

private:
  LineInput& input_;
  ReadContext& context_;
  LagSketch sketch_;
  double sum2_ = 0;
  double first_s_ = 0, last_s_ = 0;
  std::int64_t count_ = 0, retries_ = 0;
  std::map<std::string, std::int64_t> outcomes_;
};

class TransactionLogReader final : public Reader {
public:
  std::string_view name() const override { return "pgbench-log"; }
  std::string_view reads() const override { return "pgbench's per-transaction logs (--log)"; }
  Match recognises(const FileHead& head) const override { return share_of(head, parse_pgbench_transaction); }

  void read(LineInput& input, ReadContext& context) const override {
    context.info().format = "pgbench --log";
    context.info().time_base = TimeBase::Wall;
    TransactionLog log(input, context);
    std::string_view line;
    while (input.next(line))
      log.add(line);
    log.finish();
  }
};

class AggregateReader final : public Reader {
public:
  std::string_view name() const override { return "pgbench-aggregate"; }
  std::string_view reads() const override { return "pgbench's aggregated logs (--aggregate-interval)"; }
  Match recognises(const FileHead& head) const override { return share_of(head, parse_pgbench_interval); }

  void read(LineInput& input, ReadContext& context) const override {
    context.info().format = "pgbench --aggregate-interval";
    context.info().time_base = TimeBase::Wall;
    Seen previous;
    PgbenchInterval total;
    double most_us = 0;
    std::string_view line;
    std::string why;
    while (input.next(line)) {
      const auto parsed = parse_pgbench_interval(line, why);
      if (not parsed) {
        input.report("no_interval", why + "; it was left out");
        continue;
      }
      context.info().see(parsed->start_us);
      if (previous and previous->first.start_us > parsed->start_us)
        input.report("clock_back",
                     "the interval begins before the one above it; it is counted, and in no series");
      else if (previous)
        add(*previous, parsed->start_us, context);
      previous = {*parsed, input.line_number()};
      total.transactions += parsed->transactions;
      total.latency_sum_us += parsed->latency_sum_us;
      total.failures += parsed->failures;
      total.skipped += parsed->skipped;
      most_us = std::max(most_us, parsed->latency_max_us);
    }
    if (not previous)
      return input.report_file("no_rows", "holds no interval");
    summarise(total, most_us, context, input.line_number());
  }

private:
  using Seen = std::optional<std::pair<PgbenchInterval, std::uint64_t>>; ///< and its line

  /// An interval ends where the next begins.
  static void add(const std::pair<PgbenchInterval, std::uint64_t>& interval, TimeUs end_us,
                  ReadContext& context) {
    const auto& [values, line] = interval;
    const double width_s = seconds_of(static_cast<double>(end_us - values.start_us));
    if (width_s <= 0)
      return;
    context.observation.series("tps", context.source)
        .add({values.start_us, values.transactions / width_s, line});
    if (values.transactions > 0)
      context.observation.series("latency_s", context.source)
          .add({values.start_us, seconds_of(values.latency_sum_us / values.transactions), line});
  }

  static void summarise(const PgbenchInterval& total, double most_us, ReadContext& context,
                        std::uint64_t lines) {
    const Place place = context.place(1, lines);
    auto& figures = context.observation.figures;
    figures.push_back({"transactions", total.transactions, {}, {}, "summed over the intervals", place});
    if (total.transactions > 0)
      figures.push_back({"latency_s",
                         seconds_of(total.latency_sum_us / total.transactions),
                         {},
                         {{"stat", "mean"}},
                         "summed over the intervals",
                         place});
    figures.push_back({"latency_s", seconds_of(most_us), {}, {{"stat", "max"}}, "", place});
    if (total.failures > 0)
      figures.push_back({"failed_transactions", total.failures, {}, {}, "", place});
    if (total.skipped > 0)
      figures.push_back({"failed_transactions", total.skipped, {}, {{"outcome", "skipped"}}, "", place});
  }
};

} // namespace

std::unique_ptr<Reader> make_pgbench_log_reader() { return std::make_unique<TransactionLogReader>(); }
std::unique_ptr<Reader> make_pgbench_aggregate_reader() { return std::make_unique<AggregateReader>(); }

} // namespace replisim::readers
