// What batching must not change: counters are exact at any time resolution, times move by less than
// half a percent, and the number of events does not follow the number of rows.
#include "tests/models/sample_tables.hpp"
#include "tests/support/scenario_builder.hpp"

#include <catch2/catch.hpp>

using namespace replisim;
using namespace replisim::test;

namespace {

const std::vector<Streaming> modes = {Streaming::Off, Streaming::On, Streaming::Parallel};

/// One transaction of `rows` rows of test_tab; the last `lost` of them are rolled back.
Scenario test_tab(Operation operation, Rows rows, Streaming streaming, const std::string& work_mem,
                  Rows lost = 0, int major = 17) {
  Scenario scenario = cluster(typical_costs(), streaming, work_mem, 16, {major, 0});
  scenario.tables = {{"test_tab", sample::test_tab(operation == Operation::Insert ? 0 : rows)}};
  scenario.publications.at("p").tables = {"test_tab"};
  std::vector<TransactionStep> steps = {StatementStep{operation, "test_tab", rows - lost, {}}};
  if (lost > 0) {
    steps.push_back(SavepointStep{"sp"});
    steps.push_back(StatementStep{operation, "test_tab", lost, {}});
    steps.push_back(RollbackToStep{"sp"});
  }
  return with_batch(scenario, std::move(steps));
}

constexpr Rows lab_rows = 500'000;

/// A pair of counters as the lab's servers counted them.
struct Counted {
  Operation operation;
  const char* work_mem;
  double count;
  double bytes;
  double spill_file_bytes;
  double tmp_file_bytes;
};

const std::vector<Counted> counted = {
    {Operation::Insert, "64kB", 1401, 92'000'000, 96'000'000, 50'888'967},
    {Operation::Insert, "256kB", 351, 92'000'000, 96'000'000, 50'888'967},
    {Operation::Insert, "64MB", 2, 92'000'000, 96'000'000, 50'888'967},
    {Operation::Update, "64kB", 1401, 92'000'000, 96'000'000, 0},
    {Operation::Update, "256kB", 351, 92'000'000, 96'000'000, 0},
    {Operation::Update, "64MB", 2, 92'000'000, 96'000'000, 0},
    {Operation::Delete, "64kB", 1007, 66'000'000, 70'000'000, 12'888'967},
    {Operation::Delete, "256kB", 252, 66'000'000, 70'000'000, 12'888'967},
};

void check_counters(const RunResult& result, const Counted& cell, Streaming streaming) {
  const auto& metrics = result.metrics;
  const bool off = streaming == Streaming::Off;
  CHECK(metrics.at("spill_txns") == (off ? 1 : 0));
  CHECK(metrics.at("spill_count") == (off ? cell.count : 0));
  CHECK(metrics.at("spill_bytes") == (off ? cell.bytes : 0));
  CHECK(metrics.at("stream_txns") == (off ? 0 : 1));
  CHECK(metrics.at("stream_count") == (off ? 0 : cell.count));
  CHECK(metrics.at("stream_bytes") == (off ? 0 : cell.bytes));
  CHECK(metrics.at("total_txns") == 1);
  CHECK(metrics.at("total_bytes") == cell.bytes);
  CHECK(metrics.at("peak_spill_file_bytes") == (off ? cell.spill_file_bytes : 0));
  if (streaming == Streaming::On and cell.tmp_file_bytes > 0)
    CHECK(metrics.at("peak_sub_tmp_file_bytes") == cell.tmp_file_bytes);
  if (streaming != Streaming::On)
    CHECK(metrics.at("peak_sub_tmp_file_bytes") == 0);
}

} // namespace

TEST_CASE("the counters of the lab's runs, whatever the batch size") {
  const std::vector<Rows> batches = {0,       sanitized ? 9'700 : 97, 1'000, 2'356, 131'072,
                                     lab_rows}; // 0: automatic
  std::vector<Scenario> scenarios;
  for (const auto& cell : counted)
    for (const Streaming streaming : modes)
      for (const Rows batch : batches) {
        scenarios.push_back(test_tab(cell.operation, lab_rows, streaming, cell.work_mem));
        if (batch > 0)
          with_batches_of(scenarios.back(), batch);
      }
  const auto results = run_all(scenarios);
  std::size_t next = 0;
  for (const auto& cell : counted)
    for (const Streaming streaming : modes)
      for (std::size_t batch = 0; batch < batches.size(); ++batch) {
        const auto& result = results[next++];
        INFO(to_string(cell.operation) << " " << cell.work_mem << " " << to_string(streaming)
                                       << ", batches of " << result.engine_options.at("rows_per_batch"));
        check_counters(result, cell, streaming);
      }
}

TEST_CASE("one row per batch gives the same counters and nearly the same times") {
  for (const Streaming streaming : modes) {
    INFO(to_string(streaming));
    Scenario coarse = test_tab(Operation::Insert, 20'000, streaming, "64kB");
    with_batches_of(coarse, 50);
    Scenario fine = coarse;
    with_batches_of(fine, 1);
    const auto results = run_all({coarse, fine});
    for (const char* metric : {"spill_count", "spill_bytes", "stream_count", "stream_bytes", "total_bytes",
                               "wal_bytes", "sent_bytes", "peak_sub_tmp_file_bytes"}) {
      INFO(metric);
      CHECK(results[0].metrics.at(metric) == results[1].metrics.at(metric));
    }
    CHECK(results[0].metrics.at("total_s") == Approx(results[1].metrics.at("total_s")).epsilon(0.01));
  }
}

TEST_CASE("halving and doubling the time resolution moves the total by less than half a percent") {
  struct Case {
    Operation operation;
    Rows lost;
  };
  constexpr Rows rows = 5'000'000;
  std::vector<Scenario> automatic;
  std::vector<std::string> names;
  for (const Case& c : {Case{Operation::Insert, 0}, Case{Operation::Update, 0}, Case{Operation::Delete, 0},
                        Case{Operation::Insert, rows / 5}})
    for (const Streaming streaming : modes)
      for (const char* work_mem : {"64kB", "256kB", "64MB"}) {
        automatic.push_back(test_tab(c.operation, rows, streaming, work_mem, c.lost));
        names.push_back(
            fmt::format("{} {} {} {} lost", to_string(c.operation), to_string(streaming), work_mem, c.lost));
      }
  const auto reference = run_all(automatic);
  std::vector<Scenario> others;
  for (std::size_t i = 0; i < automatic.size(); ++i)
    for (const double factor : {0.5, 2.0}) {
      others.push_back(automatic[i]);
      others.back().time_resolution_s =
          factor * std::stod(reference[i].engine_options.at("time_resolution_s"));
    }
  const auto moved = run_all(others);
  for (std::size_t i = 0; i < moved.size(); ++i) {
    INFO(names[i / 2] << (i % 2 == 0 ? ", halved" : ", doubled"));
    CHECK(moved[i].engine_options.at("rows_per_batch") !=
          reference[i / 2].engine_options.at("rows_per_batch"));
    CHECK(moved[i].metrics.at("total_s") == Approx(reference[i / 2].metrics.at("total_s")).epsilon(0.005));
  }
}

TEST_CASE("a hundred times the rows cost about twice the events") {
  for (const Streaming streaming : modes)
    for (const char* work_mem : {"64kB", "64MB"}) {
      INFO(to_string(streaming) << " " << work_mem);
      const auto results = run_all({test_tab(Operation::Insert, 5'000'000, streaming, work_mem),
                                    test_tab(Operation::Insert, 500'000'000, streaming, work_mem)});
      CHECK(results[0].events > 1000);
      // Pieces are as many; the subscriber's WAL writer finds each one by itself and not several in a tick.
      CHECK(100 * results[1].events <= 225 * results[0].events);
      CHECK(results[1].events <= 33'000);
      CHECK(results[1].transactions.front().rows_applied == 500'000'000);
      CHECK(results[1].metrics.at("total_s") == Approx(100 * results[0].metrics.at("total_s")).epsilon(0.02));
    }
}
