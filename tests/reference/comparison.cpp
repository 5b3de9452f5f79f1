#include "tests/reference/comparison.hpp"

#include "tests/support/scenario_builder.hpp"

#include <cmath>
#include <optional>

namespace replisim::test {

namespace {

/// What one row takes at all stages together, and what is sent beside rows.
struct Pace {
  double row_s = 0;
  double beside_s = 0;
  double message_bytes = 1e9; ///< of the smallest row message, as it fills the window
};

Pace pace_of(const reference::Input& input) {
  Pace pace;
  for (const auto& transaction : input.transactions)
    for (const auto& act : transaction.acts) {
      const auto* row = std::get_if<reference::Row>(&act);
      if (row == nullptr)
        continue;
      const auto wal_bytes = static_cast<double>(row->wal_bytes), body = static_cast<double>(row->body_bytes);
      double seconds = row->execute_s + wal_bytes * input.read_byte_s +
                       static_cast<double>(row->wal_records) * input.read_record_s + input.decode_s +
                       input.spill_s + input.restore_s + row->send_s + input.receive_s +
                       body * input.receive_byte_s + input.forward_s + input.file_write_s +
                       input.file_read_s + input.ring_read_s + row->apply_s;
      if (input.crosses_link)
        seconds += body / input.link_bytes_per_s;
      pace.row_s = std::max(pace.row_s, seconds);
      pace.message_bytes =
          std::min(pace.message_bytes, body + static_cast<double>(input.message_overhead_bytes + 30));
    }
  pace.beside_s = input.stream_chunk_s + input.chunk_dispatch_s + 2 * input.send_control_s + input.receive_s +
                  input.send_transaction_s + input.wakeup_s;
  return pace;
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

/// Whether a look into the commit log came so close to a rollback that either answer is within the
/// resolution.
bool races(const reference::Output& expected, double resolution_s) {
  return std::any_of(expected.lookups.begin(), expected.lookups.end(), [&](const reference::Lookup& lookup) {
    return lookup.aborted_s >= 0 and lookup.aborted_s >= lookup.from_s - resolution_s and
           lookup.aborted_s <= lookup.to_s + resolution_s;
  });
}

/// Most transactions that are under way at once, from their first statement until they are applied.
std::int64_t most_at_once(const reference::Input& input, const reference::Output& expected) {
  std::int64_t most = 1;
  for (const auto& one : input.transactions) {
    std::int64_t at_once = 0;
    for (std::size_t i = 0; i < input.transactions.size(); ++i) {
      const reference::Dates& dates = expected.transactions[i];
      const double end_s = std::max({dates.statement_end_s, dates.commit_s, dates.applied_s});
      at_once += input.transactions[i].begin_s <= one.begin_s and one.begin_s <= end_s ? 1 : 0;
    }
    most = std::max(most, at_once);
  }
  return most;
}

} // namespace

double resolution_s(const Case& from, const reference::Input& input, const reference::Output& expected) {
  const Pace pace = pace_of(input);
  // Those that overlap interleave by batches: one waits for a batch of each of the others.
  double rows = static_cast<double>(from.batch_rows * most_at_once(input, expected));
  if (expected.counters.spill_count > 0)
    rows += std::min(static_cast<double>(from.rows()),
                     static_cast<double>(input.window_bytes) / pace.message_bytes);
  return rows * pace.row_s + pace.beside_s;
}

Comparison compare(const Case& from, const RunResult& simulated) {
  const reference::Input input = reference_input(from);
  const reference::Output expected = reference::solve(input);
  Comparison out;
  out.resolution_s = resolution_s(from, input, expected);
  out.evictions = expected.evictions;
  out.race = races(expected, out.resolution_s);
  if (out.race)
    return out;
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
