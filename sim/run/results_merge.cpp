// Shards of one sweep into one file.
#include "models/base/errors.hpp"
#include "sim/run/results_file.hpp"

#include <fmt/format.h>

#include <cerrno>
#include <cstring>
#include <filesystem>

#include <unistd.h>

namespace replisim {

namespace {

/// Runs that stand in both files with other contents.
constexpr const char* contradictions = R"(
SELECT count(*) FROM main.run a JOIN other.run b USING (run)
WHERE a.status IS NOT b.status OR a.fingerprint IS NOT b.fingerprint OR a.scenario_hash IS NOT b.scenario_hash)";

constexpr const char* copy = R"(
INSERT OR IGNORE INTO main.metric (name) SELECT name FROM other.metric ORDER BY name;
INSERT OR IGNORE INTO main.run SELECT * FROM other.run;
INSERT OR IGNORE INTO main.setting SELECT * FROM other.setting;
INSERT OR IGNORE INTO main.cost SELECT * FROM other.cost;
INSERT OR IGNORE INTO main.value
  SELECT v.run, mine.id, v.value
  FROM other.value v JOIN other.metric theirs ON theirs.id = v.metric
  JOIN main.metric mine ON mine.name = theirs.name;
)";

void add_file(Database& database, const std::string& file) {
  SqlStatement attach(database, "ATTACH DATABASE ? AS other");
  attach.bind(1, file).run();
  if (database.scalar(contradictions) > 0)
    throw UsageError(fmt::format("'{}' contradicts the files before it: equal points, other results", file));
  database.execute("BEGIN");
  database.execute(copy);
  database.execute("COMMIT");
  database.execute("DETACH DATABASE other");
}

/// A file under construction; removed unless it got its name.
class Draft {
public:
  explicit Draft(const std::string& out) : path_(fmt::format("{}.{}.tmp", out, ::getpid())) { remove(); }
  ~Draft() { remove(); }
  Draft(const Draft&) = delete;
  Draft& operator=(const Draft&) = delete;
  const std::string& path() const { return path_; }
  void publish(const std::string& out) {
    if (::rename(path_.c_str(), out.c_str()) != 0)
      throw UsageError(fmt::format("cannot write '{}': {}", out, std::strerror(errno)));
  }

private:
  void remove() const {
    for (const char* ending : {"", "-wal", "-shm"}) {
      std::error_code ignored;
      std::filesystem::remove(path_ + ending, ignored);
    }
  }
  std::string path_;
};

} // namespace

std::uint64_t merge_results(const std::string& out, const std::vector<std::string>& files) {
  std::error_code error;
  if (std::filesystem::exists(out, error))
    throw UsageError(fmt::format("'{}' exists already; merge into a new file", out));
  const SweepIdentity first = ResultsFile::open(files.front()).identity();
  for (const auto& file : files) {
    const auto what = difference(first, ResultsFile::open(file).identity());
    if (not what.empty())
      throw UsageError(fmt::format("'{}' does not belong together with '{}': it was made with {}", file,
                                   files.front(), what));
  }
  Draft draft(out);
  std::uint64_t missing = 0;
  {
    ResultsFile merged = ResultsFile::create_or_resume(draft.path(), first, Shard{});
    for (const auto& file : files)
      add_file(merged.database(), file);
    missing = first.points * static_cast<std::uint64_t>(first.replications) - merged.count(false) -
              merged.count(true);
    merged.sync();
  }
  draft.publish(out);
  return missing;
}

} // namespace replisim
