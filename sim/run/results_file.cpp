#include "sim/run/results_file.hpp"

#include "models/base/errors.hpp"
#include "sim/run/json_reading.hpp"
#include "sim/run/replications.hpp"
#include "sim/run/result_json.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cstring>
#include <filesystem>
#include <utility>

#include <fcntl.h>
#include <unistd.h>

namespace replisim {

using nlohmann::json;

namespace {

constexpr const char* tables = R"(
CREATE TABLE sweep (
  scenario TEXT NOT NULL, scenario_hash TEXT NOT NULL, program TEXT NOT NULL,
  seed TEXT NOT NULL, replications INTEGER NOT NULL, points INTEGER NOT NULL,
  overrides TEXT NOT NULL, axes TEXT NOT NULL, sample TEXT NOT NULL, guesses TEXT NOT NULL,
  columns TEXT NOT NULL, shard INTEGER NOT NULL, shards INTEGER NOT NULL);
CREATE TABLE run (
  run INTEGER PRIMARY KEY, point INTEGER NOT NULL, replication INTEGER NOT NULL, seed TEXT NOT NULL,
  status TEXT NOT NULL, reason TEXT, bottleneck TEXT, scenario_hash TEXT, fingerprint TEXT, warnings TEXT);
CREATE TABLE setting (
  point INTEGER NOT NULL, position INTEGER NOT NULL, label TEXT NOT NULL,
  PRIMARY KEY (point, position)) WITHOUT ROWID;
CREATE TABLE metric (id INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE);
CREATE TABLE value (
  run INTEGER NOT NULL, metric INTEGER NOT NULL, value REAL,
  PRIMARY KEY (run, metric)) WITHOUT ROWID;
CREATE TABLE cost (run INTEGER PRIMARY KEY, wall_s REAL, cpu_s REAL, peak_memory_bytes INTEGER);
CREATE VIEW result AS
  SELECT run.run, run.point, run.replication, run.seed, metric.name AS metric, value.value
  FROM run JOIN value USING (run) JOIN metric ON metric.id = value.metric;
)";

/// Of one sweep: above what anybody runs, and a bit of memory each.
constexpr std::int64_t most_stored_runs = 1'000'000'000;

std::string pragma(const std::string& name, int value) { return fmt::format("PRAGMA {} = {};", name, value); }

[[noreturn]] void damaged(const Database& database, const std::string& why) {
  throw UsageError(fmt::format("the results database '{}' is damaged: {}", database.file(), why));
}

/// Throws unless `database` is a results file of this version.
void require_results(Database& database) {
  if (database.scalar("PRAGMA application_id") != results_application_id)
    throw UsageError(
        fmt::format("'{}' is an SQLite database, but holds no results of replisim", database.file()));
  // What a schema can say beside plain tables may run for ever.
  database.execute("PRAGMA trusted_schema = OFF");
  const auto version = database.scalar("PRAGMA user_version");
  if (version != results_schema_version)
    throw UsageError(fmt::format("'{}' has tables of version {}; this program knows version {}",
                                 database.file(), version, results_schema_version));
  const auto found = database.scalar("SELECT count(*) FROM sqlite_master WHERE type = 'table' AND name IN "
                                     "('sweep', 'run', 'setting', 'metric', 'value', 'cost')");
  if (found != 6)
    damaged(database, "a table of results is missing");
}

/// The JSON text of one column of the sweep.
json stored_json(const Database& database, const SqlStatement& row, int column) {
  json out = parse_json(row.text(column));
  if (out.is_discarded())
    damaged(database, "what the sweep varies cannot be read");
  return out;
}

std::uint64_t stored_number(const Database& database, const std::string& text) {
  std::uint64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() or end != text.data() + text.size())
    damaged(database, fmt::format("'{}' is no seed", text));
  return value;
}

SweepIdentity read_identity(Database& database, Shard& shard) {
  SqlStatement select(database,
                      "SELECT scenario, scenario_hash, program, seed, replications, points, overrides, "
                      "axes, sample, guesses, columns, shard, shards FROM sweep");
  if (not select.step())
    throw UsageError(fmt::format("'{}' does not say which sweep it belongs to", database.file()));
  SweepIdentity out;
  out.scenario = select.text(0);
  out.scenario_hash = select.text(1);
  out.program = select.text(2);
  out.seed = stored_number(database, select.text(3));
  const std::int64_t replications = select.integer(4), points = select.integer(5);
  if (replications < 1 or points < 0 or replications > most_stored_runs or
      points > most_stored_runs / replications)
    damaged(database,
            fmt::format("it says that it has {} points with {} replications", points, replications));
  out.replications = static_cast<int>(replications);
  out.points = static_cast<std::uint64_t>(points);
  out.overrides = stored_json(database, select, 6);
  out.axes = stored_json(database, select, 7);
  out.sample = stored_json(database, select, 8);
  out.guesses = stored_json(database, select, 9);
  try {
    out.columns = stored_json(database, select, 10).get<std::vector<std::string>>();
  } catch (const json::exception&) {
    damaged(database, "the names of its columns cannot be read");
  }
  shard = {static_cast<std::uint64_t>(select.integer(11)), static_cast<std::uint64_t>(select.integer(12))};
  if (shard.number < 1 or shard.number > shard.of)
    damaged(database, fmt::format("it says that it is shard {} of {}", shard.number, shard.of));
  return out;
}

void write_identity(Database& database, const SweepIdentity& identity, const Shard& shard) {
  SqlStatement insert(database, "INSERT INTO sweep VALUES (?,?,?,?,?,?,?,?,?,?,?,?,?)");
  insert.bind(1, identity.scenario)
      .bind(2, identity.scenario_hash)
      .bind(3, identity.program)
      .bind(4, std::to_string(identity.seed))
      .bind(5, std::int64_t{identity.replications})
      .bind(6, static_cast<std::int64_t>(identity.points))
      .bind(7, identity.overrides.dump())
      .bind(8, identity.axes.dump())
      .bind(9, identity.sample.dump())
      .bind(10, identity.guesses.dump())
      .bind(11, json(identity.columns).dump())
      .bind(12, static_cast<std::int64_t>(shard.number))
      .bind(13, static_cast<std::int64_t>(shard.of));
  insert.run();
}

/// Tables and identity in one transaction, so that a file either says what it is or is empty.
void initialise(Database& database, const SweepIdentity& identity, const Shard& shard) {
  Transaction transaction(database);
  database.execute(pragma("application_id", results_application_id) +
                   pragma("user_version", results_schema_version) + tables);
  write_identity(database, identity, shard);
  transaction.commit();
}

std::string shard_text(const Shard& shard) {
  return shard.of == 1 ? "the whole sweep" : fmt::format("shard {}/{}", shard.number, shard.of);
}

/// A new file, an empty one, or one that exists; anything that is no regular file is refused.
void require_plain_file(const std::string& file) {
  std::error_code error;
  const auto status = std::filesystem::status(file, error);
  if (std::filesystem::exists(status) and not std::filesystem::is_regular_file(status))
    throw UsageError(fmt::format("the results database '{}': this is no regular file", file));
}

} // namespace

/// A lock that ends with the process, however that ends, and that forked children do not hold.
class ResultsFile::Lock {
public:
  explicit Lock(const std::string& file) : path_(file + ".lock") {
    fd_ = ::open(path_.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0666);
    if (fd_ < 0)
      throw UsageError(
          fmt::format("the results database '{}' cannot be written: {}", file, std::strerror(errno)));
    struct flock whole {};
    whole.l_type = F_WRLCK;
    if (::fcntl(fd_, F_SETLK, &whole) == 0)
      return;
    ::close(fd_);
    throw UsageError(fmt::format("another sweep is writing '{}'; wait for it, or end it", file));
  }
  ~Lock() {
    ::unlink(path_.c_str());
    ::close(fd_);
  }
  Lock(const Lock&) = delete;
  Lock& operator=(const Lock&) = delete;

private:
  std::string path_;
  int fd_ = -1;
};

struct ResultsFile::Writer {
  explicit Writer(Database& db)
      : run(db, "INSERT OR IGNORE INTO run VALUES (?,?,?,?,?,?,?,?,?,?)"),
        setting(db, "INSERT OR IGNORE INTO setting VALUES (?,?,?)"),
        metric(db, "INSERT OR IGNORE INTO metric (name) VALUES (?)"),
        metric_id(db, "SELECT id FROM metric WHERE name = ?"),
        value(db, "INSERT OR IGNORE INTO value VALUES (?,?,?)"),
        cost(db, "INSERT OR IGNORE INTO cost VALUES (?,?,?,?)") {}
  SqlStatement run;
  SqlStatement setting;
  SqlStatement metric;
  SqlStatement metric_id;
  SqlStatement value;
  SqlStatement cost;
};

Shard parse_shard(const std::string& text) {
  const auto slash = text.find('/');
  Shard shard;
  const auto read = [](std::string_view part, std::uint64_t& value) {
    const auto [end, error] = std::from_chars(part.data(), part.data() + part.size(), value);
    return error == std::errc() and end == part.data() + part.size();
  };
  const bool whole = slash != std::string::npos and
                     read(std::string_view(text).substr(0, slash), shard.number) and
                     read(std::string_view(text).substr(slash + 1), shard.of);
  if (not whole or shard.number < 1 or shard.number > shard.of)
    throw UsageError(fmt::format("'{}' is no shard; write K/N with K from 1 to N, as in 2/8", text));
  return shard;
}

std::string difference(const SweepIdentity& mine, const SweepIdentity& other) {
  if (mine.scenario_hash != other.scenario_hash or mine.overrides != other.overrides)
    return fmt::format("another scenario ('{}', hash {}, --set {})", other.scenario, other.scenario_hash,
                       other.overrides.dump());
  if (mine.axes != other.axes or mine.sample != other.sample)
    return "other axes: " + other.axes.dump();
  if (mine.seed != other.seed or mine.replications != other.replications)
    return fmt::format("seed {} with {} replication{}", other.seed, other.replications,
                       other.replications == 1 ? "" : "s");
  if (mine.program != other.program)
    return fmt::format("another version of the program ({})", other.program);
  return {};
}

ResultsFile::ResultsFile(std::unique_ptr<Database> database, SweepIdentity identity, Shard shard)
    : database_(std::move(database)), identity_(std::move(identity)), shard_(shard) {}

ResultsFile ResultsFile::create_or_resume(const std::string& file, const SweepIdentity& identity,
                                          const Shard& shard) {
  require_plain_file(file);
  auto lock = std::make_shared<Lock>(file);
  auto database = std::make_unique<Database>(file, Database::Mode::Create);
  // A commit reaches the operating system at once and the disk with sync().
  database->execute("PRAGMA journal_mode = WAL; PRAGMA synchronous = NORMAL;");
  if (database->scalar("SELECT count(*) FROM sqlite_master") == 0)
    initialise(*database, identity, shard);
  require_results(*database);
  Shard found_shard;
  const SweepIdentity found = read_identity(*database, found_shard);
  if (const auto what = difference(identity, found); not what.empty())
    throw UsageError(
        fmt::format("'{}' belongs to another sweep: it was made with {}; choose another file", file, what));
  if (not(found_shard == shard))
    throw UsageError(fmt::format("'{}' holds {}, and {} was asked for; choose another file", file,
                                 shard_text(found_shard), shard_text(shard)));
  ResultsFile out(std::move(database), identity, shard);
  out.lock_ = std::move(lock);
  out.writer_ = std::make_shared<Writer>(*out.database_);
  return out;
}

ResultsFile ResultsFile::open(const std::string& file) {
  std::error_code error;
  if (not std::filesystem::exists(file, error))
    throw UsageError(fmt::format("there is no file '{}'", file));
  require_plain_file(file);
  auto database = std::make_unique<Database>(file, Database::Mode::Read);
  require_results(*database);
  Shard shard;
  SweepIdentity identity = read_identity(*database, shard);
  return {std::move(database), std::move(identity), shard};
}

ResultsFile::~ResultsFile() {
  if (database_ == nullptr or writer_ == nullptr)
    return;
  writer_.reset();
  try {
    database_->execute("PRAGMA busy_timeout = 0; PRAGMA journal_mode = DELETE;");
  } catch (const UsageError&) { // a reader, or a full disk: the log stays, and is read with the file
  }
}

std::vector<bool> ResultsFile::finished_runs() {
  std::vector<bool> out(identity_.points * static_cast<std::uint64_t>(identity_.replications), false);
  SqlStatement select(*database_, "SELECT run FROM run");
  while (select.step())
    if (const auto run = static_cast<std::uint64_t>(select.integer(0)); run < out.size())
      out[run] = true;
  return out;
}

std::uint64_t ResultsFile::count(bool failed) {
  return static_cast<std::uint64_t>(database_->scalar(
      fmt::format("SELECT count(*) FROM run WHERE status {} 'failed'", failed ? "=" : "<>")));
}

void ResultsFile::drop_failed() {
  Transaction transaction(*database_);
  database_->execute("DELETE FROM cost WHERE run IN (SELECT run FROM run WHERE status = 'failed');"
                     "DELETE FROM run WHERE status = 'failed'");
  transaction.commit();
}

std::int64_t ResultsFile::metric_id(const std::string& name) {
  const auto known = metric_ids_.find(name);
  if (known != metric_ids_.end())
    return known->second;
  writer_->metric.bind(1, name).run();
  writer_->metric_id.bind(1, name);
  writer_->metric_id.step();
  const auto id = writer_->metric_id.integer(0);
  writer_->metric_id.reset();
  metric_ids_[name] = id;
  return id;
}

void ResultsFile::record(const std::vector<RunRow>& rows) {
  Transaction transaction(*database_);
  const auto replications = static_cast<std::uint64_t>(identity_.replications);
  const auto optional_text = [](SqlStatement& statement, int index, const std::string& text, bool present) {
    if (present)
      statement.bind(index, text);
    else
      statement.bind_null(index);
  };
  for (const RunRow& row : rows) {
    const auto run = static_cast<std::int64_t>(row.run);
    const auto point = static_cast<std::int64_t>(row.run / replications);
    const int replication = static_cast<int>(row.run % replications) + 1;
    const auto& result = row.outcome.result;
    auto& w = *writer_;
    w.run.bind(1, run).bind(2, point).bind(3, std::int64_t{replication});
    w.run.bind(4, std::to_string(replication_seed(identity_.seed, replication)));
    w.run.bind(5, result ? "done" : "failed");
    optional_text(w.run, 6, row.outcome.error, not result);
    optional_text(w.run, 7, result ? result->bottleneck : "", result.has_value());
    optional_text(w.run, 8, result ? result->scenario_hash : "", result.has_value());
    optional_text(w.run, 9, result ? hex64(result->fingerprint) : "", result.has_value());
    const bool warned = result and not result->warnings.empty();
    optional_text(w.run, 10, warned ? json(result->warnings).dump() : "", warned);
    w.run.run();
    for (std::size_t i = 0; i < row.point.labels.size(); ++i)
      w.setting.bind(1, point)
          .bind(2, static_cast<std::int64_t>(i))
          .bind(3, row.point.labels[i].second)
          .run();
    w.cost.bind(1, run).bind(2, row.wall_s).bind(3, row.cpu_s).bind(4, row.peak_memory_bytes).run();
    if (not result)
      continue;
    for (const auto& [name, value] : result->metrics)
      w.value.bind(1, run).bind(2, metric_id(name)).bind(3, value).run();
    if (result->subscriptions.size() > 1)
      for (const auto& [subscription, metrics] : result->subscriptions)
        for (const auto& [name, value] : metrics)
          w.value.bind(1, run)
              .bind(2, metric_id(fmt::format("subscriptions.{}.{}", subscription, name)))
              .bind(3, value)
              .run();
  }
  transaction.commit();
}

void ResultsFile::sync() { database_->execute("PRAGMA wal_checkpoint(PASSIVE)"); }

} // namespace replisim
