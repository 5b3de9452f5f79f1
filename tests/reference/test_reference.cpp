// The simulator and the reference model on random small scenarios: the counters of pg_stat_replication_slots,
// bytes and rows are equal, dates agree within the resolution. A difference is shrunk and printed as a file.
#include "sim/scenario/loader.hpp"
#include "tests/reference/comparison.hpp"
#include "tests/support/scenario_builder.hpp"

#include <catch2/catch.hpp>
#include <test_paths.hpp>

#include <array>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>

using namespace replisim;
using namespace replisim::test;

namespace {

std::string commit_at_hand() {
  std::array<char, 100> line{};
  FILE* git = popen("git -C '" REPLISIM_SOURCE_DIR "' describe --always --dirty 2>/dev/null", "r");
  if (git != nullptr and std::fgets(line.data(), static_cast<int>(line.size()), git) == nullptr)
    line[0] = '\0';
  if (git != nullptr)
    pclose(git);
  const std::string text = line.data();
  return text.empty() ? std::string("an unknown commit") : "commit " + text.substr(0, text.find('\n'));
}

std::string report(const Case& failing, const Comparison& comparison) {
  std::string text = fmt::format("seed {}, {}\n", failing.seed, commit_at_hand());
  for (const auto& difference : comparison.differences)
    text += "  " + difference + "\n";
  const Case smallest = shrink(failing);
  text += "the smallest scenario that differs:\n";
  const auto shrunk = simulate_and_compare({smallest});
  for (const auto& difference : shrunk.front().differences)
    text += "  " + difference + "\n";
  return text + yaml_of(smallest);
}

/// Compares the cases with these seeds.
void compare_all(std::uint64_t first, std::uint64_t count) {
  constexpr std::uint64_t at_once = 100;
  constexpr int most_reported = 3;
  std::uint64_t differ = 0, races = 0, with_evictions = 0;
  double largest = 0;
  for (std::uint64_t begin = first; begin < first + count; begin += at_once) {
    std::vector<Case> cases;
    for (std::uint64_t seed = begin; seed < std::min(begin + at_once, first + count); ++seed)
      cases.push_back(random_case(seed));
    const auto found = simulate_and_compare(cases);
    for (std::size_t i = 0; i < cases.size(); ++i) {
      races += found[i].race ? 1 : 0;
      with_evictions += found[i].evictions > 0 ? 1 : 0;
      largest = std::max(largest, found[i].largest_s / std::max(1e-12, found[i].resolution_s));
      if (found[i].differences.empty())
        continue;
      if (++differ <= most_reported)
        UNSCOPED_INFO(report(cases[i], found[i]));
    }
  }
  const std::string summary =
      fmt::format("{} of {} scenarios differ; {} hang on a race, {} evict; dates differ by "
                  "{:.2f} of the resolution at most",
                  differ, count, races, with_evictions, largest);
  UNSCOPED_INFO(summary);
  CHECK(differ == 0);
  CHECK(races <= count / 20);
  CHECK(with_evictions > count / 4);
  std::puts(summary.c_str());
}

std::uint64_t number_from(const char* variable, std::uint64_t otherwise) {
  const char* text = std::getenv(variable);
  return text == nullptr ? otherwise : std::strtoull(text, nullptr, 10);
}

} // namespace

TEST_CASE("random small scenarios: the simulator agrees with the reference model") {
  compare_all(1, sanitized ? 25 : 500);
}

// REPLISIM_SEED and REPLISIM_CASES choose which.
TEST_CASE("many random small scenarios: the simulator agrees with the reference model", "[.][soak]") {
  compare_all(number_from("REPLISIM_SEED", 10'001), number_from("REPLISIM_CASES", 5'000));
}

TEST_CASE("a case is printed as a file that gives the same run") {
  for (const std::uint64_t seed : {1, 2, 3, 4, 5, 6}) {
    const Case made = random_case(seed);
    const auto path = std::filesystem::temp_directory_path() / fmt::format("replisim_case_{}.yaml", seed);
    std::ofstream(path) << yaml_of(made);
    const Scenario loaded = load_scenario(path, {}, find_library());
    std::filesystem::remove(path);
    const auto results = run_all({scenario_of(made), loaded});
    INFO(yaml_of(made));
    CHECK(results[0].subscriptions.at("s").at("sent_bytes") ==
          results[1].subscriptions.at("s").at("sent_bytes"));
    REQUIRE(results[0].transactions.size() == results[1].transactions.size());
    for (std::size_t i = 0; i < results[0].transactions.size(); ++i)
      CHECK(results[0].transactions[i].applied_s ==
            Approx(results[1].transactions[i].applied_s).epsilon(1e-6));
  }
}
