#include "calibration/readers/wal_files.hpp"

#include "calibration/import/wal_dump.hpp"
#include "calibration/readers/text_scan.hpp"
#include "calibration/readers/zones.hpp"
#include "models/base/units.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <string>
#include <utility>

namespace replisim::readers {

namespace {

/// Records of one kind.
struct RecordSum {
  std::int64_t count = 0;
  std::int64_t record_bytes = 0; ///< page images left out
  std::int64_t image_bytes = 0;
};

/// "Heap/INSERT": those that a change of a row is, MULTI_INSERT aside, which holds several.
bool is_row_change(std::string_view record) {
  const std::string_view action = record.substr(0, record.find('+'));
  return action == "Heap/INSERT" or action == "Heap/UPDATE" or action == "Heap/HOT_UPDATE" or
         action == "Heap/DELETE";
}

/// Books what records of all kinds come to.
class RecordFigures {
public:
  explicit RecordFigures(ReadContext& context) : context_(context) {}

  void add(const std::string& record, const RecordSum& sum, std::uint64_t line) {
    const Labels labels = {{"record", record}};
    put("wal_records", static_cast<double>(sum.count), labels, "", line);
    put("wal_record_bytes", static_cast<double>(sum.record_bytes), labels, "page images left out", line);
    if (sum.image_bytes > 0)
      put("wal_fpi_bytes", static_cast<double>(sum.image_bytes), labels, "page images", line);
    all_.count += sum.count;
    all_.record_bytes += sum.record_bytes;
    all_.image_bytes += sum.image_bytes;
    row_changes_ += is_row_change(record) ? sum.count : 0;
    has_batches_ = has_batches_ or record.starts_with("Heap2/MULTI_INSERT");
    by_record_ = by_record_ or record.find('/') != std::string::npos;
    commits_ += record == "Transaction/COMMIT" or record == "Transaction/COMMIT_PREPARED" ? sum.count : 0;
  }

  /// `rows_of_batches`: of MULTI_INSERT records; nothing: not known.
  void finish(std::uint64_t line, std::optional<std::int64_t> rows_of_batches) {
    put("wal_records", static_cast<double>(all_.count), {}, "of all kinds", line);
    put("wal_bytes", static_cast<double>(all_.record_bytes + all_.image_bytes), {}, "records and page images",
        line);
    put("wal_fpi_bytes", static_cast<double>(all_.image_bytes), {}, "page images", line);
    if (not by_record_)
      return;
    put("committed_transactions", static_cast<double>(commits_), {}, "commit records", line);
    const bool is_exact = rows_of_batches.has_value() or not has_batches_;
    put("changes", static_cast<double>(row_changes_ + rows_of_batches.value_or(0)), {},
        is_exact ? "rows inserted, updated, deleted; catalogs and TOAST chunks included"
                 : "at least: rows of COPY are batches of unknown size; catalogs and TOAST chunks included",
        line);
  }

  const RecordSum& all() const { return all_; }

private:
  void put(std::string metric, double value, Labels labels, std::string how, std::uint64_t line) {
    context_.observation.figures.push_back(
        {std::move(metric), value, {}, std::move(labels), std::move(how), context_.place(line, line)});
  }

  ReadContext& context_;
  RecordSum all_;
  std::int64_t row_changes_ = 0;
  std::int64_t commits_ = 0;
  bool has_batches_ = false;
  bool by_record_ = false;
};

// -- the table of --stats

constexpr std::string_view statistics_title = "WAL statistics between ";

bool is_statistics_header(std::string_view line) {
  return line.starts_with("Type ") and line.find("Record size") != std::string_view::npos and
         line.find("FPI size") != std::string_view::npos;
}

class WalStatisticsReader final : public Reader {
public:
  std::string_view name() const override { return "pg-waldump-stats"; }
  std::string_view reads() const override { return "tables of pg_waldump --stats"; }

  Match recognises(const FileHead& head) const override {
    const auto lines = head.lines(20);
    return std::any_of(lines.begin(), lines.end(), is_statistics_header) ? Match::Certain : Match::No;
  }

  void read(LineInput& input, ReadContext& context) const override {
    context.info().format = "pg_waldump --stats";
    RecordFigures figures(context);
    std::map<std::string, std::uint64_t, std::less<>> seen;
    bool has_total = false;
    bool has_header = false;
    std::string_view line;
    while (input.next(line)) {
      if (line.starts_with(statistics_title))
        context.info().format =
            fmt::format("pg_waldump --stats, {}", TextScan(line.substr(statistics_title.size())).until(":"));
      if (is_statistics_header(line)) {
        if (std::exchange(has_header, true))
          input.report("repeated_header", "another table of --stats begins here; its rows are added");
        has_total = false;
        seen.clear();
        continue;
      }
      const auto row = parse_wal_statistics(line);
      if (not row) {
        report_foreign(line, input);
      } else if (row->record == "Total") {
        has_total = true;
        compare(*row, figures.all(), input);
      } else if (row->count > 0) {
        if (const auto [at, is_new] = seen.emplace(row->record, input.line_number()); not is_new)
          input.report("repeated_row", fmt::format("{} stands in line {} already; this row was left out",
                                                   row->record, at->second));
        else
          figures.add(std::string(row->record), {row->count, row->record_bytes, row->image_bytes},
                      input.line_number());
      }
    }
    if (not has_total)
      input.report_file("truncated", "ends before the row 'Total': rows are missing");
    figures.finish(input.line_number(), {});
  }

private:
  static void report_foreign(std::string_view line, LineInput& input) {
    const bool is_rule = line.find_first_not_of("- \t") == std::string_view::npos;
    if (is_rule or line.starts_with("----") or line.starts_with(statistics_title) or is_waldump_remark(line))
      return;
    input.report("no_row",
                 fmt::format("'{}' is no row 'Type N (%) Record size (%) FPI size (%) Combined size "
                             "(%)'; it was left out",
                             line.substr(0, 60)));
  }

  static void compare(const WalStatisticsRow& total, const RecordSum& sum, LineInput& input) {
    if (total.count != sum.count or total.all_bytes != sum.record_bytes + sum.image_bytes)
      input.report("total_differs",
                   fmt::format("the rows sum up to {} records and {} bytes, Total says {} and {}: rows are "
                               "missing or altered",
                               sum.count, sum.record_bytes + sum.image_bytes, total.count, total.all_bytes));
  }
};

// -- records

class DumpSums {
public:
  DumpSums(LineInput& input, ReadContext& context)
      : input_(input), context_(context), clock_(zone_offset(context.options)) {}

  void add(const WalLine& record) {
    if (not first_)
      first_ = record.lsn;
    end_ = record.lsn.value + static_cast<std::uint64_t>(record.total_bytes);
    key_.assign(record.manager);
    key_ += '/';
    key_ += record.action;
    Kind& kind = kinds_[key_];
    if (kind.sum.count++ == 0)
      kind.first_line = input_.line_number();
    kind.sum.record_bytes += record.record_bytes;
    kind.sum.image_bytes += record.total_bytes - record.record_bytes;
    if (record.base_action() == "MULTI_INSERT")
      rows_of_batches_ += record.tuples().value_or(0);
    if (record.manager == "Transaction")
      end_of_transaction(record);
  }

  void finish() {
    if (kinds_.empty())
      return input_.report_file("no_record", "holds no record of pg_waldump");
    RecordFigures figures(context_);
    for (const auto& [name, kind] : kinds_)
      figures.add(name, kind.sum, kind.first_line);
    figures.finish(input_.line_number(), rows_of_batches_);
    const auto put = [&](std::string metric, double value, std::string how) {
      context_.observation.figures.push_back(
          {std::move(metric), value, {}, {}, std::move(how), context_.place(1, input_.line_number())});
    };
    put("wal_span_bytes", static_cast<double>(end_ - first_->value),
        "from the first record to the last, other processes' page headers included");
    put("invalidation_messages", static_cast<double>(invalidations_), "in commit records");
    context_.info().format = fmt::format("records of pg_waldump from {} on", text_of(*first_));
    say_zone(clock_, input_);
  }

private:
  struct Kind {
    RecordSum sum;
    std::uint64_t first_line = 0;
  };

  static std::string text_of(Lsn lsn) {
    return fmt::format("{:X}/{:X}", lsn.value >> 32U, lsn.value & 0xffffffffU);
  }

  void end_of_transaction(const WalLine& record) {
    const std::string_view action = record.base_action();
    if (action != "COMMIT" and action != "COMMIT_PREPARED")
      return;
    ++commits_;
    std::string_view text = record.description.substr(record.action.size());
    if (const auto colon = text.find(": "); action == "COMMIT_PREPARED" and colon != std::string_view::npos)
      text.remove_prefix(colon + 1);
    text.remove_prefix(std::min(text.find_first_not_of(' '), text.size()));
    TimeUs at_us = 0;
    const bool has_time = clock_.read(text, at_us) > 0;
    if (has_time)
      note_time(at_us, record);
    const std::int64_t messages = invalidations_of(record.description);
    if (messages == 0)
      return;
    invalidations_ += messages;
    context_.observation.add({"catalog_change",
                              at_us,
                              {},
                              {{"xid", std::int64_t{record.xid}}, {"messages", messages}},
                              context_.place(input_.line_number(), input_.line_number())});
    context_.observation.series("invalidation_messages_per_commit", context_.source)
        .add({at_us, static_cast<double>(messages), input_.line_number()});
  }

  void note_time(TimeUs at_us, const WalLine& record) {
    constexpr TimeUs a_second = 1'000'000; // commit times are taken before the record is written
    if (context_.info().time_base == TimeBase::Wall and at_us + a_second < last_us_)
      return input_.report(
          "clock_back",
          fmt::format("the commit is stamped {:.3f} s before an earlier one: the clock or the zone "
                      "was changed; it is not in the series",
                      static_cast<double>(last_us_ - at_us) * 1e-6));
    context_.info().time_base = TimeBase::Wall;
    context_.info().see(at_us);
    last_us_ = std::max(last_us_, at_us);
    const std::uint64_t line = input_.line_number();
    context_.observation.series("wal_lsn", context_.source, {}, true)
        .add({last_us_, static_cast<double>(record.lsn.value), line});
    context_.observation.series("committed_transactions", context_.source, {}, true)
        .add({last_us_, static_cast<double>(commits_), line});
  }

  LineInput& input_;
  ReadContext& context_;
  LogClock clock_;
  std::map<std::string, Kind, std::less<>> kinds_;
  std::string key_;
  std::optional<Lsn> first_;
  std::uint64_t end_ = 0;
  std::int64_t rows_of_batches_ = 0;
  std::int64_t commits_ = 0;
  std::int64_t invalidations_ = 0;
  TimeUs last_us_ = 0;
};

class WalDumpReader final : public Reader {
public:
  std::string_view name() const override { return "pg-waldump"; }
  std::string_view reads() const override { return "records of pg_waldump"; }

  Match recognises(const FileHead& head) const override {
    std::string why;
    WalLine record;
    const auto lines = head.lines(20);
    const bool has_record = std::any_of(
        lines.begin(), lines.end(), [&](std::string_view line) { return parse_wal_line(line, record, why); });
    if (has_record)
      return Match::Certain;
    return head.text.starts_with("rmgr: ") ? Match::Likely
                                           : Match::No; // its first record is longer than that
  }

  void read(LineInput& input, ReadContext& context) const override {
    // Commit records of DDL list their invalidation messages one by one: megabytes in a line.
    input.limit_lines(std::size_t{64} << 20);
    DumpSums sums(input, context);
    WalLine record;
    std::string why;
    Lsn last;
    std::string_view line;
    while (input.next(line)) {
      if (not parse_wal_line(line, record, why)) {
        if (not is_waldump_remark(line))
          input.report("no_record", why + "; it was left out");
        continue;
      }
      if (record.lsn < last)
        input.report("wal_goes_back",
                     "the record lies before the one above it: the file is not in the order of the "
                     "WAL, or of two servers; it was left out");
      else
        sums.add(record);
      last = std::max(last, record.lsn);
    }
    sums.finish();
  }
};

} // namespace

std::optional<WalStatisticsRow> parse_wal_statistics(std::string_view line) {
  TextScan scan(line);
  WalStatisticsRow row;
  row.record = scan.until(" ");
  if (row.record.empty())
    return std::nullopt;
  std::int64_t* const cells[] = {&row.count, &row.record_bytes, &row.image_bytes, &row.all_bytes};
  for (std::int64_t* const cell : cells) {
    while (scan.skip(" "))
      ;
    const auto value = scan.whole();
    if (not value or *value < 0)
      return std::nullopt;
    *cell = *value;
    while (scan.skip(" "))
      ;
    // The share: "(  4.67)", in the Total row "[60.29%]" or none.
    if (scan.rest().starts_with('('))
      scan.skip_past(")");
    else if (scan.rest().starts_with('['))
      scan.skip_past("]");
  }
  return row;
}

std::unique_ptr<Reader> make_wal_dump_reader() { return std::make_unique<WalDumpReader>(); }
std::unique_ptr<Reader> make_wal_statistics_reader() { return std::make_unique<WalStatisticsReader>(); }

} // namespace replisim::readers
