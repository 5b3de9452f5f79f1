// What pgbench prints and logs, old and new, whole and broken.
#include "calibration/readers/pgbench.hpp"
#include "test_paths.hpp"

#include <catch2/catch.hpp>

#include <algorithm>

using namespace replisim::readers;

namespace {

ReadResult read_text(const std::string& text) {
  ReadResult result;
  LineInput input = LineInput::over_text("f", text, result.problems);
  read_input(input, {}, result.observation, result.problems);
  return result;
}

double figure(const ReadResult& result, const std::string& metric, const std::string& stat = "") {
  for (const Figure& f : result.observation.figures)
    if (f.metric == metric and (stat.empty() or (f.labels.contains("stat") and f.labels.at("stat") == stat)))
      return f.value;
  return -1;
}

std::string reader_of(const ReadResult& result) {
  return result.observation.sources.empty() ? "" : result.observation.sources.front().reader;
}

std::string first_problem(const ReadResult& result) {
  return result.problems.empty() ? "" : result.problems.groups().front().to_string();
}

const std::string summary =
    "transaction type: <builtin: TPC-B (sort of)>\nscaling factor: 10\nnumber of clients: 10\n"
    "number of transactions actually processed: 48232\n"
    "number of failed transactions: 0 (0.000%)\nlatency average = 12.440 ms\n"
    "initial connection time = 36.209 ms\n"
    "tps = 803.850282 (without initial connection time)\n";

} // namespace

TEST_CASE("pgbench's output gives rate, latency and the progress of a run") {
  ReadResult result =
      read_paths({std::string(REPLISIM_SOURCE_DIR) + "/tests/calibration/samples/pgbench_output_15.txt"}, {});
  CHECK(reader_of(result) == "pgbench");
  CHECK(figure(result, "tps") == 2090.464257);
  CHECK(figure(result, "latency_s", "mean") == Approx(0.003801));
  CHECK(figure(result, "latency_s", "stddev") == Approx(0.002054));
  CHECK(figure(result, "transactions") == 52264);
  CHECK(figure(result, "clients") == 8);
  const auto& all = result.observation.all_series();
  const auto tps = std::find_if(all.begin(), all.end(), [](const auto& s) { return s.first.first == "tps"; });
  REQUIRE(tps != all.end());
  CHECK(tps->second.count() == 25);
  CHECK(tps->second.first().value == 1850.3);
  CHECK(tps->second.last().at_us == 25'000'000);
  CHECK(result.problems.empty());
}

TEST_CASE("old wording: two rates, latency with a colon") {
  const ReadResult result =
      read_text("transaction type: TPC-B (sort of)\nscaling factor: 1\nnumber of clients: 10\n"
                "number of transactions actually processed: 100/100\nlatency average: 117.392 ms\n"
                "tps = 85.184871 (including connections establishing)\n"
                "tps = 85.296346 (excluding connections establishing)\n");
  CHECK(figure(result, "tps") == 85.296346);
  CHECK(figure(result, "tps_with_connecting") == 85.184871);
  CHECK(figure(result, "transactions") == 100);
  CHECK(figure(result, "latency_s", "mean") == Approx(0.117392));
  CHECK(result.problems.empty());
}

TEST_CASE("a pgbench output that is cut, or whose figures do not agree") {
  CHECK(first_problem(read_text(summary)) == "");
  CHECK(first_problem(read_text(summary.substr(0, summary.find("tps = "))))
            .find("ends before the line 'tps = ...'") != std::string::npos);
  std::string odd = summary;
  odd.replace(odd.find("803.85"), 6, "903.85");
  CHECK(first_problem(read_text(odd))
            .find("10 clients at 12.440 ms make 803.9 transactions a second, the file says 903.9") !=
        std::string::npos);
  std::string comma = summary;
  comma.replace(comma.find("803.850282"), 10, "803,850282");
  const ReadResult with_comma = read_text(comma);
  CHECK(figure(with_comma, "tps") == 803.850282);
  CHECK(first_problem(with_comma).find("the comma was read as a decimal point (803.850282)") !=
        std::string::npos);
}

TEST_CASE("per-transaction logs: outcomes, lag and retries") {
  const ReadResult result =
      read_text("0 1 1000 0 1700000000 0\n1 1 3000 0 1700000000 500000\n0 2 skipped 0 1700000001 0 12\n"
                "0 3 2000 0 1700000002 0 5 1\n1 2 serialization 0 1700000002 1 0 3\n0 4 x 0 1 2\n");
  CHECK(reader_of(result) == "pgbench-log");
  CHECK(figure(result, "transactions") == 3);
  CHECK(figure(result, "tps") == Approx(1)); // two more in two seconds
  CHECK(figure(result, "latency_s", "mean") == Approx(0.002));
  CHECK(figure(result, "latency_s", "max") == Approx(0.003));
  CHECK(figure(result, "retries") == 1);
  CHECK(result.problems.count() == 1);
  CHECK(first_problem(result).find("latency: 'x' is no whole number; it was left out") != std::string::npos);
}

TEST_CASE("aggregated logs of every version") {
  std::string why;
  CHECK(parse_pgbench_interval("1700000000 10 1000 20000 50 200", why)->latency_sum_us == 1000);
  CHECK(parse_pgbench_interval("1700000000 10 1000 20000 50 200 0 0 0 0 3", why)->skipped == 3);
  const auto fifteen = parse_pgbench_interval("1700000000 10 1000 20000 50 200 0 0 0 0 1 2 3 4 5", why);
  CHECK(fifteen->retries == 3);
  CHECK(fifteen->failures == 9);
  CHECK(parse_pgbench_interval("1700000000 10 1000 20000 50 200 0 0 0 0 1 2 3 4 5 6", why)->failures == 15);
  CHECK_FALSE(parse_pgbench_interval("1700000000 10 1000 20000 50 200 0", why));
  CHECK(why == "the line has 7 fields; an interval has 6, 10, 11 (14 and before), 15 (15 to 18) or 16 (19)");

  const ReadResult result = read_text("1700000000 100 200000 0 1 5000\n1700000005 50 150000 0 1 9000\n");
  CHECK(reader_of(result) == "pgbench-aggregate");
  CHECK(figure(result, "transactions") == 150);
  CHECK(figure(result, "latency_s", "mean") == Approx(350'000e-6 / 150));
  CHECK(figure(result, "latency_s", "max") == Approx(0.009));
}
