// The list of readers: one line each.
#include "calibration/readers/pgbench.hpp"
#include "calibration/readers/postgres_log.hpp"
#include "calibration/readers/reader.hpp"
#include "calibration/readers/tables.hpp"
#include "calibration/readers/timeline.hpp"
#include "calibration/readers/views.hpp"
#include "calibration/readers/wal_files.hpp"

namespace replisim::readers {

const std::vector<std::unique_ptr<Reader>>& all_readers() {
  static const std::vector<std::unique_ptr<Reader>> readers = [] {
    std::vector<std::unique_ptr<Reader>> list;
    list.push_back(make_postgres_log_reader());
    list.push_back(make_timeline_reader());
    list.push_back(make_views_reader());
    list.push_back(make_pgbench_output_reader());
    list.push_back(make_pgbench_log_reader());
    list.push_back(make_pgbench_aggregate_reader());
    list.push_back(make_wal_dump_reader());
    list.push_back(make_wal_statistics_reader());
    list.push_back(make_tables_reader()); // any table: after all that know theirs
    return list;
  }();
  return readers;
}

} // namespace replisim::readers
