// What a publication and a subscription say about the rows: operations, columns, binary values; and the
// catalog horizon that slots hold.
#include "tests/support/scenario_builder.hpp"

#include <catch2/catch.hpp>

using namespace replisim;
using namespace replisim::test;

namespace {

/// A uuid key and a text of 100 bytes: 8 + 41 + 105 bytes of message body.
Scenario wide(Streaming streaming = Streaming::Off) {
  Scenario scenario = cluster(typical_costs(), streaming, "64MB");
  scenario.tables.at("t").columns.push_back({"v", ColumnType::Text, 100, {}});
  return with_batch(scenario, {insert("t", 1'000)});
}

double sent(const Scenario& scenario) { return run(scenario).metrics.at("sent_bytes"); }

} // namespace

TEST_CASE("a column list makes messages shorter and leaves WAL and memory as they are") {
  Scenario listed = wide();
  listed.publications.at("p").column_lists = {{"t", {0}}};
  const auto found = run_all({wide(), listed});
  // 105 bytes a row, and in the Relation message name, flags, type and typmod of the column.
  CHECK(found[0].metrics.at("sent_bytes") - found[1].metrics.at("sent_bytes") == 1'000 * 105 + 11);
  CHECK(found[0].metrics.at("total_bytes") == found[1].metrics.at("total_bytes"));
  CHECK(found[0].metrics.at("wal_bytes") == found[1].metrics.at("wal_bytes"));
  CHECK(found[0].metrics.at("cpu_pub.walsender_s") > found[1].metrics.at("cpu_pub.walsender_s"));
}

TEST_CASE("binary values: 16 bytes of a uuid in place of 36") {
  Scenario binary = wide();
  binary.subscriptions.at("s").binary = true;
  CHECK(sent(wide()) - sent(binary) == 1'000 * 20);
}

TEST_CASE("an operation that is not published is decoded in vain") {
  Scenario inserts_only = cluster(typical_costs(), Streaming::Off, "64MB");
  inserts_only.tables.at("t").initial_rows = 10'000;
  inserts_only.publications.at("p").updates = false;
  StatementStep update;
  update.operation = Operation::Update;
  update.table = "t";
  update.rows = 500;
  with_batch(inserts_only, {insert("t", 200), update});
  const auto result = run(inserts_only);
  CHECK(result.transactions.front().rows == 700);
  CHECK(result.transactions.front().rows_applied == 200);
}

TEST_CASE("upserts with streaming are spilled where a row is cut in two, and all arrive") {
  Scenario scenario = cluster(typical_costs(), Streaming::Parallel, "64kB");
  StatementStep upsert = insert("t", 20'000);
  upsert.speculative = true;
  with_batch(scenario, {upsert});
  const auto result = run(scenario);
  CHECK(result.transactions.front().rows_applied == 20'000);
  CHECK(result.metrics.at("stream_bytes") == 20'000 * (144 + 80));
  CHECK(result.metrics.at("spill_count") == 20'000 / 293);
  CHECK(result.metrics.at("stream_count") == 20'000 / 293 + 1);
}

TEST_CASE("an open transaction holds the catalog horizon of a slot") {
  const auto ages = [](bool open) {
    Scenario scenario = cluster(typical_costs(), Streaming::Off);
    FlowLoad flow;
    flow.name = "flow";
    flow.server = "pub";
    flow.rate_per_s = 10;
    flow.transaction = {insert("t", 1)};
    scenario.flows = {flow};
    if (open)
      with_batch(scenario, {insert("t", 1), PauseStep{95}}, "open", 0.01);
    scenario.observe.until_s = 100;
    return run(scenario).metrics.at("catalog_xmin_age_xids");
  };
  CHECK(ages(true) >= 990);
  CHECK(ages(false) <= 160); // running transactions are noted every 15 s
}
