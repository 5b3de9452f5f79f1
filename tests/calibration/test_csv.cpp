// The CSV reader: what it reads, and that it refuses everything else with file, line and column.
#include "calibration/csv.hpp"
#include "test_paths.hpp"

#include "models/base/errors.hpp"

#include <catch2/catch.hpp>

#include <filesystem>

using namespace replisim;

namespace {

const std::vector<std::string> columns = {"scenario", "work_mem_kb", "total_s"};

/// The sentences of the ScenarioError that reading `text` throws.
std::vector<std::string> mistakes_in(const std::string& text) {
  std::vector<std::string> sentences;
  try {
    CsvTable("t.csv", text, columns);
  } catch (const ScenarioError& error) {
    for (const Diagnostic& diagnostic : error.diagnostics())
      sentences.push_back(diagnostic.to_string());
  }
  return sentences;
}

} // namespace

TEST_CASE("a table gives its cells by row and column name, whatever the order of columns") {
  const CsvTable table("t.csv", "total_s,scenario,work_mem_kb\n37.304,insert,64\n-1e-3,delete,65536\n",
                       columns);
  REQUIRE(table.row_count() == 2);
  CHECK(table.text(0, "scenario") == "insert");
  CHECK(table.text(1, "work_mem_kb") == "65536");
  CHECK(table.number(0, "total_s") == 37.304);
  CHECK(table.number(1, "total_s") == -0.001);
}

TEST_CASE("the last line may lack its newline") {
  CHECK(CsvTable("t.csv", "scenario,work_mem_kb,total_s\na,1,2", columns).number(0, "total_s") == 2);
}

TEST_CASE("asking for a row or column that is not there is our own error") {
  const CsvTable table("t.csv", "scenario,work_mem_kb,total_s\na,1,2\n", columns);
  CHECK_THROWS_AS(table.text(1, "scenario"), InvariantViolation);
  CHECK_THROWS_AS(table.text(0, "off_s"), InvariantViolation);
}

TEST_CASE("every mistake of the header is named") {
  const std::vector<std::string> found = mistakes_in("scenario,scenario,totl_s\na,b,1\n");
  REQUIRE(found.size() == 4);
  CHECK(found[0] == "t.csv:1:10: column 'scenario' appears twice");
  CHECK_THAT(found[1],
             Catch::StartsWith("t.csv:1:19: unknown column 'totl_s'") && Catch::Contains("total_s"));
  CHECK(found[2] == "t.csv:1:1: column 'work_mem_kb' is missing");
  CHECK(found[3] == "t.csv:1:1: column 'total_s' is missing");
}

TEST_CASE("rows that do not fit the header are named by line") {
  const std::string header = "scenario,work_mem_kb,total_s\n";
  const std::vector<std::string> found = mistakes_in(header + "a,1\nb,1,2\n\nc,1,2,3\n\"d\",1,2\n");
  REQUIRE(found.size() == 4);
  CHECK(found[0] == "t.csv:2:1: found 2 cells; the header names 3 columns");
  CHECK(found[1] == "t.csv:4:1: empty line");
  CHECK(found[2] == "t.csv:5:1: found 4 cells; the header names 3 columns");
  CHECK(found[3] == "t.csv:6:1: quotes and carriage returns are not part of this format");
  CHECK(mistakes_in(header + "a,1,2\r\n").size() == 1);
}

TEST_CASE("a table without rows is refused") {
  CHECK(mistakes_in("scenario,work_mem_kb,total_s\n") ==
        std::vector<std::string>{"t.csv:1:1: no rows below the header"});
  CHECK(mistakes_in("").size() == 4); // an unknown, empty column and three missing ones
}

TEST_CASE("what is no number is named with line and column") {
  for (const std::string cell : {"", "x", "1s", "nan", "inf", " 1", "1e400"}) {
    const CsvTable table("t.csv", "scenario,work_mem_kb,total_s\na,1,2\nb,1," + cell + "\n", columns);
    CHECK_THROWS_WITH(table.number(1, "total_s"),
                      Catch::Contains("t.csv:3:5: total_s: found '" + cell + "'; allowed is a number"));
  }
}

TEST_CASE("a file that cannot be read gets a sentence") {
  const std::filesystem::path folder = REPLISIM_SOURCE_DIR;
  CHECK_THROWS_WITH(read_csv(folder / "no-such.csv", columns), Catch::Contains("cannot read the table"));
  CHECK_THROWS_AS(read_csv(folder / "calibration", columns), UsageError);
}
