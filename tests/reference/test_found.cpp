// What the comparison with the reference model has found, each as a small case of its own.
#include "tests/reference/comparison.hpp"
#include "tests/support/scenario_builder.hpp"

#include <catch2/catch.hpp>

using namespace replisim;
using namespace replisim::test;

namespace {

/// Rows of `t1`, 688 bytes each in the reorder buffer of 64 kB: every 96th fills it.
Case case_of(Streaming streaming, std::vector<TransactionStep> steps) {
  Case made;
  made.streaming = streaming;
  made.costs = usual_costs();
  made.tables = {{uuid_table("t1"), true}, {uuid_table("t2"), true}};
  made.tables.front().table.columns.push_back({"c", ColumnType::Text, 540, {}});
  made.transactions = {batch_of("b1", std::move(steps))};
  return made;
}

void check_agrees(const Case& made) {
  const Comparison found = simulate_and_compare({made}).front();
  INFO(yaml_of(made));
  CHECK(found.differences == std::vector<std::string>{});
}

} // namespace

TEST_CASE("a rollback to a savepoint takes along what was released within it") {
  for (const Streaming streaming : {Streaming::Off, Streaming::On, Streaming::Parallel})
    for (const Rows rows : {10, 300})
      for (const bool rolls_back : {false, true}) {
        Case made = case_of(streaming,
                            {insert("t1", rows), SavepointStep{"a"}, insert("t1", rows), SavepointStep{"b"},
                             insert("t1", rows), ReleaseStep{"b"}, insert("t1", rows)});
        auto& steps = made.transactions.front().transaction;
        if (not rolls_back)
          steps.emplace_back(RollbackToStep{"a"});
        steps.emplace_back(insert("t1", rows));
        made.transactions.front().rolls_back = rolls_back;
        made.transactions.push_back(batch_of("b2", {insert("t1", 5)}, 0.01));
        check_agrees(made);
      }
}

TEST_CASE("with the remainder of a spilled transaction its subtransactions are spilled") {
  check_agrees(case_of(Streaming::Off, {insert("t1", 100), SavepointStep{"a"}, insert("t1", 7)}));
}

TEST_CASE("a rolled back subtransaction of which nothing was streamed is not announced") {
  for (const Streaming streaming : {Streaming::On, Streaming::Parallel})
    check_agrees(case_of(streaming, {insert("t1", 100), SavepointStep{"a"}, insert("t1", 7),
                                     RollbackToStep{"a"}, insert("t1", 1)}));
}

TEST_CASE("an empty last chunk is counted when the next bytes are") {
  Case made = case_of(Streaming::On, {insert("t1", 96)});
  check_agrees(made);
  made.transactions.push_back(batch_of("b2", {insert("t1", 5)}, 0.01));
  check_agrees(made);
}

TEST_CASE("messages of different size fill the window as they come") {
  Case made = case_of(Streaming::Off, {insert("t2", 120), insert("t1", 300), insert("t2", 200)});
  made.link = Link{"db", "other", 1e9, 0, 20'000};
  check_agrees(made);
}

TEST_CASE("behind a latency one window a round trip passes, however coarse the time") {
  for (const int work_mem_kb : {64, 64 * 1024}) {
    Case made = case_of(Streaming::Off, {insert("t2", 4'000)});
    made.link = Link{"db", "other", 1e9, 5 * ms, 20'000};
    made.work_mem_kb = work_mem_kb;
    made.batch_rows = 800;
    check_agrees(made);
  }
}

TEST_CASE("behind a latency the window is filled to the message, also where a piece could be as large") {
  for (const Rows batch_rows : {1, 50, 800}) {
    Case made = case_of(Streaming::Off, {insert("t2", 2'000)});
    made.tables.erase(made.tables.begin()); // rows of one size: two windows once passed in a round trip
    made.link = Link{"db", "other", 1e9, 20 * ms, 20'000};
    made.work_mem_kb = 64 * 1024;
    made.batch_rows = batch_rows;
    const Comparison found = simulate_and_compare({made}).front();
    INFO(yaml_of(made));
    CHECK(found.differences == std::vector<std::string>{});
    CHECK(found.largest_s < 25 * ms); // of eight round trips
  }
}

// A transaction's window and its neighbour's; messages beside rows fill the window; what comes back from
// files in batches; a subtransaction of a transaction found aborted.
TEST_CASE("seeds of the long comparison that once differed") {
  for (const std::uint64_t seed : {10'702, 10'848, 10'915, 10'984, 11'599, 12'006, 12'594, 14'133, 14'306}) {
    INFO("seed " << seed);
    check_agrees(random_case(seed));
  }
}
