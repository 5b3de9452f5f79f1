#include "calibration/import/scenario_writer.hpp"

#include "calibration/import/table_fit.hpp"
#include "models/base/units.hpp"
#include "models/wal_volume.hpp"
#include "sim/scenario/replay_file.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <set>

namespace replisim {

namespace {

/// A name that is a plain scalar in YAML and one word in the list of transactions.
std::string plain(const std::string& name) {
  std::string out;
  for (const char c : name)
    out += (std::isalnum(static_cast<unsigned char>(c)) != 0 or c == '_' or c == '-') ? c : '_';
  if (out.empty() or std::isalpha(static_cast<unsigned char>(out.front())) == 0)
    out = "t" + out;
  return out;
}

class ScenarioWriter {
public:
  ScenarioWriter(const RecordedWorkload& workload, const ImportOptions& options)
      : workload_(workload), options_(options) {
    fit_tables();
    if (options.as_mix)
      mix_ = fit_mix(workload);
    else
      mix_.replayed = workload.transactions;
  }

  WrittenScenario write() {
    describe();
    WrittenScenario out;
    if (not mix_.replayed.empty())
      out.list = list();
    out.yaml = yaml();
    out.report = std::move(report_);
    return out;
  }

private:
  void fit_tables() {
    std::set<std::string> taken;
    tables_.resize(workload_.tables.size());
    for (std::size_t i = 0; i < workload_.tables.size(); ++i) {
      const RecordedTable& recorded = workload_.tables[i];
      if (recorded.ignored or recorded.inserts + recorded.updates + recorded.deletes == 0)
        continue;
      tables_[i] = fit_table(recorded);
      std::string& name = tables_[i].table.name;
      name = plain(name);
      if (taken.contains(name))
        name = plain(tables_[i].table.schema + "_" + name);
      while (not taken.insert(name).second)
        name += "_" + std::to_string(recorded.relation.node);
      used_.push_back(i);
      for (Column& column : by_name_.emplace(name, tables_[i].table).first->second.columns)
        column.name = plain(column.name);
    }
  }

  // -- the report

  void figure(const std::string& name, double value) { report_.figures.emplace_back(name, value); }
  void say(std::string sentence) { report_.lines.push_back(std::move(sentence)); }

  void describe() {
    const RecordedWorkload& w = workload_;
    figure("span_s", w.span_s);
    figure("committed_transactions", static_cast<double>(w.committed));
    figure("committed_without_rows", static_cast<double>(w.committed_without_rows));
    figure("rolled_back_transactions", static_cast<double>(w.rolled_back));
    figure("committed_changes", static_cast<double>(w.committed_changes));
    figure("subtransactions", static_cast<double>(w.subtransactions));
    figure("subtransactions_rolled_back", static_cast<double>(w.subtransactions_rolled_back));
    figure("catalog_transactions", static_cast<double>(w.catalog_transactions));
    figure("invalidation_messages", static_cast<double>(w.invalidations));
    figure("wal_bytes", static_cast<double>(w.wal_bytes));
    figure("page_image_bytes", static_cast<double>(w.image_bytes));
    Bytes wide_bytes = 0;
    for (const RecordedTable& table : w.tables)
      wide_bytes += table.ignored ? 0 : table.wide_bytes;
    figure("out_of_line_bytes", static_cast<double>(wide_bytes));
    figure("out_of_line_chunks", static_cast<double>(w.toast_rows - w.toast_rows_alone));
    say(fmt::format("{}{}: {} committed transactions that change rows ({} changes), {} rolled back",
                    w.wal_bytes > 0 ? format_bytes(static_cast<double>(w.wal_bytes)) + " of WAL in " : "",
                    format_duration(w.span_s), format_count(w.committed - w.committed_without_rows),
                    format_count(w.committed_changes), format_count(w.rolled_back)));
    describe_left_out();
    describe_wal();
    for (const std::size_t i : used_)
      describe_table(i);
    if (options_.as_mix)
      describe_mix();
  }

  void describe_left_out() {
    const RecordedWorkload& w = workload_;
    const auto note = [&](const std::string& what, std::int64_t count, const std::string& sentence) {
      if (count > 0)
        say(fmt::format("{}: {}; {}", what, format_count(count), sentence));
    };
    note("further commits, without a changed row that is decoded", w.committed_without_rows,
         "DDL, VACUUM, ANALYZE, locks, or reads with an xid: not replayed");
    note("transactions that changed catalogs", w.catalog_transactions,
         fmt::format(
             "with {} invalidation messages: their rows, if any, are replayed, what decoding does about the "
             "catalogs is not",
             format_count(w.invalidations)));
    note("subtransactions rolled back alone", w.subtransactions_rolled_back,
         fmt::format("whose they were is inferred for {}, as pg_waldump does not print it",
                     format_count(w.rolled_back_by_inference)));
    note("TRUNCATE records", w.truncates, "not replayed");
    note("rows of TOAST tables without a row that they belong to", w.toast_rows_alone, "not replayed");
    note("transactions begun before the first record", w.begun_before,
         "only what they did since is replayed");
    note("transactions that had not ended at the last record", w.unfinished, "left out");
    note("commits of other databases", w.other_databases, "their WAL is part of other_wal");
    note("commits stamped more than a second before an earlier one", w.clock_went_back,
         "the clock was set back, or the zone changed");
  }

  void describe_wal() {
    std::vector<double> each;
    for (const RecordedSteps& steps : workload_.distinct)
      each.push_back(fitted_wal_bytes(steps, tables_));
    double fitted = 0;
    for (const RecordedTransaction& transaction : workload_.transactions)
      fitted += each[transaction.steps];
    const auto recorded = static_cast<double>(workload_.change_wal_bytes);
    if (recorded <= 0)
      return;
    figure("change_wal_bytes", recorded);
    figure("fitted_change_wal_bytes", fitted);
    say(fmt::format("their records without page images: {}; the scenario's tables give {} ({:+.1f} %)",
                    format_bytes(recorded), format_bytes(fitted), 100 * (fitted / recorded - 1)));
    say(fmt::format("everything else ({}, of it {} page images) is other_wal, evenly",
                    format_bytes(static_cast<double>(other_wal())),
                    format_bytes(static_cast<double>(workload_.image_bytes))));
  }

  void describe_table(std::size_t i) {
    const RecordedTable& recorded = workload_.tables[i];
    const Table& table = tables_[i].table;
    std::string line = fmt::format("table {}: {} inserted, {} updated ({:.0f} % HOT), {} deleted", table.name,
                                   format_count(recorded.inserts), format_count(recorded.updates),
                                   100 * table.hot_updates, format_count(recorded.deletes));
    if (recorded.new_tuple.count() > 0)
      line += fmt::format("; tuples of {:.1f} bytes on average, here {}", recorded.new_tuple.mean(),
                          tuple_len(table));
    if (recorded.wide_bytes > 0)
      line += fmt::format("; {} out of line, of {} rows and batches of COPY: here {}",
                          format_bytes(static_cast<double>(recorded.wide_bytes)),
                          format_count(recorded.wide_records), wide_text(tables_[i]));
    say(std::move(line));
  }

  static std::string wide_text(const FittedTable& fitted) {
    if (fitted.wide_column < 0)
      return "in line, as so little comes to each row";
    const Column& column = fitted.table.columns[static_cast<std::size_t>(fitted.wide_column)];
    return fmt::format("{} bytes in column {} of each row that is inserted, or updated with such a value",
                       format_count(column.width_bytes), column.name);
  }

  void describe_mix() {
    const MixFit& fit = mix_.fit;
    figure("flows", static_cast<double>(mix_.flows.size()));
    figure("transactions_in_flows", fit.transactions_in_flows);
    figure("changes_in_flows", fit.changes_in_flows);
    figure("rows_error", fit.rows_error);
    figure("sizes_distance", fit.sizes_distance);
    figure("gaps_distance", fit.gaps_distance);
    figure("gaps_distance_by_chance", fit.gaps_limit);
    figure("counts_dispersion", fit.counts_dispersion);
    say(fmt::format(
        "the mix: {} flows hold {:.2f} % of the transactions and {:.2f} % of the changes; the other {} "
        "transactions are replayed as recorded",
        mix_.flows.size(), 100 * fit.transactions_in_flows, 100 * fit.changes_in_flows,
        format_count(std::ssize(mix_.replayed))));
    say(fmt::format(
        "goodness of fit: rows of the flows {:+.2f} %; distributions of rows per transaction differ by at "
        "most {:.3f}; those of the gaps between commits by {:.3f} (chance alone: {:.3f}); commits per "
        "second vary {:.2f} times as much as a Poisson process would",
        100 * fit.rows_error, fit.sizes_distance, fit.gaps_distance, fit.gaps_limit, fit.counts_dispersion));
  }

  /// WAL that the replayed transactions do not write: page images, vacuum, catalogs, other databases.
  Bytes other_wal() const {
    constexpr double page_headers = 8192.0 / (8192 - 24);
    const auto changes = static_cast<Bytes>(static_cast<double>(workload_.change_wal_bytes) * page_headers);
    return std::max<Bytes>(0, workload_.wal_bytes - changes);
  }

  // -- the list of transactions

  std::string steps(const RecordedSteps& recorded) const {
    std::vector<TransactionStep> out;
    for (const RecordedStep& step : recorded) {
      const std::string savepoint = "s" + std::to_string(step.rows);
      switch (step.kind) {
      case RecordedStep::Kind::Savepoint:
        out.emplace_back(SavepointStep{savepoint});
        break;
      case RecordedStep::Kind::RollbackTo:
        out.emplace_back(RollbackToStep{savepoint});
        break;
      case RecordedStep::Kind::Release:
        out.emplace_back(ReleaseStep{savepoint});
        break;
      default:
        out.emplace_back(statement_of(step, tables_[step.table]));
      }
    }
    return steps_text(out, by_name_);
  }

  std::string list() const {
    std::string out = fmt::format("{}\n", replay_header);
    std::vector<std::size_t> numbers(workload_.distinct.size(), 0);
    std::size_t last = 0;
    for (const RecordedTransaction& t : mix_.replayed) {
      out += fmt::format("{:.6f},{:.6f},{},", t.at_s, t.lasts_s, t.rolled_back ? "rollback" : "commit");
      std::size_t& number = numbers[t.steps];
      if (number > 0) {
        out += fmt::format("{}\n", number);
      } else {
        number = ++last;
        out += fmt::format("{}: {}\n", number, steps(workload_.distinct[t.steps]));
      }
    }
    return out;
  }

  // -- the scenario

  std::string yaml() {
    std::string out = fmt::format("# Written by `replisim import` from {}.\n#\n", workload_.source);
    for (const std::string& line : report_.lines)
      out += wrapped_comment(line);
    out += fmt::format("replisim: 1\nname: {}\nprofile: {}\nhosts: {{db: {}}}\n", quoted(title()),
                       options_.profile, options_.machine);
    out += fmt::format(
        "servers:\n  pub: {{host: db, version: {0}, settings: {{full_page_writes: off}}}} # page images "
        "are in other_wal, as recorded\n  sub: {{host: db, version: {0}}}\n",
        options_.version);
    out += tables_yaml();
    out += workload_yaml();
    out += guesses_yaml();
    return out;
  }

  std::string title() const {
    return options_.name.empty() ? fmt::format("the workload recorded in {}", workload_.source)
                                 : options_.name;
  }

  static std::string quoted(const std::string& text) {
    std::string out = "\"";
    for (const char c : text)
      out += (c == '"' or c == '\\') ? std::string{'\\', c} : std::string{c};
    return out + "\"";
  }

  static std::string wrapped_comment(const std::string& line) {
    constexpr std::size_t width = 108;
    std::string out, row = "# -";
    std::size_t start = 0;
    while (start < line.size()) {
      const std::size_t end = std::min(line.find(' ', start), line.size());
      if (row.size() + 1 + end - start > width) {
        out += row + "\n";
        row = "#  ";
      }
      row += " " + line.substr(start, end - start);
      start = end + 1;
    }
    return out + row + "\n";
  }

  std::string tables_yaml() const {
    std::string out = "tables:\n";
    std::vector<std::string> published;
    for (const std::size_t i : used_) {
      const Table& table = tables_[i].table;
      std::vector<std::string> columns, key;
      for (const Column& column : table.columns)
        columns.push_back(fmt::format("{}: {}", plain(column.name), column_type_text(column)));
      for (const int position : table.primary_key)
        key.push_back(plain(table.columns[static_cast<std::size_t>(position)].name));
      out += fmt::format("  {}:\n    columns: {{{}}}\n", table.name, fmt::join(columns, ", "));
      if (table.schema != "public")
        out += fmt::format("    schema: {}\n", plain(table.schema));
      if (not key.empty())
        out += fmt::format("    primary_key: [{}]\n", fmt::join(key, ", "));
      if (table.replica_identity != ReplicaIdentity::Default)
        out += fmt::format("    replica_identity: {}\n",
                           table.replica_identity == ReplicaIdentity::Full ? "full" : "nothing");
      if (table.initial_rows > 0)
        out += fmt::format("    rows: {}\n", table.initial_rows);
      if (table.secondary_indexes > 0)
        out += fmt::format("    secondary_indexes: {}\n", table.secondary_indexes);
      if (table.hot_updates > 0)
        out += fmt::format("    hot_updates: {:.4g}%\n", 100 * table.hot_updates);
      if (tables_[i].can_be_published)
        published.push_back(table.name);
    }
    out += fmt::format("publications: {{p: {{server: pub, tables: [{}]}}}}\n", fmt::join(published, ", "));
    out += fmt::format("subscriptions: {{s: {{server: sub, publication: p{}}}}}\n",
                       options_.streaming.empty() ? "" : ", streaming: " + options_.streaming);
    return out;
  }

  std::string workload_yaml() const {
    std::string out = "workload:\n";
    if (not mix_.replayed.empty()) {
      std::filesystem::path list_file = options_.file;
      list_file.replace_extension(".csv");
      out += fmt::format("  recorded: {{server: pub, replay: {}}}\n", quoted(list_file.filename().string()));
    }
    for (std::size_t i = 0; i < mix_.flows.size(); ++i)
      out += flow_yaml(mix_.flows[i], i);
    const double span_s = std::max(workload_.span_s, 0.001);
    const double rate = static_cast<double>(other_wal()) / span_s;
    if (rate >= 1)
      out += fmt::format("  other_records: {{server: pub, other_wal: {:.0f}B/s, until: {:.3f}s}}\n", rate,
                         span_s);
    return out;
  }

  std::string flow_step(const RecordedStep& step) const {
    const FittedTable& fitted = tables_[step.table];
    std::string set;
    for (const Assignment& assignment : statement_of(step, fitted).assignments)
      set = fmt::format(", set: {{{}: typical}}",
                        plain(fitted.table.columns[static_cast<std::size_t>(assignment.column)].name));
    return fmt::format("{{{}: {}, rows: {}{}}}", to_string(operation_of(step)), fitted.table.name, step.rows,
                       set);
  }

  std::string flow_yaml(const MixFlow& flow, std::size_t index) const {
    std::vector<std::string> what;
    for (const RecordedStep& step : flow.steps)
      what.push_back(flow_step(step));
    std::string out = fmt::format(
        "  flow{}:\n    server: pub\n    rate: {:.6g}/s\n    arrivals: {}\n    until: {:.3f}s\n", index + 1,
        flow.rate_per_s, flow.poisson ? "poisson" : "fixed", std::max(workload_.span_s, 0.001));
    out += fmt::format("    transaction: [{}]\n", fmt::join(what, ", "));
    if (flow.curve.empty())
      return out;
    std::vector<std::string> points;
    for (std::size_t i = 0; i < flow.curve.size(); ++i)
      points.push_back(fmt::format("{{at: {:.3f}s, factor: {:.4g}}}",
                                   static_cast<double>(i) * flow.curve_interval_s, flow.curve[i]));
    out += "    curve:\n";
    for (const std::string& point : points)
      out += "      - " + point + "\n";
    return out;
  }

  std::string guesses_yaml() const {
    std::string out = "guessed:\n  hosts.db.machine: WAL does not tell on which machine it was written\n"
                      "  servers.pub.version: the version to be simulated, not the one that wrote the WAL\n";
    for (const std::size_t i : used_) {
      const FittedTable& fitted = tables_[i];
      if (not fitted.columns_known)
        out += fmt::format(
            "  tables.{}.columns: WAL shows lengths and no columns; the tuple is as long as recorded\n",
            fitted.table.name);
      if (not fitted.rows_known and fitted.table.initial_rows > 0)
        out +=
            fmt::format("  tables.{}.rows: as many as fit below the highest block seen\n", fitted.table.name);
    }
    return out;
  }

  const RecordedWorkload& workload_;
  const ImportOptions& options_;
  std::vector<FittedTable> tables_; ///< by index of the recorded ones
  std::vector<std::size_t> used_;
  std::map<std::string, Table> by_name_;
  Mix mix_;
  ImportReport report_;
};

} // namespace

WrittenScenario write_scenario(const RecordedWorkload& workload, const ImportOptions& options) {
  return ScenarioWriter(workload, options).write();
}

} // namespace replisim
