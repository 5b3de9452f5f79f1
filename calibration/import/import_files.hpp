// From files to a recorded workload: pg_waldump's output, or the logs of pgbench --log.
#pragma once

#include "calibration/import/recorded_workload.hpp"
#include "calibration/import/wal_collector.hpp"
#include "calibration/readers/input.hpp"
#include "calibration/readers/problem.hpp"

#include <filesystem>
#include <functional>
#include <string>
#include <vector>

namespace replisim {

struct ImportSources {
  std::vector<std::filesystem::path> files; ///< all of one kind; pg_waldump's in order of the WAL
  std::filesystem::path tables; ///< names and columns by relfilenode (calibration/tables.sql); or empty
  std::uint32_t database = 0;   ///< oid; 0: the one with most changes
  std::vector<std::string> scripts = {"tpcb-like"}; ///< of pgbench logs: the builtin of script 0, 1, ...
  std::int64_t scale = 1;                           ///< of the pgbench tables
};

/// Called with the bytes taken and all bytes.
using ImportProgress = std::function<void(std::uint64_t done_bytes, std::uint64_t total_bytes)>;

/// Reads all files. Lines that are no record are problems and left out. Throws UsageError when a file is not
/// there, nothing is left, or the files are of no known kind.
RecordedWorkload import_files(const ImportSources& sources, readers::Problems& problems,
                              const ImportProgress& progress = {});

/// `relfilenode|schema.table|column type, ...|key column, ...|rows`, as calibration/tables.sql prints it;
/// from the third cell on all may be left out. Throws ScenarioError with the mistaken lines.
TableNames read_table_names(const std::filesystem::path& file);

/// Throws UsageError for a name that is no builtin script.
void require_pgbench_script(const std::string& name);

} // namespace replisim
