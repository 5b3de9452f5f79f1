#include "calibration/import/import_files.hpp"

#include "calibration/import/pgbench_workload.hpp"
#include "calibration/readers/reader.hpp"
#include "models/base/errors.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace replisim {

namespace fs = std::filesystem;

namespace {

enum class Kind { WalDump, PgbenchLog, Unknown };

Kind kind_of(const readers::LineInput& input) {
  const readers::FileHead head{input.file(), input.head(), input.head_is_all()};
  std::string why;
  WalLine record;
  std::size_t wal = 0, pgbench = 0;
  for (const std::string_view line : head.lines(20)) {
    wal += parse_wal_line(line, record, why) ? 1 : 0;
    pgbench += readers::parse_pgbench_transaction(line, why) ? 1 : 0;
  }
  if (wal == 0 and pgbench == 0)
    return Kind::Unknown;
  return wal >= pgbench ? Kind::WalDump : Kind::PgbenchLog;
}

std::uint64_t size_of(const fs::path& file) {
  std::error_code error;
  const auto bytes = fs::file_size(file, error);
  return error ? 0 : bytes;
}

class Importer {
public:
  Importer(const ImportSources& sources, readers::Problems& problems, const ImportProgress& progress)
      : sources_(sources), problems_(problems), progress_(progress),
        wal_(sources.tables.empty() ? TableNames() : read_table_names(sources.tables)),
        pgbench_(sources.scripts, sources.scale) {
    for (const fs::path& file : sources.files)
      total_bytes_ += size_of(file);
  }

  RecordedWorkload run() {
    for (const fs::path& file : sources_.files)
      read(file);
    RecordedWorkload out = kind_ == Kind::WalDump ? wal_.finish(sources_.database) : pgbench_.finish();
    std::vector<std::string> names;
    for (const fs::path& file : sources_.files)
      names.push_back(file.filename().string());
    out.source = fmt::format("{}", fmt::join(names, ", "));
    if (out.transactions.empty())
      throw UsageError(
          fmt::format("{}: {} records were read, and no transaction in them changes a row of a table "
                      "that is decoded{}",
                      out.source, out.records, why_nothing(out)));
    return out;
  }

private:
  void read(const fs::path& file) {
    std::error_code error;
    if (file != "-" and not fs::exists(file, error))
      throw UsageError(fmt::format("there is no file '{}'", file.string()));
    if (fs::is_directory(file, error))
      throw UsageError(
          fmt::format("'{}' is a folder; import reads the output of pg_waldump, or logs of pgbench --log",
                      file.string()));
    readers::LineInput::Progress report;
    if (progress_)
      report = [this](std::uint64_t bytes) {
        progress_(std::min(done_bytes_ + bytes, total_bytes_), total_bytes_);
      };
    auto input = readers::LineInput::open(file, problems_, std::move(report));
    if (not input.usable())
      return;
    // Commit records of DDL list their invalidation messages one by one: megabytes in a line.
    input.limit_lines(std::size_t{64} << 20);
    const Kind kind = kind_of(input);
    if (kind == Kind::Unknown)
      throw UsageError(
          fmt::format("{}: neither the output of pg_waldump (lines that begin with 'rmgr:') nor a log of "
                      "pgbench --log (client, number, latency, script, seconds, microseconds)",
                      file.string()));
    if (kind_ != Kind::Unknown and kind != kind_)
      throw UsageError(fmt::format("{}: it is of another kind than the files before it", file.string()));
    kind_ = kind;
    kind == Kind::WalDump ? read_wal(input) : read_pgbench(input);
    done_bytes_ += size_of(file);
  }

  void read_wal(readers::LineInput& input) {
    std::string_view line;
    std::string why;
    WalLine record;
    while (input.next(line)) {
      if (not parse_wal_line(line, record, why)) {
        if (not is_waldump_remark(line))
          input.report("no_record", why + "; it was left out");
        continue;
      }
      if (record.lsn < last_lsn_)
        input.report("wal_goes_back",
                     "the record lies before the one above it: the files are not in the order of the "
                     "WAL, or of two servers; it was left out");
      else
        wal_.add(record);
      last_lsn_ = std::max(last_lsn_, record.lsn);
    }
  }

  void read_pgbench(readers::LineInput& input) {
    std::string_view line;
    std::string why;
    while (input.next(line)) {
      const auto transaction = readers::parse_pgbench_transaction(line, why);
      if (transaction and pgbench_.knows(transaction->script))
        pgbench_.add(*transaction);
      else if (transaction)
        input.report("unknown_script", fmt::format("script {} was not named; --script says what each does",
                                                   transaction->script));
      else
        input.report("no_transaction", why + "; it was left out");
    }
  }

  std::string why_nothing(const RecordedWorkload& out) const {
    if (kind_ != Kind::WalDump)
      return "";
    if (sources_.database != 0)
      return fmt::format("; with --database {} only that database counts", sources_.database);
    return out.committed > 0 ? "; was the WAL written with wal_level = logical?" : "; it holds no commit";
  }

  const ImportSources& sources_;
  readers::Problems& problems_;
  const ImportProgress& progress_;
  WalCollector wal_;
  PgbenchWorkload pgbench_;
  Kind kind_ = Kind::Unknown;
  Lsn last_lsn_;
  std::uint64_t done_bytes_ = 0, total_bytes_ = 0;
};

} // namespace

RecordedWorkload import_files(const ImportSources& sources, readers::Problems& problems,
                              const ImportProgress& progress) {
  return Importer(sources, problems, progress).run();
}

} // namespace replisim
