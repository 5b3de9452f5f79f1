// What a profile was validated for, and runs that leave it.
#include "sim/scenario/envelope.hpp"
#include "test_paths.hpp"

#include <catch2/catch.hpp>

using namespace replisim;

namespace {

Scenario published(const std::string& transaction) {
  return load_scenario(std::string(REPLISIM_SOURCE_DIR) +
                           "/scenarios/published/streaming_rollback_20pct.yaml",
                       {parse_override(transaction)}, Library{REPLISIM_SOURCE_DIR});
}

} // namespace

TEST_CASE("the quantities of a scenario, by hand") {
  const Envelope here = quantities_of(published("subscriptions.s.streaming=off"));
  CHECK(here.at("transaction_rows").to == 5'000'000);
  CHECK(here.at("rolled_back").from == Approx(0.2));
  CHECK(here.at("row_bytes").to == 80);
  CHECK(here.at("columns").to == 4);
  CHECK(here.at("secondary_indexes").to == 0);
  CHECK(here.at("logical_decoding_work_mem").from == 64 * 1024);
  CHECK(here.at("slots").to == 1);
  CHECK(here.at("hosts").to == 1);
  CHECK(here.at("cpus").to == 120);
  CHECK(here.at("server_version").to == 17);
}

TEST_CASE("rows rolled back through savepoints are counted once") {
  const Envelope here = quantities_of(
      published("workload.batch.transaction=[{insert: test_tab, rows: 600}, {savepoint: a}, {insert: "
                "test_tab, rows: 300}, "
                "{savepoint: b}, {insert: test_tab, rows: 100}, {rollback_to: b}, {rollback_to: a}]"));
  CHECK(here.at("transaction_rows").to == 1000);
  CHECK(here.at("rolled_back").to == Approx(0.4));
}

TEST_CASE("a run outside of the envelope names the quantity and how far") {
  const Scenario scenario = published("subscriptions.s.streaming=off");
  CHECK(envelope_warnings(scenario, {}).empty());
  CHECK(envelope_warnings(scenario, {{"transaction_rows", {1000, 5'000'000}}}).empty());
  CHECK(envelope_warnings(scenario, {{"transaction_rows", {1000, 500'000}},
                                     {"logical_decoding_work_mem", {256 * 1024, 64 * 1024 * 1024}},
                                     {"rolled_back", {0, 0}},
                                     {"server_version", {18, 18}}}) ==
        std::vector<std::string>{
            "profile seed1-host was validated with server_version at 18; here it is 17, an earlier one",
            "profile seed1-host was validated with transaction_rows from 1,000 to 500,000; here it is "
            "5,000,000, "
            "10 times "
            "the largest",
            "profile seed1-host was validated with rolled_back at 0%; here it is 20%, more than the largest",
            "profile seed1-host was validated with logical_decoding_work_mem from 256 kB to 64 MB; here it "
            "is 64 kB, "
            "the smallest is 4 times that"});
}

TEST_CASE("the envelopes of the shipped profiles reach the runs they serve") {
  const auto is_about = [](const Scenario& scenario, const std::string& quantity) {
    for (const std::string& warning : scenario.warnings)
      if (warning.find("was validated with " + quantity) != std::string::npos)
        return true;
    return false;
  };
  CHECK_FALSE(is_about(published("subscriptions.s.streaming=off"), ""));
  CHECK(is_about(published("workload.batch.transaction[0].rows=50000000"), "transaction_rows"));
}
