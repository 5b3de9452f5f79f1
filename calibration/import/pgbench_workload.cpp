#include "calibration/import/pgbench_workload.hpp"

#include "calibration/import/import_files.hpp"
#include "calibration/import/step_layout.hpp"
#include "models/base/errors.hpp"
#include "models/base/suggest.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace replisim {

namespace {

using Kind = RecordedStep::Kind;

Column column_of(std::string name, ColumnType type, int width_bytes = 0) {
  Column column;
  column.name = std::move(name);
  column.type = type;
  column.width_bytes = width_bytes;
  return column;
}

/// The tables as `pgbench -i` makes them; fillers that it leaves null are left out, as a null takes no room.
std::vector<RecordedTable> pgbench_tables(std::int64_t scale) {
  const auto table = [](const std::string& name, std::vector<Column> columns, const std::string& key,
                        Rows rows) {
    RecordedTable out;
    out.name = "public.pgbench_" + name;
    out.columns = std::move(columns);
    if (not key.empty())
      out.key = {key};
    out.rows_before = rows;
    return out;
  };
  constexpr auto int4 = ColumnType::Int4;
  return {table("accounts",
                {column_of("aid", int4), column_of("bid", int4), column_of("abalance", int4),
                 column_of("filler", ColumnType::Text, 84)},
                "aid", 100'000 * scale),
          table("tellers", {column_of("tid", int4), column_of("bid", int4), column_of("tbalance", int4)},
                "tid", 10 * scale),
          table("branches", {column_of("bid", int4), column_of("bbalance", int4)}, "bid", scale),
          table("history",
                {column_of("tid", int4), column_of("bid", int4), column_of("aid", int4),
                 column_of("delta", int4), column_of("mtime", ColumnType::Timestamp)},
                "", 0)};
}

RecordedSteps steps_of(const std::string& script) {
  const RecordedStep accounts{Kind::Update, 0, 1}, tellers{Kind::Update, 1, 1}, branches{Kind::Update, 2, 1},
      history{Kind::Insert, 3, 1};
  if (script == "tpcb-like")
    return {accounts, tellers, branches, history};
  if (script == "simple-update")
    return {accounts, history};
  return {}; // select-only
}

} // namespace

const std::vector<std::string>& pgbench_scripts() {
  static const std::vector<std::string> scripts = {"tpcb-like", "simple-update", "select-only"};
  return scripts;
}

void require_pgbench_script(const std::string& name) {
  const auto& known = pgbench_scripts();
  if (std::find(known.begin(), known.end(), name) == known.end())
    throw UsageError(
        fmt::format("'{}' is no builtin script of pgbench{}; a script of your own can be imported from "
                    "the WAL it writes",
                    name, suggestion(name, known)));
}

PgbenchWorkload::PgbenchWorkload(const std::vector<std::string>& scripts, std::int64_t scale) {
  out_.tables = pgbench_tables(scale);
  for (const std::string& script : scripts) {
    require_pgbench_script(script);
    script_steps_.push_back(out_.distinct.size());
    out_.distinct.push_back(steps_of(script));
  }
}

void PgbenchWorkload::add(const readers::PgbenchTransaction& transaction) {
  ++out_.records;
  if (not transaction.outcome.empty())
    return; // skipped, or rolled back after its last try: no commit
  ended_.push_back({transaction.end_us, transaction.latency_us,
                    script_steps_[static_cast<std::size_t>(transaction.script)]});
}

RecordedWorkload PgbenchWorkload::finish() {
  readers::TimeUs first_us = 0, last_us = 0;
  for (const Ended& ended : ended_) {
    const readers::TimeUs begin_us = ended.end_us - ended.latency_us;
    first_us = first_us == 0 ? begin_us : std::min(first_us, begin_us);
    last_us = std::max(last_us, ended.end_us);
  }
  out_.span_s = static_cast<double>(last_us - first_us) * 1e-6;
  for (const Ended& ended : ended_) {
    const RecordedSteps& steps = out_.distinct[ended.steps];
    ++out_.committed;
    if (steps.empty()) {
      ++out_.committed_without_rows;
      continue;
    }
    const double at_s = static_cast<double>(ended.end_us - ended.latency_us - first_us) * 1e-6;
    out_.transactions.push_back({at_s, static_cast<double>(ended.latency_us) * 1e-6, ended.steps, false});
    out_.committed_changes += rows_kept(steps);
    for (const RecordedStep& step : steps) {
      RecordedTable& table = out_.tables[step.table];
      (step.kind == Kind::Insert ? table.inserts : table.updates) += step.rows;
      // Tellers and branches fit on pages with room; accounts are loaded without any.
      table.hot_updates += step.kind == Kind::Update and step.table != 0 ? step.rows : 0;
    }
  }
  std::stable_sort(out_.transactions.begin(), out_.transactions.end(),
                   [](const auto& a, const auto& b) { return a.at_s < b.at_s; });
  return std::move(out_);
}

} // namespace replisim
