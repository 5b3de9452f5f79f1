// The results of a sweep in one SQLite file: what the sweep is, and a row for every run that has ended.
// docs/sweeps.md describes the tables for people who open the file themselves.
#pragma once

#include "sim/run/database.hpp"
#include "sim/run/fork_pool.hpp"
#include "sim/run/point_job.hpp"
#include "sim/run/point_space.hpp"

#include <nlohmann/json.hpp>

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

namespace replisim {

/// Version of the tables (PRAGMA user_version); a file of another one is refused.
inline constexpr int results_schema_version = 1;
/// PRAGMA application_id of results files: "rsim".
inline constexpr int results_application_id = 0x7273696d;

/// One part of a sweep: of every `of` runs in a row number `number` (1 to `of`).
struct Shard {
  std::uint64_t number = 1;
  std::uint64_t of = 1;
  bool operator==(const Shard&) const = default;
};

/// Reads "K/N". Throws UsageError with a sentence.
Shard parse_shard(const std::string& text);

/// What makes results belong together: equal in every file of one sweep.
struct SweepIdentity {
  std::string scenario;      ///< its name
  std::string scenario_hash; ///< of the base scenario with the overrides
  std::string program;       ///< version and commit
  std::uint64_t seed = 1;
  int replications = 1;
  std::uint64_t points = 0;
  nlohmann::json overrides; ///< of the command line, as path=value
  nlohmann::json axes;
  nlohmann::json sample;
  nlohmann::json guesses;
  std::vector<std::string> columns; ///< names of the labels of a point
};

/// A sentence that says in what two identities differ; empty when they are of one sweep.
std::string difference(const SweepIdentity& mine, const SweepIdentity& other);

/// One finished run.
struct RunRow {
  std::uint64_t run = 0; ///< point * replications + replication - 1
  SweepPoint point;
  PointOutcome outcome;
  double wall_s = 0;
  double cpu_s = 0;
  Bytes peak_memory_bytes = 0;
};

class ResultsFile {
public:
  /// Creates `file`, or opens it to go on. One writer at a time (a lock file beside it). Throws UsageError
  /// when the file is of another sweep, shard, schema or program, is no results file, cannot be
  /// written, or is being written.
  static ResultsFile create_or_resume(const std::string& file, const SweepIdentity& identity,
                                      const Shard& shard);
  /// Opens to read; also while it is written. Throws UsageError.
  static ResultsFile open(const std::string& file);

  ResultsFile(ResultsFile&&) = default;
  /// Leaves one plain file, without a log beside it, unless somebody reads it at that moment.
  ~ResultsFile();

  const SweepIdentity& identity() const { return identity_; }
  const Shard& shard() const { return shard_; }
  Database& database() { return *database_; }

  /// One element a run of the whole sweep: whether its row is here.
  std::vector<bool> finished_runs();
  std::uint64_t count(bool failed);
  /// Forgets failed runs, so that they run again.
  void drop_failed();
  /// Writes rows at once, in one transaction.
  void record(const std::vector<RunRow>& rows);
  /// Makes what is written survive a power cut.
  void sync();

private:
  class Lock;
  struct Writer;
  ResultsFile(std::unique_ptr<Database> database, SweepIdentity identity, Shard shard);
  std::int64_t metric_id(const std::string& name);

  std::shared_ptr<Lock> lock_; ///< outlives the connection
  std::unique_ptr<Database> database_;
  SweepIdentity identity_;
  Shard shard_;
  std::shared_ptr<Writer> writer_;
  std::map<std::string, std::int64_t> metric_ids_;
};

/// Joins files of one sweep into a new one, `out`. Returns the number of runs that are still missing.
/// Throws UsageError when `out` exists, when files are not of one sweep, or when they contradict each other.
std::uint64_t merge_results(const std::string& out, const std::vector<std::string>& files);

} // namespace replisim
