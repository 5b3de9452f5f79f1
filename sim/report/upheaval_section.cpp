#include "sim/report/upheaval_section.hpp"

#include "sim/report/text.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace replisim {

namespace {

constexpr std::size_t bar_columns = 40;
constexpr std::size_t tables_shown = 30;
constexpr std::size_t faults_shown = 20;

std::string date_text(double date_s) { return date_s < 0 ? "-" : seconds_text(date_s); }

std::string span_text(double from_s, double to_s) {
  return from_s < 0 or to_s < 0 ? "-" : seconds_text(to_s - from_s);
}

/// Waiting for the slot '.', copying '#', waiting for the leader '-', catching up '='.
std::string bar(const TableSyncResult& table, double from_s, double to_s) {
  const auto column = [&](double date_s) {
    const double share = to_s > from_s ? (date_s - from_s) / (to_s - from_s) : 0;
    return static_cast<std::size_t>(std::clamp(share, 0.0, 1.0) * bar_columns);
  };
  std::string out(bar_columns, ' ');
  const auto draw = [&](double begin_s, double end_s, char mark) {
    if (begin_s < 0)
      return;
    const std::size_t first = std::min(column(begin_s), bar_columns - 1);
    const std::size_t last = end_s < 0 ? bar_columns : std::max(column(end_s), first + 1);
    std::fill(out.begin() + static_cast<std::ptrdiff_t>(first),
              out.begin() + static_cast<std::ptrdiff_t>(std::min(last, bar_columns)), mark);
  };
  draw(table.launched_s, table.snapshot_s, '.');
  draw(table.snapshot_s, table.copied_s, '#');
  draw(table.copied_s, table.catchup_s, '-');
  draw(table.catchup_s, table.done_s, '=');
  return out;
}

std::string sync_text(const std::string& subscription, const std::string& words, const Upheaval& upheaval) {
  std::vector<const TableSyncResult*> tables;
  double from_s = -1, to_s = 0;
  for (const TableSyncResult& table : upheaval.tables) {
    if (table.subscription != subscription)
      continue;
    tables.push_back(&table);
    if (table.launched_s >= 0 and (from_s < 0 or table.launched_s < from_s))
      from_s = table.launched_s;
    to_s = std::max({to_s, table.copied_s, table.done_s, table.snapshot_s, table.launched_s});
  }
  std::string out = "\n" + wrapped(fmt::format("Initial sync of {}: ", subscription), words);
  TextTable text({"  table", "size", "attempts", "copying", "catching up", "READY at", "state", ""}, 1);
  for (std::size_t i = 0; i < std::min(tables.size(), tables_shown); ++i) {
    const TableSyncResult& table = *tables[i];
    text.add({"  " + table.table, size_text(static_cast<double>(table.bytes)), std::to_string(table.attempts),
              span_text(table.snapshot_s, table.copied_s), span_text(table.catchup_s, table.done_s),
              date_text(table.ready_s), table.state, "|" + bar(table, from_s, to_s) + "|"});
  }
  out += text.render(0);
  if (tables.size() > tables_shown)
    out += fmt::format("  and {} more tables (--format json has all)\n", tables.size() - tables_shown);
  return out + fmt::format("  . slot  # copying  - waiting for the leader  = catching up, from {} to {}\n",
                           date_text(from_s), date_text(to_s));
}

std::string faults_text(const std::vector<FaultResult>& faults) {
  std::string out = "\nFaults\n";
  TextTable text({"  event", "slot", "from", "to", "backlog", "WAL held back", "most", "caught up after"}, 2);
  for (std::size_t i = 0; i < std::min(faults.size(), faults_shown); ++i) {
    const FaultResult& fault = faults[i];
    text.add({"  " + fault.event, fault.slot, date_text(fault.begun_s), date_text(fault.ended_s),
              size_text(static_cast<double>(fault.backlog_bytes)),
              size_text(static_cast<double>(fault.retained_at_end_bytes)),
              size_text(static_cast<double>(fault.most_retained_bytes)),
              fault.caught_up_s < 0 ? "not yet" : span_text(fault.ended_s, fault.caught_up_s)});
  }
  out += text.render(0);
  if (faults.size() > faults_shown)
    out += fmt::format("  and {} more (--format json has all)\n", faults.size() - faults_shown);
  for (const FaultResult& fault : faults)
    if (fault.cap_passed_s >= 0)
      out += wrapped(
          "  ", fmt::format("{}: slot {} held back more than max_slot_wal_keep_size from {} on, {} after "
                            "it began",
                            fault.event, fault.slot, seconds_text(fault.cap_passed_s),
                            seconds_text(fault.cap_passed_s - fault.begun_s)));
  return out;
}

std::string retention_text(const RetentionResult& retention) {
  std::string words = fmt::format("dead rows stay for up to {}", seconds_text(retention.longest_s));
  for (const auto& [subscription, active] : retention.active)
    if (not active)
      words += fmt::format("; {} has stopped (subretentionactive is false)", subscription);
  if (retention.stops > 0)
    words += fmt::format("; stopped {} times by max_retention_duration, resumed {} times", retention.stops,
                         retention.resumptions);
  std::string out = "\n" + wrapped(fmt::format("Retained dead tuples on {}: ", retention.server), words);
  TextTable text({"  table", "n_dead_tup", "most", "mean", "a row, most", "n_tup_upd", "n_tup_newpage_upd"},
                 1);
  const auto count = [](double value) { return fmt::format("{:.0f}", value); };
  for (const DeadTuples& table : retention.tables)
    text.add({"  " + table.table, count(table.n_dead_tup), count(table.most_dead_tup),
              count(table.mean_dead_tup), fmt::format("{:.1f}", table.most_per_row), count(table.n_tup_upd),
              count(table.n_tup_newpage_upd)});
  return out + text.render(0);
}

} // namespace

std::string upheaval_section(const RunResult& run) {
  std::string out;
  for (const auto& [subscription, words] : run.upheaval.sync_words)
    out += sync_text(subscription, words, run.upheaval);
  if (not run.upheaval.faults.empty())
    out += faults_text(run.upheaval.faults);
  for (const RetentionResult& retention : run.upheaval.retention)
    out += retention_text(retention);
  return out;
}

} // namespace replisim
