// More of a good thing is never worse: cores, speed, bandwidth, shorter ways.
#include "tests/models/sample_tables.hpp"
#include "tests/support/scenario_builder.hpp"

#include <catch2/catch.hpp>

using namespace replisim;
using namespace replisim::test;

namespace {

/// Scenarios of several kinds, 100,000 rows each.
std::vector<Scenario> kinds() {
  std::vector<Scenario> out;
  for (const Streaming streaming : {Streaming::Off, Streaming::On, Streaming::Parallel})
    for (const char* work_mem : {"64kB", "64MB"})
      for (const Operation operation : {Operation::Insert, Operation::Update})
        for (const bool rolls_back : {false, true}) {
          Scenario scenario = cluster(typical_costs(), streaming, work_mem);
          scenario.name = fmt::format("{} {} {}{}", to_string(operation), work_mem, to_string(streaming),
                                      rolls_back ? ", a fifth rolled back" : "");
          scenario.tables = {{"test_tab", sample::test_tab(operation == Operation::Insert ? 0 : 100'000)}};
          scenario.publications.at("p").tables = {"test_tab"};
          std::vector<TransactionStep> steps = {StatementStep{operation, "test_tab", 80'000, {}}};
          if (rolls_back)
            steps.push_back(SavepointStep{"sp"});
          steps.push_back(StatementStep{operation, "test_tab", 20'000, {}});
          if (rolls_back)
            steps.push_back(RollbackToStep{"sp"});
          out.push_back(with_batch(scenario, std::move(steps)));
        }
  return out;
}

/// total_s must not grow from one variant to the next (by more than 0.1 %).
template <class Value, class Change>
void check_never_slower(const std::vector<Value>& values, Change change) {
  std::vector<Scenario> scenarios;
  const auto base = kinds();
  for (const auto& kind : base)
    for (const Value value : values) {
      scenarios.push_back(kind);
      change(scenarios.back(), value);
    }
  const auto results = run_all(scenarios);
  for (std::size_t k = 0; k < base.size(); ++k)
    for (std::size_t v = 1; v < values.size(); ++v) {
      const double before_s = results[k * values.size() + v - 1].metrics.at("total_s");
      const double after_s = results[k * values.size() + v].metrics.at("total_s");
      INFO(base[k].name << ", from " << values[v - 1] << " to " << values[v]);
      CHECK(after_s <= before_s * 1.001);
    }
}

} // namespace

TEST_CASE("more cores are never slower") {
  check_never_slower<int>({1, 2, 3, 4, 8, 64}, [](Scenario& scenario, int cores) {
    scenario.hosts.at("db").cores_per_socket = cores;
  });
}

TEST_CASE("second threads are never slower than none") {
  check_never_slower<int>({1, 2}, [](Scenario& scenario, int threads) {
    scenario.hosts.at("db").cores_per_socket = 2;
    scenario.hosts.at("db").threads_per_core = threads;
  });
}

TEST_CASE("a faster machine is never slower") {
  check_never_slower<double>({0.25, 0.5, 1, 2, 4, 100},
                             [](Scenario& scenario, double speed) { scenario.hosts.at("db").speed = speed; });
}

TEST_CASE("more bandwidth is never slower") {
  check_never_slower<double>({1e6, 1e7, 5e7, 1.25e8, 1.25e9, 1e12}, [](Scenario& scenario, double bandwidth) {
    with_link(scenario, 0.001, bandwidth, 8'000'000);
  });
}

TEST_CASE("a shorter way is never slower") {
  check_never_slower<double>({0.2, 0.02, 0.002, 0.0002, 0}, [](Scenario& scenario, double latency_s) {
    with_link(scenario, latency_s, 1.25e8, 8'000'000);
  });
}

TEST_CASE("a larger TCP window is never slower") {
  check_never_slower<Bytes>(
      {100'000, 1'000'000, 10'000'000, 1'000'000'000},
      [](Scenario& scenario, Bytes window_bytes) { with_link(scenario, 0.02, 1.25e8, window_bytes); });
}
