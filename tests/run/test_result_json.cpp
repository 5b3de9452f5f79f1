// Results as JSON and as the record a child sends: nothing is lost, nothing of the wall clock leaks.
#include "models/base/errors.hpp"
#include "sim/run/json_reading.hpp"
#include "sim/run/result_json.hpp"
#include "tests/run/sample.hpp"

#include <catch2/catch.hpp>

#include <cmath>
#include <limits>

using namespace replisim;
using nlohmann::json;
using test::sample_result;

TEST_CASE("the public form has exactly the fixed keys") {
  const json object = result_json(sample_result());
  std::vector<std::string> keys;
  for (const auto& [key, value] : object.items())
    keys.push_back(key);
  CHECK(keys == std::vector<std::string>{"analytic", "bottleneck", "bottleneck_reason", "clients",
                                         "fingerprint", "guesses", "metrics", "outcomes", "scenario",
                                         "scenario_hash", "seed", "sessions", "stages", "statistics",
                                         "subscriptions", "transactions", "version", "warnings"});
  CHECK(object["fingerprint"] == "deadbeefcafef00d");
  CHECK(object["seed"].get<std::uint64_t>() == 18446744073709551615ULL);
  CHECK(object["stages"]["apply"] == json{{"busy", 0.5}, {"starved", 0.125}, {"blocked", 0.375}});
  CHECK(object["guesses"][0] ==
        json{{"path", "hosts.db.machine"}, {"value", "seed1-host"}, {"reason", "nobody said"}});
  CHECK(object["subscriptions"]["s"]["metrics"]["total_s"] == 0.1 + 0.2);
  CHECK(object["transactions"][0]["rows_applied"] == 4'000'000);
}

TEST_CASE("numbers print whole where they are whole and read back exactly otherwise") {
  CHECK(number_json(1401).dump() == "1401");
  CHECK(number_json(-0.0).dump() == "0");
  CHECK(number_json(37.304).dump() == "37.304");
  CHECK(number_json(std::numeric_limits<double>::quiet_NaN()).is_null());
  CHECK(number_json(std::numeric_limits<double>::infinity()).is_null());
  for (const double value : {1.0 / 3, 0.1 + 0.2, 1e-300, 9007199254740993.0 * 4, 5e-324})
    CHECK(json::parse(number_json(value).dump()).get<double>() == value);
}

TEST_CASE("the public form reads back") {
  const RunResult before = sample_result();
  const RunResult after = result_from_json(json::parse(json_text(result_json(before))));
  CHECK(json_text(result_json(after)) == json_text(result_json(before)));
  CHECK(after.metrics == before.metrics);
  CHECK(after.fingerprint == before.fingerprint);
  CHECK(after.transactions.at(0).commit_s == 12.25);
  CHECK(after.transactions.at(0).lag_anatomy.at("s").of(LagStage::ReceiveQueue) == 7);
  CHECK(after.transactions.at(0).deliveries.at("s").sent_to_s == 36);
  CHECK(after.transactions.at(0).deliveries.at("s").first_lock_s == -1);
  CHECK(after.transactions.at(0).deliveries.at("s").worker == 2);
  CHECK(after.verdicts.at("s").next_stage == "pub.walsender");
  CHECK(after.lag_anatomies.at("s").stages[8].p99_s == 0.75);
}

TEST_CASE("the parts of a lag are whole nanoseconds with their sums beside them") {
  const json object = result_json(sample_result());
  const json& lag = object["transactions"][0]["lag_anatomy"]["s"];
  CHECK(lag["executing_ns"] == 5);
  CHECK(lag["stages_ns"] == json{{"commit_flush", 1},
                                 {"waiting_to_be_read", 2},
                                 {"decode", 3},
                                 {"spill_and_restore", 4},
                                 {"send_queue", 5},
                                 {"transfer", 6},
                                 {"receive_queue", 7},
                                 {"apply", 8},
                                 {"commit", 9}});
  CHECK(lag["lag_ns"] == 45);
  CHECK(lag["begin_to_applied_ns"] == 50);
  CHECK(lag["feedback_ns"] == 11);
  const json& slot = object["subscriptions"]["s"];
  CHECK(slot["blame"]["stage"] == "network");
  CHECK(slot["lag_anatomy"]["transactions"] == 3);
  CHECK(slot["lag_anatomy"]["stages"]["apply"]["mean_s"] == 0.125);
  CHECK(slot["lag_anatomy"]["lag"]["p95_s"] == 1);
}

TEST_CASE("an object that is no result gives a sentence") {
  CHECK_THROWS_AS(result_from_json(json::object()), UsageError);
  json object = result_json(sample_result());
  object["fingerprint"] = "xyz";
  CHECK_THROWS_WITH(result_from_json(object), Catch::Contains("fingerprint"));
  object = result_json(sample_result());
  object["metrics"]["total_s"] = "fast";
  CHECK_THROWS_AS(result_from_json(object), UsageError);
}

TEST_CASE("bytes that are no UTF-8 do not stop the output") {
  RunResult r = sample_result();
  r.scenario = "caf\xe9";
  CHECK_NOTHROW(json::parse(json_text(result_json(r))));
}

TEST_CASE("the full form keeps timeline, events and wall-clock figures") {
  const RunResult before = sample_result();
  const RunResult after = decode_result(encode_result(before));
  CHECK(after.timeline.columns == before.timeline.columns);
  CHECK(after.timeline.rows == before.timeline.rows);
  CHECK(after.events == 12345);
  CHECK(after.simulated_s == 37.5);
  CHECK(after.wall_s == 0.015);
  CHECK(after.engine_options == before.engine_options);
  CHECK(after.metrics == before.metrics);
  CHECK(after.seed == before.seed);
}

TEST_CASE("an empty result survives the full form") {
  const RunResult after = decode_result(encode_result({}));
  CHECK(after.timeline.rows.empty());
  CHECK(after.metrics.empty());
}

TEST_CASE("what is not finite comes back as not a number") {
  RunResult r;
  r.metrics = {{"x", std::numeric_limits<double>::infinity()}};
  CHECK(std::isnan(decode_result(encode_result(r)).metrics.at("x")));
}

TEST_CASE("foreign bytes are refused") {
  CHECK_THROWS_AS(decode_result("garbage"), InvariantViolation);
  CHECK_THROWS_AS(decode_result(""), InvariantViolation);
  const std::string whole = encode_result(sample_result());
  CHECK_THROWS_AS(decode_result(whole.substr(0, whole.size() / 2)), InvariantViolation);
}

TEST_CASE("a ragged timeline is a bug and says so") {
  RunResult r;
  r.timeline = {{"t_s", "a"}, {{0, 1}, {2}}};
  CHECK_THROWS_AS(encode_result(r), InvariantViolation);
}

TEST_CASE("JSON of others is read to a depth") {
  const auto nested = [](int depth) {
    const auto levels = static_cast<std::size_t>(depth);
    return std::string(levels, '[') + std::string(levels, ']');
  };
  CHECK(parse_json(nested(deepest_json)).is_array());
  CHECK(parse_json(nested(deepest_json + 1)).is_discarded());
  CHECK(parse_json(nested(1'000'000)).is_discarded());
  CHECK(parse_json("{\"a\\\"[\": \"" + std::string(1000, '[') + "\"}")
            .is_object()); // brackets of texts are none
  CHECK(parse_json("[1, 2").is_discarded());
  CHECK(parse_json("").is_discarded());
}
