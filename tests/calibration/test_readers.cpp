// Observations, the choice of a reader, and the reader of sampled timelines.
#include "calibration/readers/reader.hpp"
#include "models/base/errors.hpp"

#include <catch2/catch.hpp>

#include <filesystem>
#include <fstream>

#include <unistd.h>

using namespace replisim::readers;
namespace fs = std::filesystem;

namespace {

ReadResult read_text(const std::string& text) {
  ReadResult result;
  LineInput input = LineInput::over_text("f", text, result.problems);
  read_input(input, {}, result.observation, result.problems);
  return result;
}

const Series* find_series(const ReadResult& result, const std::string& metric) {
  for (const auto& [key, series] : result.observation.all_series())
    if (key.first == metric)
      return &series;
  return nullptr;
}

std::string problem(const ReadResult& result, std::size_t at = 0) {
  REQUIRE(result.problems.groups().size() > at);
  return result.problems.groups()[at].to_string();
}

struct Folder {
  fs::path path = fs::temp_directory_path() / ("replisim-readers-" + std::to_string(::getpid()));
  Folder() { fs::create_directories(path); }
  ~Folder() { fs::remove_all(path); }
  void write(const std::string& name, const std::string& text) const {
    fs::create_directories((path / name).parent_path());
    std::ofstream(path / name, std::ios::binary) << text;
  }
};

} // namespace

TEST_CASE("a series keeps exact sums while it thins itself out") {
  Series series("tps", {}, 0, false);
  const std::uint64_t n = 3 * Series::max_samples;
  for (std::uint64_t i = 0; i < n; ++i)
    series.add({static_cast<TimeUs>(i), i == 100 ? -5.0 : static_cast<double>(i), i + 1});
  CHECK(series.count() == n);
  CHECK(series.sum() == static_cast<double>(n * (n - 1) / 2) - 105);
  CHECK(series.smallest() == -5);
  CHECK(series.largest() == static_cast<double>(n - 1));
  CHECK(series.first().at_us == 0);
  CHECK(series.last().at_us == static_cast<TimeUs>(n - 1));
  CHECK(series.stride() == 4);
  REQUIRE(series.samples().size() == n / 4);
  for (std::size_t i = 0; i < series.samples().size(); ++i)
    CHECK(series.samples()[i].at_us == static_cast<TimeUs>(4 * i));
}

TEST_CASE("two snapshots make a rate unless the counter was reset") {
  CHECK(rate_per_s({0, 100, 1}, {2'000'000, 350, 2}) == 125.0);
  CHECK_FALSE(rate_per_s({0, 100, 1}, {2'000'000, 50, 2}).has_value());
  CHECK_FALSE(rate_per_s({5, 100, 1}, {5, 150, 2}).has_value());
}

TEST_CASE("events of a type are kept up to a limit and counted beyond it") {
  Observation observation;
  for (std::size_t i = 0; i < Observation::max_events + 10; ++i)
    observation.add(
        {.type = "checkpoint", .begin_us = 0, .end_us = {}, .attributes = {}, .place = {0, 1, 1}});
  observation.add({.type = "checkpoint",
                   .begin_us = 7,
                   .end_us = 9,
                   .attributes = {{"distance_bytes", std::int64_t{42}}, {"kind", std::string("time")}},
                   .place = {1, 1, 1}});
  CHECK(observation.events().size() == Observation::max_events + 1);
  CHECK(observation.event_count("checkpoint") == Observation::max_events + 11);
  CHECK(observation.event_count("checkpoint", 1) == 1);
  CHECK(observation.event_count("deadlock") == 0);
  const Event& last = observation.events().back();
  CHECK(last.number("distance_bytes") == 42.0);
  CHECK(last.text("kind") == "time");
  CHECK(last.text("distance_bytes").empty());
  CHECK_FALSE(last.number("kind").has_value());
  CHECK(last.find("none") == nullptr);
}

TEST_CASE("a timeline becomes one series a column") {
  auto result = read_text("t_s,replay_lsn,cpu_pub.walsender_s\n0.0,100,0.5\n0.0503,,0.51\n0.1,220,0.55\n");
  CHECK(result.problems.empty());
  REQUIRE(result.observation.sources.size() == 1);
  CHECK(result.observation.sources[0].reader == "timeline");
  CHECK(result.observation.sources[0].lines == 4);
  CHECK(result.observation.sources[0].first_us == 0);
  CHECK(result.observation.sources[0].last_us == 100'000);
  const Series* lsn = find_series(result, "replay_lsn");
  REQUIRE(lsn != nullptr);
  CHECK(lsn->count() == 2); // the empty cell is no zero
  CHECK(lsn->last().value == 220);
  CHECK(lsn->last().line == 4);
  CHECK_FALSE(lsn->is_counter());
  const Series* cpu = find_series(result, "cpu_pub.walsender_s");
  REQUIRE(cpu != nullptr);
  CHECK(cpu->is_counter());
  CHECK(cpu->samples()[1].at_us == 50'300);
}

TEST_CASE("rows of a timeline that cannot be read are named and left out") {
  auto result = read_text("t_s,replay_lsn,wal_lsn\n0,1,2\n0.1,1\n0.2,x,2\nt_s,replay_lsn,wal_lsn\n0.1,9,9\n");
  REQUIRE(result.problems.groups().size() == 4);
  CHECK(problem(result, 0) == "f:3: the row has 2 cells, the header 3 columns; it was left out");
  CHECK(problem(result, 1) == "f:4: column 'replay_lsn': 'x' is no number; it was left out");
  CHECK(problem(result, 2) == "f:5: the header line stands here again; it was left out");
  CHECK(problem(result, 3) == "f:6: t_s goes back from 0.200000 to 0.100000; the row was left out");
  CHECK(find_series(result, "replay_lsn")->count() == 1);
  CHECK(find_series(result, "wal_lsn")->count() == 2);
}

TEST_CASE("decimal commas are read where they are unambiguous") {
  auto result = read_text("t_s;cpu_sub.backend_s\n0,5;1,25\n1,0;2,5\n");
  CHECK(problem(result) == "f:2: column 't_s': '0,5' was read as 0.5, here and below");
  CHECK(find_series(result, "cpu_sub.backend_s")->last().value == 2.5);
  CHECK(result.observation.sources[0].last_us == 1'000'000);
  // With commas between cells there is no telling: every row has too many.
  CHECK(read_text("t_s,replay_lsn\n0,5,1\n").problems.count_of("cell_count") == 1);
}

TEST_CASE("a repeated column and an empty table are no silent zeros") {
  auto twice = read_text("t_s,wal_lsn,wal_lsn\n0,1,2\n");
  CHECK(problem(twice) == "f:1: column 'wal_lsn' appears twice; the second one was left out");
  CHECK(find_series(twice, "wal_lsn")->last().value == 1);
  CHECK(problem(read_text("t_s,wal_lsn\n")) == "f: holds no row below its header");
}

TEST_CASE("a file of no known kind is named with what is read") {
  auto result = read_text("Dear diary\n");
  CHECK_THAT(problem(result), Catch::StartsWith("f: is of no kind that is read ("));
  CHECK_THAT(problem(result), Catch::Contains("sampled timelines (CSV that starts with t_s)"));
  CHECK(result.observation.empty());
}

TEST_CASE("folders are read at all levels by name without hidden files") {
  const Folder folder;
  folder.write("b.csv", "t_s,wal_lsn\n0,1\n");
  folder.write("a/c.csv", "t_s,wal_lsn\n0,1\n");
  folder.write(".hidden/d.csv", "t_s,wal_lsn\n0,1\n");
  folder.write("z.bin", std::string(100, '\1'));
  std::uint64_t done = 0;
  std::uint64_t total = 0;
  const ReadResult result = read_paths({folder.path}, {}, [&](std::uint64_t d, std::uint64_t t) {
    CHECK(d >= done);
    done = d;
    total = t;
  });
  CHECK(total == 16 + 16 + 100);
  CHECK(done == total);
  REQUIRE(result.observation.sources.size() == 2);
  CHECK(result.observation.sources[0].file == (folder.path / "a/c.csv").string());
  CHECK(result.observation.sources[1].file == (folder.path / "b.csv").string());
  CHECK(result.problems.count_of("binary") == 1);
}

TEST_CASE("paths that lead nowhere are errors of the command line") {
  const Folder folder;
  CHECK_THROWS_WITH(read_paths({folder.path / "none"}, {}),
                    "there is no file or folder '" + (folder.path / "none").string() + "'");
  CHECK_THROWS_WITH(read_paths({folder.path}, {}),
                    "the folder '" + folder.path.string() + "' holds no file to read");
}

TEST_CASE("the head of a file gives whole lines") {
  CHECK(FileHead{"f", "a\r\nb\nc", true}.lines(9) == std::vector<std::string_view>{"a", "b", "c"});
  CHECK(FileHead{"f", "a\nb\nc", false}.lines(9) == std::vector<std::string_view>{"a", "b"});
  CHECK(FileHead{"f", "a\nb\nc", true}.lines(1) == std::vector<std::string_view>{"a"});
}
