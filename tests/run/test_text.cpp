// Tables that fit a window, pictures made of characters, the ranking of guesses.
#include "sim/report/charts.hpp"
#include "sim/report/text.hpp"
#include "sim/run/riskiest_guesses.hpp"
#include "sim/scenario/loader.hpp"
#include "test_paths.hpp"

#include <catch2/catch.hpp>

#include <algorithm>
#include <cmath>
#include <sstream>

using namespace replisim;

namespace {

/// A window of so many columns while it lives.
class Window {
public:
  explicit Window(std::size_t columns) : before_(report_columns) { report_columns = columns; }
  ~Window() { report_columns = before_; }
  Window(const Window&) = delete;
  Window& operator=(const Window&) = delete;

private:
  std::size_t before_;
};

std::size_t widest_line(const std::string& text) {
  std::istringstream lines(text);
  std::size_t widest = 0;
  for (std::string line; std::getline(lines, line);)
    widest = std::max(widest, display_width(line));
  return widest;
}

TextTable sample() {
  TextTable table({"a name that takes its room", "first", "second", "third"}, 1);
  table.add({"something long that can be cut", "1,000,000", "2,000,000", "3,000,000"});
  table.add_with_note({"short"},
                      "a note up to the end of the line, however long it may be, is cut where it ends");
  return table;
}

} // namespace

TEST_CASE("a table fits every window, and loses no figure") {
  for (const std::size_t columns : {100, 66, 50, 40}) {
    const Window window(columns);
    const std::string text = sample().render(2);
    INFO(columns << "\n" << text);
    CHECK(widest_line(text) <= columns);
    for (const char* figure : {"1,000,000", "2,000,000", "3,000,000", "third"})
      CHECK(text.find(figure) != std::string::npos);
  }
  const Window wide(100);
  CHECK(sample().render(0).find("something long that can be cut") != std::string::npos);
}

TEST_CASE("sparklines keep peaks, and show whatever is above 0") {
  std::vector<double> values(1000, 0.0);
  values[500] = 8;
  values[999] = 0.001;
  const std::string line = sparkline(values, 10, Glyphs::Ascii);
  CHECK(line == "     #   _");
  CHECK(sparkline({0, 4, 8}, 10, Glyphs::Blocks) == " ▄█");
  CHECK(sparkline({}, 10, Glyphs::Ascii).empty());
  CHECK(sparkline({0, 0}, 10, Glyphs::Ascii) == "  ");
}

TEST_CASE("bars are as long as their share") {
  CHECK(share_bar(0.5, 10, Glyphs::Ascii) == "#####.....");
  CHECK(share_bar(0, 4, Glyphs::Ascii) == "....");
  CHECK(share_bar(7, 4, Glyphs::Ascii) == "####");
}

TEST_CASE("the riskiest guess is the one that moves the answer most") {
  const Library library{REPLISIM_SOURCE_DIR};
  const Scenario scenario =
      load_scenario(library.root / "scenarios" / "published" / "streaming_insert.yaml", {}, library);
  const auto risky = riskiest_guesses(scenario, 100);
  REQUIRE(risky.size() >= 3);
  for (std::size_t i = 1; i < risky.size(); ++i)
    CHECK(std::abs(risky[i - 1].change) >= std::abs(risky[i].change));
  // The machine is a guess, and all CPU time goes by its speed: half as fast takes twice as long.
  const auto machine = std::find_if(
      risky.begin(), risky.end(), [](const RiskyGuess& one) { return one.guess.path == "hosts.db.machine"; });
  REQUIRE(machine != risky.end());
  CHECK(machine->change == Approx(1).epsilon(0.1));
  CHECK(riskiest_guesses(scenario, 3).size() == 3);
  for (const RiskyGuess& one : risky) // no index, no trigger: their costs move nothing
    CHECK(one.guess.path.find("index_entry") == std::string::npos);
}
