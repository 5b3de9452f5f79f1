// Twelve broken artefacts, as files, through everything that observe does: each is named with file, line and
// reason, what stands around the damage is read, and nothing becomes a silent zero.
#include "calibration/observe/observe.hpp"
#include "models/base/errors.hpp"

#include <catch2/catch.hpp>

#include <filesystem>
#include <fstream>

#include <unistd.h>
#include <zlib.h>

using namespace replisim::readers;
namespace fs = std::filesystem;

namespace {

class Artefact {
public:
  Artefact(const std::string& name, const std::string& bytes)
      : folder_(fs::temp_directory_path() / ("replisim_malformed_" + std::to_string(::getpid()))),
        path_(folder_ / name) {
    fs::create_directories(folder_);
    std::ofstream(path_, std::ios::binary) << bytes;
  }
  ~Artefact() { fs::remove_all(folder_); }
  Artefact(const Artefact&) = delete;
  Artefact& operator=(const Artefact&) = delete;

  /// The problems, one a line, without the folder; or the error.
  std::string complaints() {
    std::string text;
    try {
      report_ = make_report(read_paths({path_}, {}));
      observe_table(report_); // and all forms of output
      observe_json(report_);
      observe_csv(report_);
      for (const ProblemGroup& group : report_.read.problems.groups())
        text += group.to_string() + "\n";
    } catch (const replisim::UsageError& error) {
      text = error.what();
    }
    const std::string prefix = folder_.string() + "/";
    for (auto at = text.find(prefix); at != std::string::npos; at = text.find(prefix))
      text.erase(at, prefix.size());
    return text;
  }

  const Series* series(const std::string& metric) const {
    for (const auto& [key, each] : report_.read.observation.all_series())
      if (key.first == metric)
        return &each;
    return nullptr;
  }

private:
  fs::path folder_;
  fs::path path_;
  ObserveReport report_;
};

std::string duration(int second, const std::string& text = "") {
  return "2026-01-01 00:00:0" + std::to_string(second) + ".000 UTC [1] LOG:  duration: 1.000 ms" + text +
         "\n";
}

std::string gzip(const std::string& text) {
  z_stream state{};
  REQUIRE(deflateInit2(&state, 6, Z_DEFLATED, 15 + 16, 8, Z_DEFAULT_STRATEGY) == Z_OK);
  std::string packed(deflateBound(&state, static_cast<uLong>(text.size())), '\0');
  std::string copy = text;
  state.next_in = reinterpret_cast<Bytef*>(copy.data());
  state.avail_in = static_cast<uInt>(copy.size());
  state.next_out = reinterpret_cast<Bytef*>(packed.data());
  state.avail_out = static_cast<uInt>(packed.size());
  REQUIRE(deflate(&state, Z_FINISH) == Z_STREAM_END);
  packed.resize(state.total_out);
  deflateEnd(&state);
  return packed;
}

const std::string timeline_head = "t_s,wal_lsn,cpu_pub.walsender_s\n";

} // namespace

TEST_CASE("malformed 1: truncated gzip") {
  std::string text;
  for (int i = 0; i < 20'000; ++i)
    text += duration(i / 4000, "  statement: select " + std::to_string(i * 7919));
  const std::string packed = gzip(text);
  Artefact cut("a.log.gz", packed.substr(0, packed.size() / 2));
  const std::string said = cut.complaints();
  REQUIRE(cut.series("statement_s") != nullptr);
  const auto count = cut.series("statement_s")->count();
  CHECK(count > 5'000);
  CHECK(count < 15'000);
  CHECK_THAT(said, Catch::StartsWith("a.log.gz:") and
                       Catch::Contains("is cut short: the gzip data ends in the middle; the ") and
                       Catch::Contains(" lines before were read"));
}

TEST_CASE("malformed 2: mixed encodings") {
  Artefact mixed("a.log", duration(1, "  statement: select '\xC3\xBC'") +
                              duration(2, "  statement: select '\xFC'") + duration(3));
  CHECK(mixed.complaints() ==
        "a.log:2: byte 78 (0xFC) is no UTF-8: the file mixes encodings; shown as \xEF\xBF\xBD\n");
  CHECK(mixed.series("statement_s")->count() == 3);
}

TEST_CASE("malformed 3: CR LF") {
  std::string text = duration(1) + duration(2);
  text.insert(text.find('\n'), "\r");
  text.insert(text.size() - 1, "\r");
  Artefact windows("a.log", text);
  CHECK(windows.complaints() ==
        "a.log: 2 of 2 lines end in CR LF (written or copied on Windows); read as if they "
        "ended in LF\n");
  CHECK(windows.series("statement_s")->count() == 2);
}

TEST_CASE("malformed 4: missing columns") {
  Artefact cells("a.csv", timeline_head + "0,100,0\n1,200\n2,300,0.5\n");
  CHECK(cells.complaints() == "a.csv:3: the row has 2 cells, the header 3 columns; it was left out\n");
  CHECK(cells.series("wal_lsn")->count() == 2);
  // A view without the columns that say which one it is.
  Artefact view("b.csv", "slot_name,plugin,active\ns,pgoutput,t\n");
  CHECK_THAT(view.complaints(),
             Catch::StartsWith("nothing could be read\n  b.csv: is of no kind that is read"));
  // A counter that is not there is not zero.
  Artefact counter("c.csv", "collected_at,slot_name,spill_bytes\n2026-01-01 00:00:00+00,s,5\n");
  CHECK(counter.complaints() == "");
  CHECK(counter.series("stream_bytes") == nullptr);
}

TEST_CASE("malformed 5: duplicated headers") {
  Artefact twice("a.csv", timeline_head + "0,100,0\n" + timeline_head + "1,200,0.5\n");
  CHECK(twice.complaints() == "a.csv:3: the header line stands here again; it was left out\n");
  CHECK(twice.series("wal_lsn")->count() == 2);
  Artefact column("b.csv", "t_s,wal_lsn,wal_lsn\n0,1,2\n1,3,4\n");
  CHECK(column.complaints() == "b.csv:1: column 'wal_lsn' appears twice; the second one was left out\n");
  CHECK(column.series("wal_lsn")->last().value == 3);
  Artefact rows("c.csv", "mode,total_s\noff,1\nmode,total_s\non,2\n");
  CHECK(rows.complaints() == "c.csv:3: the header line stands here again; it was left out\n");
}

TEST_CASE("malformed 6: a clock that goes back") {
  Artefact log("a.log", duration(9) + "2025-12-31 23:00:09.000 UTC [1] LOG:  duration: 1.000 ms\n");
  CHECK(log.complaints() == "a.log:2: the time goes back by 3600.000 s, from 2026-01-01 00:00:09.000 UTC to "
                            "2025-12-31 23:00:09.000 UTC: "
                            "the clock or the zone was changed, or two logs stand in one file; spans across "
                            "this line are not to be "
                            "trusted\n");
  Artefact timeline("a.csv", timeline_head + "0,100,0\n2,200,0.5\n1,150,0.2\n3,300,0.6\n");
  CHECK(timeline.complaints() == "a.csv:4: t_s goes back from 2.000000 to 1.000000; the row was left out\n");
  const std::string wal = "rmgr: Transaction len (rec/tot):     46/    46, tx:        5, lsn: 0/";
  Artefact dump("wal.txt", wal + "1000, prev 0/0, desc: COMMIT 2026-01-01 00:00:09 UTC\n" + wal +
                               "2000, prev 0/1000, desc: COMMIT 2026-01-01 00:00:01 UTC\n");
  CHECK(dump.complaints() ==
        "wal.txt:2: the commit is stamped 8.000 s before an earlier one: the clock or the zone was "
        "changed; it is not in the series\n");
}

TEST_CASE("malformed 7: decimal commas") {
  Artefact clear("a.csv", "t_s;wal_lsn;cpu_pub.walsender_s\n0,5;100;0\n1,5;200;0,25\n");
  CHECK_THAT(clear.complaints(),
             Catch::StartsWith("a.csv:2: column 't_s': '0,5' was read as 0.5, here and below"));
  CHECK(clear.series("cpu_pub.walsender_s")->last().value == 0.25);
  Artefact unclear("b.csv", timeline_head + "0,5,100,0\n1,200,0.5\n");
  CHECK(unclear.complaints() == "b.csv:2: the row has 4 cells, the header 3 columns; it was left out\n");
  Artefact pgbench("c.txt", "transaction type: <builtin: TPC-B (sort of)>\nnumber of clients: 1\n"
                            "latency average = 12,440 ms\ntps = 80,385 (without initial connection time)\n");
  CHECK_THAT(pgbench.complaints(),
             Catch::Contains(
                 "c.txt:3: 'latency average = 12,440 ms': the comma was read as a decimal point (12.44)"));
}

TEST_CASE("malformed 8: two clusters in one file") {
  const std::string start = "2026-01-01 00:00:01.000 UTC [1] LOG:  starting PostgreSQL ";
  Artefact log("a.log", start + "17.4 on x86_64\n" + start + "18.1 on x86_64\n");
  CHECK_THAT(log.complaints(),
             Catch::StartsWith("a.log:2: PostgreSQL 18.1 starts in the log of a PostgreSQL 17.4"));
  const std::string wal = "rmgr: Heap        len (rec/tot):     91/    91, tx:        5, lsn: ";
  const std::string rest = ", prev 0/0, desc: INSERT off 1 flags 0x08, blkref #0: rel 1663/5/20000 blk 0\n";
  Artefact dump("wal.txt", wal + "5/1000" + rest + wal + "0/2000" + rest);
  CHECK(dump.complaints() ==
        "wal.txt:2: the record lies before the one above it: the file is not in the order of the "
        "WAL, or of two servers; it was left out\n");
}

TEST_CASE("malformed 9: an empty file") {
  CHECK(Artefact("a.log", "").complaints() == "nothing could be read\n  a.log: is empty");
  CHECK(Artefact("a.log.gz", gzip("")).complaints() ==
        "nothing could be read\n  a.log.gz: is empty once it is unpacked");
  CHECK(Artefact("a.csv", timeline_head).complaints() ==
        "nothing could be read\n  a.csv: holds no row below its header");
}

TEST_CASE("malformed 10: a binary file") {
  std::string segment(8192, '\0');
  segment.replace(0, 4, "\x10\xD1\x05\x01");
  CHECK(Artefact("000000010000000000000001", segment).complaints() ==
        "nothing could be read\n  000000010000000000000001: is binary: 8191 of its first 8192 bytes are "
        "control "
        "characters or NUL");
  CHECK_THAT(Artefact("a.dump", "PGDMP\x01\x0E").complaints(),
             Catch::Contains("a.dump: is a dump of pg_dump in custom format; unpack or convert it first"));
}

TEST_CASE("malformed 11: a line of ten megabytes") {
  Artefact log("a.log",
               duration(1) + duration(2, "  statement: " + std::string(10'000'000, 'x')) + duration(3));
  CHECK(log.complaints() ==
        "a.log:2: the line has 10,000,069 bytes; its first 1,048,576 were read, the rest was left "
        "out\n");
  CHECK(log.series("statement_s")->count() == 3);
  Artefact table("a.csv", timeline_head + "0,100,0\n1," + std::string(10'000'000, '1') + ",0\n2,300,0.5\n");
  CHECK_THAT(table.complaints(), Catch::Contains("a.csv:3: the line has 10,000,004 bytes") and
                                     Catch::Contains("a.csv:3: the row has 2 cells, the header 3 columns"));
}

TEST_CASE("malformed 12: another version's columns") {
  Artefact view("a.csv",
                "collected_at,slot_name,spill_bytes,spill_gigabytes\n2026-01-01 00:00:00+00,s,5,0\n");
  CHECK(view.complaints() ==
        "a.csv:2: pg_stat_replication_slots of 14 to 19 has no column 'spill_gigabytes'; it is left out (did "
        "you mean 'spill_bytes'?)\n");
  const std::string begin =
      "2025-05-01 09:24:59.837 UTC,\"u\",\"db1\",61418,\"[local]\",6812cd65.efea,3,\"DO\","
      "2025-05-01 09:00:00 UTC,3/5,0,LOG,00000,\"duration: 1.000 ms\",,,,,,,,,\"app\"";
  Artefact newer("b.csv", begin + ",a,b,c,d,e\n");
  CHECK(newer.complaints() ==
        "b.csv:1: 28 columns are of no PostgreSQL release known here (23, 24 or 26); the ones up "
        "to application_name are read\n");
  CHECK(newer.series("statement_s")->count() == 1);
  Artefact older("c.csv",
                 "2025-05-01 09:24:59.837 UTC,\"u\",\"db1\",61418,\"[local]\",x,3,\"DO\",y,3/5,0,LOG,00000,"
                 "\"duration: 1.000 ms\"\n" +
                     begin + "\n");
  CHECK(older.complaints() ==
        "c.csv:1: a csvlog record has 23 columns (up to PostgreSQL 12), 24 (13) or 26 (14 and "
        "later); found 14; left out\n");
  Artefact aggregate("d.txt", "1796046986 10 100 1000 5 15 0 0\n");
  CHECK_THAT(aggregate.complaints(), Catch::Contains("d.txt"));
}
