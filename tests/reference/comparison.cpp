#include "tests/reference/comparison.hpp"

#include "tests/support/scenario_builder.hpp"

#include <cmath>
#include <optional>

namespace replisim::test {

namespace {

/// The largest of what a row takes, and the least it fills.
struct Pace {
  double row_s = 0;           ///< at all stages together
  double hop_s = 0;           ///< being sent, transferred and taken, less the longest of the three
  double beside_s = 0;        ///< a message without rows
  double memory_bytes = 1e9;  ///< in the reorder buffer
  double message_bytes = 1e9; ///< in the window
};

Pace pace_of(const reference::Input& input) {
  Pace pace;
  for (const auto& transaction : input.transactions)
    for (const auto& act : transaction.acts) {
      const auto* row = std::get_if<reference::Row>(&act);
      if (row == nullptr)
        continue;
      const auto wal_bytes = static_cast<double>(row->wal_bytes), body = static_cast<double>(row->body_bytes);
      const double transfer_s = input.crosses_link ? body / input.link_bytes_per_s : 0;
      const double receive_s = input.receive_s + body * input.receive_byte_s;
      const double take_s =
          receive_s +
          (input.mode == reference::Mode::Off ? row->apply_s : std::max(input.forward_s, input.file_write_s));
      const double seconds = row->execute_s + wal_bytes * input.read_byte_s +
                             static_cast<double>(row->wal_records) * input.read_record_s + input.decode_s +
                             input.spill_s + input.restore_s + row->send_s + transfer_s + receive_s +
                             input.forward_s + input.file_write_s + input.file_read_s + input.ring_read_s +
                             row->apply_s;
      pace.row_s = std::max(pace.row_s, seconds);
      pace.hop_s = std::max(pace.hop_s,
                            row->send_s + transfer_s + take_s - std::max({row->send_s, transfer_s, take_s}));
      pace.memory_bytes = std::min(pace.memory_bytes, static_cast<double>(row->memory_bytes));
      pace.message_bytes =
          std::min(pace.message_bytes, body + static_cast<double>(input.message_overhead_bytes + 30));
    }
  pace.beside_s = input.stream_chunk_s + input.chunk_dispatch_s + 2 * input.send_control_s + input.receive_s +
                  input.send_transaction_s + input.wakeup_s;
  return pace;
}

/// How often the walsender starts anew after it has waited for what is behind it: behind a latency once a
/// window, otherwise with each eviction that fills more than one.
double starts(const reference::Input& input, const reference::Output& expected, const Pace& pace) {
  const auto window = static_cast<double>(input.window_bytes);
  if (input.crosses_link and input.link_latency_s > 0)
    return static_cast<double>(expected.sent_bytes) / window;
  const bool narrow =
      window / pace.message_bytes < static_cast<double>(input.work_mem_bytes) / pace.memory_bytes;
  return narrow ? static_cast<double>(expected.evictions) : 0;
}

template <class Value>
void check_equal(const std::string& what, Value simulated, Value expected, Comparison& out) {
  if (simulated != expected)
    out.differences.push_back(fmt::format("{} is {}, by the reference model {}", what, simulated, expected));
}

void check_date(const std::string& what, double simulated_s, double expected_s, Comparison& out) {
  const double apart_s = std::abs(simulated_s - expected_s);
  out.largest_s = std::max(out.largest_s, apart_s);
  if (not(apart_s <= out.resolution_s))
    out.differences.push_back(
        fmt::format("{}: {:.9f} s, by the reference model {:.9f} s, {:.3g} s apart where "
                    "{:.3g} s are allowed",
                    what, simulated_s, expected_s, apart_s, out.resolution_s));
}

void compare_counters(const Metrics& simulated, const reference::Output& expected, Comparison& out) {
  const auto check = [&](const char* metric, std::int64_t value) {
    check_equal(metric, static_cast<std::int64_t>(simulated.at(metric)), value, out);
  };
  check("spill_txns", expected.counters.spill_txns);
  check("spill_count", expected.counters.spill_count);
  check("spill_bytes", expected.counters.spill_bytes);
  check("stream_txns", expected.counters.stream_txns);
  check("stream_count", expected.counters.stream_count);
  check("stream_bytes", expected.counters.stream_bytes);
  check("total_txns", expected.counters.total_txns);
  check("total_bytes", expected.counters.total_bytes);
  check("sent_bytes", expected.sent_bytes);
  check("without_worker_txns", expected.without_worker);
}

void compare_transaction(const TransactionResult& simulated, const reference::Dates& expected,
                         bool rolls_back, Comparison& out) {
  const std::string name = simulated.name;
  check_equal(name + " rows", simulated.rows, Rows{expected.rows}, out);
  check_date(name + " ends its last statement", simulated.statement_end_s, expected.statement_end_s, out);
  if (rolls_back)
    return;
  check_equal(name + " rows applied", simulated.rows_applied, Rows{expected.rows_applied}, out);
  check_date(name + " commits", simulated.commit_s, expected.commit_s, out);
  if (expected.applied_s < 0 or expected.rows_applied == 0)
    return; // nothing of it is sent: its date is when the walsender happens to have nothing else to do
  check_date(name + " is applied", simulated.applied_s, expected.applied_s, out);
  check_date(name + " begins to hold locks on the subscriber", simulated.applied_s - simulated.lock_hold_s,
             expected.first_applied_s, out);
}

} // namespace

double resolution_s(const Case& from, const reference::Input& input, const reference::Output& expected) {
  const Pace pace = pace_of(input);
  const bool streams = input.mode != reference::Mode::Off;
  // A chunk is cut into pieces as near to a batch as can be: one of less than one and a half goes whole.
  const double batch = static_cast<double>(from.batch_rows) * (streams and from.batch_rows > 1 ? 1.5 : 1);
  const double opening_s = streams ? input.stream_chunk_s + input.chunk_dispatch_s : 0;
  const bool coarse = from.batch_rows > 1 and from.transactions.size() > 1;
  const double others =
      coarse and expected.evictions > 0 ? static_cast<double>(input.work_mem_bytes) / pace.memory_bytes : 0;
  const double flush_s =
      coarse and input.flushes
          ? input.flush_latency_s + static_cast<double>(expected.wal_bytes) / input.flush_bytes_per_s
          : 0;
  return (batch + others) * pace.row_s + (batch * pace.hop_s + opening_s) * starts(input, expected, pace) +
         pace.beside_s + flush_s;
}

namespace {

Comparison compare_with(const Case& from, const reference::Input& input, const reference::Output& expected,
                        const RunResult& simulated) {
  Comparison out;
  out.resolution_s = resolution_s(from, input, expected);
  out.evictions = expected.evictions;
  out.race = not expected.races.empty();
  // Rows of transactions that overlap come batch by batch: MODEL.md, Reorder buffer.
  if (from.batch_rows == 1 or from.transactions.size() == 1)
    compare_counters(simulated.subscriptions.at("s"), expected, out);
  check_equal("wal_bytes", static_cast<std::int64_t>(simulated.metrics.at("wal_bytes")), expected.wal_bytes,
              out);
  for (std::size_t i = 0; i < from.transactions.size(); ++i)
    for (const TransactionResult& transaction : simulated.transactions)
      if (transaction.name == from.transactions[i].name)
        compare_transaction(transaction, expected.transactions[i], from.transactions[i].rolls_back, out);
  return out;
}

} // namespace

Comparison compare(const Case& from, const RunResult& simulated) {
  constexpr std::size_t most_ways = 500;
  reference::Input input = reference_input(from);
  input.slack_s = resolution_s(from, input, reference::solve(input));
  std::optional<Comparison> first;
  std::vector<std::vector<bool>> ways = {{}}; // answers to looks that hang on a race
  for (std::size_t i = 0; i < ways.size() and i < most_ways; ++i) {
    input.answers = ways[i];
    const reference::Output expected = reference::solve(input);
    Comparison found = compare_with(from, input, expected, simulated);
    if (found.differences.empty())
      return found;
    if (not first)
      first = std::move(found);
    for (std::size_t look = ways[i].size(); look < expected.races.size(); ++look) { // otherwise from here on
      ways.emplace_back(expected.races.begin(), expected.races.begin() + static_cast<std::ptrdiff_t>(look));
      ways.back().push_back(not expected.races[look]);
    }
  }
  return *first;
}

std::vector<Comparison> simulate_and_compare(const std::vector<Case>& cases) {
  std::vector<Job> jobs;
  for (const Case& one : cases)
    jobs.push_back(simulation_job(fmt::format("seed {}", one.seed), scenario_of(one), 1));
  const auto outcomes = run_forked(jobs);
  std::vector<Comparison> out;
  for (std::size_t i = 0; i < cases.size(); ++i) {
    try {
      out.push_back(compare(cases[i], decode_result(outcomes[i].get())));
    } catch (const std::exception& error) {
      out.emplace_back();
      out.back().differences.push_back(fmt::format("it fails: {}", error.what()));
    }
  }
  return out;
}

namespace {

/// The first of `candidates` that differs, looked for a few at a time.
std::optional<Case> first_that_differs(const std::vector<Case>& candidates) {
  constexpr std::size_t at_once = 8;
  for (std::size_t begin = 0; begin < candidates.size(); begin += at_once) {
    const std::vector<Case> some(
        candidates.begin() + static_cast<std::ptrdiff_t>(begin),
        candidates.begin() + static_cast<std::ptrdiff_t>(std::min(begin + at_once, candidates.size())));
    const auto found = simulate_and_compare(some);
    for (std::size_t i = 0; i < some.size(); ++i)
      if (not found[i].differences.empty())
        return some[i];
  }
  return std::nullopt;
}

} // namespace

Case shrink(const Case& failing) {
  constexpr int most_steps = 200;
  Case smallest = failing;
  for (int step = 0; step < most_steps; ++step) {
    auto next = first_that_differs(smaller(smallest));
    if (not next)
      break;
    smallest = std::move(*next);
  }
  return smallest;
}

} // namespace replisim::test
