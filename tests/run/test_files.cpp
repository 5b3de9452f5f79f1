// Result files: complete or not there.
#include "models/base/errors.hpp"
#include "sim/report/files.hpp"
#include "sim/report/run_report.hpp"
#include "tests/run/sample.hpp"

#include <catch2/catch.hpp>

#include <fstream>
#include <sstream>

#include <unistd.h>

using namespace replisim;
namespace fs = std::filesystem;

namespace {

/// A folder of its own that goes away with the test.
struct Folder {
  fs::path path = fs::temp_directory_path() / ("replisim-test-files-" + std::to_string(::getpid()));
  Folder() { fs::create_directories(path); }
  ~Folder() { fs::remove_all(path); }
  Folder(const Folder&) = delete;
  Folder& operator=(const Folder&) = delete;
};

std::string content(const fs::path& file) {
  std::ostringstream out;
  out << std::ifstream(file).rdbuf();
  return out.str();
}

std::size_t entries(const fs::path& folder) {
  return static_cast<std::size_t>(std::distance(fs::directory_iterator(folder), fs::directory_iterator()));
}

} // namespace

TEST_CASE("a file is written, replaced, and nothing else is left") {
  const Folder folder;
  write_file(folder.path / "a.txt", "first, longer\n");
  write_file(folder.path / "a.txt", "second\n");
  CHECK(content(folder.path / "a.txt") == "second\n");
  CHECK(entries(folder.path) == 1);
}

TEST_CASE("a symbolic link stays one") {
  const Folder folder;
  write_file(folder.path / "target", "old");
  fs::create_symlink(folder.path / "target", folder.path / "link");
  write_file(folder.path / "link", "new");
  CHECK(fs::is_symlink(folder.path / "link"));
  CHECK(content(folder.path / "target") == "new");
}

TEST_CASE("what cannot be written gives a sentence and leaves nothing") {
  const Folder folder;
  fs::create_directory(folder.path / "d");
  CHECK_THROWS_WITH(write_file(folder.path / "d", "x"),
                    Catch::Contains("cannot write") and Catch::Contains("Is a directory"));
  CHECK_THROWS_WITH(write_file(folder.path / "missing" / "x", "x"),
                    Catch::Contains("No such file or directory"));
  CHECK_THROWS_WITH(write_file("/dev/full", "x"), Catch::Contains("No space left on device"));
  CHECK(fs::is_character_file("/dev/full"));
  write_file("/dev/null", "x");
  CHECK(fs::is_character_file("/dev/null"));
  CHECK(entries(folder.path) == 1);
}

TEST_CASE("folders are made; a file in the way gives a sentence") {
  const Folder folder;
  require_folder(folder.path / "a" / "b");
  require_folder(folder.path / "a" / "b");
  CHECK(fs::is_directory(folder.path / "a" / "b"));
  write_file(folder.path / "file", "x");
  CHECK_THROWS_AS(require_folder(folder.path / "file"), UsageError);
  CHECK_THROWS_AS(require_folder(folder.path / "file" / "below"), UsageError);
}

TEST_CASE("a run's folder has three files, and only the manifest knows the wall clock") {
  const Folder folder;
  Scenario scenario;
  scenario.name = "one big insert";
  scenario.file = "x.yaml";
  scenario.hash = "00ff";
  const auto replications = summarise_replications({test::sample_result()});
  write_run_folder(folder.path / "out", scenario, replications,
                   {{"replisim", "run", "x.yaml"}, {{"a.b", "1"}}});
  CHECK(entries(folder.path / "out") == 3);
  CHECK(content(folder.path / "out" / "timeline.csv") == "t_s,lag_bytes\n0,1\n0.05,1e+300\n0.1,-0.1\n");
  const auto result = nlohmann::json::parse(content(folder.path / "out" / "result.json"));
  CHECK(result["metrics"]["spill_count"] == 1401);
  CHECK_THAT(content(folder.path / "out" / "result.json"), not Catch::Contains("wall"));
  const auto manifest = nlohmann::json::parse(content(folder.path / "out" / "manifest.json"));
  CHECK(manifest["wall_s"] == 0.015);
  CHECK(manifest["simulated_s"] == 37.5);
  CHECK(manifest["events"] == 12345);
  CHECK(manifest["fingerprint"] == "deadbeefcafef00d");
  CHECK(manifest["overrides"] == nlohmann::json{"a.b=1"});
  CHECK(manifest["command_line"] == nlohmann::json{"replisim", "run", "x.yaml"});
  CHECK(manifest["scenario_file"] == "x.yaml");
  CHECK(manifest["scenario_hash"] == "00ff");
  CHECK(manifest["engine_options"]["network/model"] == "CM02");
  CHECK(not manifest["compiler"].get<std::string>().empty());
}

TEST_CASE("of files that belong together none gets its name when one cannot be written") {
  const Folder folder;
  write_file(folder.path / "a", "old");
  fs::create_directory(folder.path / "b");
  CHECK_THROWS_AS(write_files({{folder.path / "a", "new"}, {folder.path / "b", "new"}}), UsageError);
  CHECK(content(folder.path / "a") == "old");
  CHECK(entries(folder.path) == 2);
  write_files({{folder.path / "a", "new"}, {folder.path / "c", "new"}});
  CHECK(content(folder.path / "a") == "new");
  CHECK(content(folder.path / "c") == "new");
  CHECK(entries(folder.path) == 3);
}

TEST_CASE("a file written piece by piece is there once it is published") {
  const Folder folder;
  {
    StagedFile given_up(folder.path / "a");
    given_up.write("half");
    CHECK(entries(folder.path) == 1);
  }
  CHECK(entries(folder.path) == 0);
  StagedFile file(folder.path / "a");
  file.write("one, ");
  file.write("two\n");
  CHECK(not fs::exists(folder.path / "a"));
  file.publish();
  CHECK(content(folder.path / "a") == "one, two\n");
  CHECK(entries(folder.path) == 1);
}
