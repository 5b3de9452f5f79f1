// Output of pg_waldump, with and without --stats, and plain tables of results.
#include "calibration/readers/table_columns.hpp"
#include "calibration/readers/tables.hpp"
#include "calibration/readers/wal_files.hpp"
#include "models/base/errors.hpp"
#include "test_paths.hpp"

#include <catch2/catch.hpp>

#include <cstdio>
#include <filesystem>
#include <fstream>

using namespace replisim::readers;
namespace fs = std::filesystem;

namespace {

const fs::path samples = fs::path(REPLISIM_SOURCE_DIR) / "tests/calibration/samples";
const fs::path measured = fs::path(REPLISIM_SOURCE_DIR) / "calibration/data";

ReadResult read_text(const std::string& text, const ReadOptions& options = {}) {
  ReadResult result;
  LineInput input = LineInput::over_text("f", text, result.problems);
  read_input(input, options, result.observation, result.problems);
  return result;
}

double figure(const ReadResult& result, const std::string& metric, const Labels& labels = {}) {
  for (const Figure& each : result.observation.figures)
    if (each.metric == metric and each.labels == labels)
      return each.value;
  return -1;
}

std::string problems(const ReadResult& result) {
  std::string out;
  for (const auto& group : result.problems.groups())
    out += group.kind + ": " + group.examples.front().message + "\n";
  return out;
}

class MapFile {
public:
  explicit MapFile(const std::string& text)
      : path_(fs::temp_directory_path() / ("replisim_map_" + std::to_string(::getpid()))) {
    std::ofstream(path_) << text;
  }
  ~MapFile() { fs::remove(path_); }
  const fs::path& path() const { return path_; }

private:
  fs::path path_;
};

} // namespace

TEST_CASE("pg_waldump --stats gives records and bytes by kind") {
  const ReadResult result = read_paths({samples / "pg_waldump_stats_15.txt"}, {});
  CHECK(problems(result) == "");
  CHECK(result.observation.sources.at(0).reader == "pg-waldump-stats");
  CHECK(result.observation.sources.at(0).format == "pg_waldump --stats, 0/15268A0 and 0/15B2830");
  CHECK(figure(result, "wal_records", {{"record", "Heap/INSERT"}}) == 117);
  CHECK(figure(result, "wal_record_bytes", {{"record", "Heap/INSERT"}}) == 24987);
  CHECK(figure(result, "wal_fpi_bytes", {{"record", "Heap/INSERT"}}) == 16304);
  CHECK(figure(result, "wal_bytes") == 564745); // its Total
  CHECK(figure(result, "committed_transactions") == 44);
  CHECK(figure(result, "changes") == 117 + 4 + 23 + 383 + 19 + 13);
}

TEST_CASE("a table of --stats that is cut or altered says so") {
  const std::string head =
      "Type   N  (%)  Record size  (%)  FPI size  (%)  Combined size  (%)\n----  -  ---\n";
  const std::string row = "Heap/INSERT 3 ( 75.00) 300 ( 90.00) 0 ( 0.00) 300 ( 90.00)\n";
  CHECK(problems(read_text(head + row)) == "truncated: ends before the row 'Total': rows are missing\n");
  CHECK(
      problems(read_text(head + row + "Total 4 333 [100%] 0 [0%] 333 [100%]\n")) ==
      "total_differs: the rows sum up to 3 records and 300 bytes, Total says 4 and 333: rows are missing or "
      "altered\n");
  CHECK_THAT(problems(read_text(head + row + "Btree 3,5 ( 1%)\nTotal 3 300 [100%] 0 [0%] 300 [100%]\n")),
             Catch::StartsWith("no_row: 'Btree 3,5 ( 1%)' is no row"));
  CHECK_THAT(problems(read_text(head + row + row + "Total 3 300 [100%] 0 [0%] 300 [100%]\n")),
             Catch::Contains("repeated_row: Heap/INSERT stands in line 3 already"));
}

TEST_CASE("records of pg_waldump are summed up as its own --stats does") {
  const ReadResult result = read_paths({samples / "pg_waldump_15.txt"}, {});
  CHECK(problems(result) == "");
  const Source& source = result.observation.sources.at(0);
  CHECK(source.reader == "pg-waldump");
  CHECK(source.time_base == TimeBase::Wall);
  CHECK(figure(result, "committed_transactions") == 11);
  CHECK(result.observation.event_count("catalog_change") == 1);
  double records = 0;
  for (const Figure& each : result.observation.figures)
    if (each.metric == "wal_records" and not each.labels.empty())
      records += each.value;
  CHECK(records == static_cast<double>(source.lines));
  const auto& series = result.observation.all_series();
  const auto commits = std::find_if(series.begin(), series.end(),
                                    [](const auto& s) { return s.first.first == "committed_transactions"; });
  REQUIRE(commits != series.end());
  CHECK(commits->second.count() == 11);
  CHECK(commits->second.last().value == 11);
}

TEST_CASE("the invalidations of a storm of DDL are counted from its commit record") {
  const ReadResult result = read_text(
      "rmgr: Transaction len (rec/tot): 1778325/1778325, tx: 5, lsn: 170F5/7E1F4268, prev 170F5/7E1F4200, "
      "desc: "
      "COMMIT 2025-05-01 09:24:57.828299 CST; inval msgs: catcache 22 catcache 21 relcache 48813261 relcache "
      "48813262\n");
  CHECK(figure(result, "invalidation_messages") == 4);
  CHECK(figure(result, "wal_record_bytes", {{"record", "Transaction/COMMIT"}}) == 1778325);
  CHECK_THAT(problems(result), Catch::StartsWith("ambiguous_zone: the time zone 'CST' has several meanings"));
}

TEST_CASE("measured tables are read by their columns' names") {
  const ReadResult result = read_paths({measured / "lab/streaming_pg18_500k.csv"}, {});
  CHECK(problems(result) == "");
  const Labels run = {{"scenario", "delete"}, {"work_mem_kb", "64"},      {"streaming", "off"},
                      {"rep", "1"},           {"server_version", "18.4"}, {"rows_match", "1"}};
  CHECK(figure(result, "total_s", run) == 4.7887);
  CHECK(figure(result, "cpu_pub.walsender_s", run) == 2.68);
  CHECK(figure(result, "rows", run) == 500000);
  const ReadResult pgbench = read_paths({measured / "lab/pgbench_pg18.csv"}, {});
  CHECK(
      figure(
          pgbench, "latency_s",
          {{"clients", "1"}, {"rep", "1"}, {"scale", "20"}, {"seconds", "25"}, {"server_version", "18.4"}}) ==
      Approx(0.001369));
  for (const char* file :
       {"lab/inval_pg18.csv", "seeds/publisher_tps_runs.csv", "seeds/streaming_parallel_vs_off.csv",
        "public/apply_prefetch_2025.csv", "public/relfilenumbermap_invalidation_2026.csv"}) {
    INFO(file);
    const ReadResult each = read_paths({measured / file}, {});
    CHECK(problems(each) == "");
    CHECK_FALSE(each.observation.figures.empty());
  }
}

TEST_CASE("a column map says what names do not") {
  const std::string text = "size_mb,drain_min,tool,t\n2,0.5,x,10\n4,1,x,20\n";
  CHECK_THAT(problems(read_text(text)),
             Catch::Contains("unclear_unit: size_mb: 10^6 or 2^20 bytes in an MB?"));
  const MapFile map("# what is what\nsize_mb = spill_bytes MB\ntool = -\nt = time s\n");
  ReadOptions options;
  options.column_map = map.path();
  const ReadResult result = read_text(text, options);
  CHECK(problems(result) == "");
  const auto& all = result.observation.all_series();
  REQUIRE(all.size() == 2);
  const Series& spill = all.at({"spill_bytes", {0, {}}});
  CHECK(spill.last().value == 4 * 1048576);
  CHECK(spill.last().at_us == 20'000'000);
  CHECK(all.at({"drain_s", {0, {}}}).first().value == 30);
  CHECK_THAT(problems(read_text("size,t\n1,2\n", options)),
             Catch::Contains("missing_column: the column map names 'size_mb', the header does not"));

  const MapFile bad("a b\na = x parsec\nb = y s z\nc = label\nc = -\n");
  CHECK_THROWS_WITH(read_column_map(bad.path()),
                    Catch::Contains("1:1: found 'a b'; a line is COLUMN = METRIC [UNIT]") and
                        Catch::Contains("2:1: a: 'parsec' is no unit; allowed are s, ms, us") and
                        Catch::Contains("3:1: b: 'z' is one word too many") and
                        Catch::Contains("5:1: column 'c' stands here for the second time"));
  CHECK_THROWS_AS(read_column_map("/nowhere/map"), replisim::UsageError);
}

TEST_CASE("tables of mails: pipes, thousands, decimal commas") {
  const ReadResult result = read_text("| mode | rows | total_s | wal_bytes |\n|------|---:|---|---|\n"
                                      "| off | 650,000,000 | 12,5 | 1,234 |\n| on | 5 | fast | 1.5 |\n");
  CHECK(figure(result, "rows", {{"mode", "off"}}) == 650000000);
  CHECK(figure(result, "total_s", {{"mode", "off"}}) == 12.5);
  CHECK(problems(result) ==
        "decimal_comma: column 'total_s': '12,5' was read as 12.5\n"
        "ambiguous_comma: column 'wal_bytes': '1,234' may be 1.234 or have thousands; it was left "
        "out\n"
        "no_number: column 'total_s': 'fast' is no number; it was left out\n");
  CHECK(problems(read_text("name,size\nx,3\n")) == "no_metric: none of its columns is known as a metric; a "
                                                   "column map (--columns) says which is: COLUMN = METRIC "
                                                   "[UNIT]\n");
  CHECK(column_by_name("mb_per_s").role == TableColumn::Role::Unclear);
  CHECK(table_cells("a,\"b,\"\"c\"\"\", d ", ',') == std::vector<std::string>{"a", "b,\"c\"", "d"});
}
