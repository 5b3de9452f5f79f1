// Sweep axes and break-even questions.
#include "tests/scenario/scenario_files.hpp"

#include <catch2/catch.hpp>

using namespace replisim;
using namespace replisim::test;

TEST_CASE("axes keep the order of the file; values are YAML text with labels") {
  const Scenario s = load_text(sound + R"(sweep:
  subscriptions.s.streaming: [off, on, parallel]
  workload.w.transaction:
    insert: [{insert: t, rows: 5}]
    half undone: [{insert: t, rows: 5, rolled_back: 50%}]
  hosts.db.cores_per_socket: [1, 2]
)");
  REQUIRE(s.sweep.size() == 3);
  CHECK(s.sweep[0].path == "subscriptions.s.streaming");
  CHECK(s.sweep[0].values.at(0) == std::pair<std::string, std::string>("off", "off"));
  CHECK(s.sweep[1].values.at(1) ==
        std::pair<std::string, std::string>("half undone", "[{insert: t, rows: 5, rolled_back: 50%}]"));
  CHECK(s.sweep[2].values.size() == 2);
  // Each value works as an override.
  for (const SweepAxis& axis : s.sweep)
    for (const auto& [label, value] : axis.values)
      CHECK(errors_of(sound, {{axis.path, value}}).empty());
}

TEST_CASE("mistakes in axes are reported where they stand") {
  const Lines found = errors_of(sound + R"(sweep:
  subscriptions.s.streeming: [off, on]
  servers.pub.settings.logical_decoding_work_mem: [64kB, 256]
  tables.t.rows: [1, many]
  hosts.db: [lab-2core, lab-3core]
  observe.interval: 5s
  links[0].latency: [1ms]
  a..b: [1]
)");
  REQUIRE(found.size() == 6);
  CHECK(found[0] == "13:3 subscriptions.s.streeming: unknown key 'streeming' (did you mean 'streaming'?)");
  CHECK(found[1].find("15:22 tables.t.rows: 'many' is not a whole number") == 0);
  CHECK(found[2] == "16:25 hosts.db.machine: unknown machine 'lab-3core' (did you mean 'lab-2core'?)");
  CHECK(found[3].find("17:21 sweep.observe.interval: '5s' stands where") == 0);
  CHECK(found[4] == "18:3 links[0].latency: `links` is nothing, not a list; it has no [0]");
  CHECK(found[5].find("19:3 sweep.a..b: ") == 0);
}

TEST_CASE("a value may not stand twice in an axis") {
  CHECK(errors_of(sound + "sweep: {tables.t.rows: [1, 2, 1]}\n") ==
        Lines{"12:31 sweep.tables.t.rows: the value 1 stands twice in this axis"});
}

TEST_CASE("a break-even question names a setting, a quantity and a range") {
  const std::string question = R"(break_even:
  - between: {subscriptions.s.streaming: [off, parallel]}
    over: "workload.w.transaction[0].rolled_back"
    range: [0%, 50%]
)";
  const Scenario s = load_text(sound + question);
  REQUIRE(s.break_even.size() == 1);
  CHECK(s.break_even[0].metric == "total_s");
  CHECK(s.break_even[0].path == "subscriptions.s.streaming");
  CHECK(s.break_even[0].first == "off");
  CHECK(s.break_even[0].second == "parallel");
  CHECK(s.break_even[0].over == "workload.w.transaction[0].rolled_back");
  CHECK(s.break_even[0].low == 0);
  CHECK(s.break_even[0].high == 0.5);

  CHECK(errors_of(sound + replaced(question, "50%", "150%")) ==
        Lines{"15:17 break_even[0].range[1]: 150% is out of range; allowed: 0% to 100%"});
  CHECK(errors_of(sound + replaced(question, "[0%, 50%]", "[50%, 0%]")) ==
        Lines{"15:12 break_even[0].range: the lowest value comes first, the highest second"});
  CHECK(errors_of(sound + replaced(question, "[off, parallel]", "[off]")).size() == 1);
  CHECK(errors_of(sound + replaced(question, "[off, parallel]", "[off, of]")).size() == 1);
  CHECK(errors_of(sound + replaced(question, "rolled_back", "insert")).size() >= 1);
  CHECK(errors_of(sound + replaced(question, "rolled_back", "rolled")).size() >= 1);
}

TEST_CASE("a break-even over a setting uses its units") {
  const Scenario s = load_text(sound + R"(break_even:
  - between: {subscriptions.s.streaming: [off, on]}
    over: servers.pub.settings.logical_decoding_work_mem
    range: [64kB, 64MB]
)");
  CHECK(s.break_even.at(0).low == 65536);
  CHECK(s.break_even.at(0).high == 64.0 * 1024 * 1024);
}
