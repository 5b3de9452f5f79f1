// Flows of small transactions: sizes and costs of one, load curves, page images, random arrivals, delays.
#include "models/base/random.hpp"
#include "models/flow_shape.hpp"
#include "models/lag_sketch.hpp"
#include "tests/models/sample_tables.hpp"

#include <catch2/catch.hpp>

#include <cmath>
#include <set>

using namespace replisim;
using sample::test_tab;

namespace {

const std::map<std::string, Table> tables = {{"test_tab", test_tab(20'000)}};

/// Deletes `rows` rows of test_tab by key.
FlowLoad deleting(Rows rows) {
  FlowLoad flow;
  flow.name = std::string("f");
  flow.rate_per_s = 1;
  flow.transaction = {StatementStep{Operation::Delete, "test_tab", rows, {}}};
  return flow;
}

FlowLoad with_curve(std::vector<CurvePoint> curve, double period_s = 0) {
  FlowLoad flow;
  flow.curve = std::move(curve);
  flow.curve_period_s = period_s;
  return flow;
}

/// Mean and variance of `count` draws.
std::pair<double, double> moments(double mean, std::uint64_t count = 100'000) {
  const RandomStream stream(1, "arrivals");
  double sum = 0, squares = 0;
  for (std::uint64_t i = 0; i < count; ++i) {
    const auto value = static_cast<double>(stream.poisson(i, mean));
    sum += value;
    squares += value * value;
  }
  const double n = static_cast<double>(count);
  return {sum / n, squares / n - sum / n * (sum / n)};
}

/// Text of the keys 1 to 10,000: 9 of one digit, 90 of two, 900 of three, 9,000 of four, one of five.
constexpr double mean_key_text = (9 + 2 * 90 + 3 * 900 + 4 * 9000 + 5) / 10'000.0;
/// A delete's message: 8, the key's 5 and text, three columns that are null.
constexpr double delete_body = 8 + 5 + mean_key_text + 3;

} // namespace

TEST_CASE("a small transaction on the publisher, by hand") {
  CostParameters costs;
  costs.backend_transaction_s = 1;
  costs.backend_delete_row_s = 0.25;
  const FlowShape shape = flow_shape(deleting(2), tables, costs);
  CHECK(shape.rows == 2);
  CHECK(shape.wal_records == Approx(3)); // and the commit
  CHECK(shape.queued_bytes == 2 * (80 + 24 + 28));
  CHECK(shape.backend_s == Approx(1.5));
  // 64 a row, in 10,000 rows the headers of 78 WAL pages; the commit record 48.
  CHECK(shape.wal_bytes == Approx(48 + 2 * (64 + 78 * 24 / 10'000.0)));
}

TEST_CASE("a small transaction on its way to a subscriber, by hand") {
  CostParameters costs;
  costs.send_transaction_s = 1;
  costs.send_change_s = 10;
  costs.send_column_s = 100;
  costs.send_byte_s = 1000;
  costs.receive_change_s = 2;
  costs.receive_byte_s = 20;
  costs.apply_delete_row_s = 4;
  costs.apply_transaction_s = 40;
  const auto filtered = [](const std::string&) { return Publishing{true, 0.25, 7}; };
  const DeliveredShape shape = delivered_shape(deleting(2), tables, costs, filtered, true);
  CHECK(shape.rows == Approx(0.5));
  CHECK(shape.filtered == Approx(1.5));
  CHECK(shape.messages == Approx(2.5));
  CHECK(shape.bytes == Approx(0.5 * (30 + delete_body) + (30 + 21) + (30 + 26)));
  CHECK(shape.send_s == Approx(1 + 2 * 7 + 0.5 * (10 + 100 + 1000 * delete_body)));
  CHECK(shape.receive_s == Approx(0.5 * (2 + 20 * delete_body) + 2 * 2));
  const ApplyTime applied = apply_time(deleting(2), tables, shape, ApplyCost(costs));
  CHECK(applied.cpu_s == Approx(0.5 * 4 + 40));
  CHECK(applied.read_s == 0);
}

TEST_CASE("a small transaction of unpublished rows costs its replay; before version 15 it is also sent") {
  CostParameters costs;
  costs.send_transaction_s = 1;
  costs.receive_change_s = 2;
  costs.apply_transaction_s = 40;
  const auto unpublished = [](const std::string&) { return Publishing{}; };
  const DeliveredShape skipped = delivered_shape(deleting(2), tables, costs, unpublished, true);
  CHECK(skipped.messages == 0);
  CHECK(skipped.bytes == 0);
  CHECK(skipped.filtered == 2);
  CHECK(skipped.send_s == 1);
  CHECK(skipped.receive_s == 0);
  const DeliveredShape empty = delivered_shape(deleting(2), tables, costs, unpublished, false);
  CHECK(empty.messages == 2);
  CHECK(empty.bytes == 51 + 56);
  CHECK(empty.receive_s == 4);
  CHECK(apply_time(deleting(2), tables, empty, ApplyCost(costs)).cpu_s ==
        0); // Begin and Commit around nothing start no local transaction
}

TEST_CASE("a load curve: factor and integral") {
  const FlowLoad plain = with_curve({});
  CHECK(curve_factor(plain, 7) == 1);
  CHECK(curve_integral(plain, 7) == 7);
  const FlowLoad burst = with_curve({{10, 2}, {20, 0}});
  CHECK(curve_factor(burst, 9.99) == 1);
  CHECK(curve_factor(burst, 10) == 2);
  CHECK(curve_factor(burst, 25) == 0);
  CHECK(curve_integral(burst, 5) == 5);
  CHECK(curve_integral(burst, 10) == 10);
  CHECK(curve_integral(burst, 15) == 20);
  CHECK(curve_integral(burst, 20) == 30);
  CHECK(curve_integral(burst, 1000) == 30);
}

TEST_CASE("a load curve with a period starts again") {
  const FlowLoad daily = with_curve({{10, 2}, {20, 0}}, 30);
  CHECK(curve_factor(daily, 35) == 1);
  CHECK(curve_factor(daily, 45) == 2);
  CHECK(curve_integral(daily, 30) == 30);
  CHECK(curve_integral(daily, 35) == 35);
  CHECK(curve_integral(daily, 45) == 50);
  CHECK(curve_integral(daily, 90) == 90);
}

TEST_CASE("page images: the first touch of a page costs one, all pages are the limit") {
  const Table table = test_tab(97 * 100); // 100 pages
  CHECK(page_image_bytes(table, 0, 1) == Approx(8192));
  CHECK(page_image_bytes(table, 0, 2) == Approx(8192 * 1.99)); // the second hits the same page in 1 of 100
  CHECK(page_image_bytes(table, 0, 1e6) == Approx(8192 * 100));
  CHECK(page_image_bytes(table, 1e6, 1e6) == Approx(0).margin(1e-6));
  CHECK(page_image_bytes(table, 0, 40) + page_image_bytes(table, 40, 60) ==
        Approx(page_image_bytes(table, 0, 100)));
  CHECK(page_image_bytes(test_tab(0), 0, 100) == 0);
}

TEST_CASE("random numbers depend on seed, stream and index alone") {
  const RandomStream a(1, "a"), again(1, "a"), b(1, "b"), other_seed(2, "a");
  std::set<double> seen;
  for (std::uint64_t i = 100; i-- > 0;) { // in any order
    CHECK(a.uniform(i) == again.uniform(i));
    CHECK(a.poisson(i, 100) == again.poisson(i, 100));
    seen.insert({a.uniform(i), b.uniform(i), other_seed.uniform(i)});
  }
  CHECK(seen.size() == 300);
  CHECK(*seen.begin() >= 0);
  CHECK(*seen.rbegin() < 1);
}

TEST_CASE("uniform random numbers have mean 1/2 and variance 1/12") {
  const RandomStream stream(42, "u");
  double sum = 0, squares = 0;
  for (std::uint64_t i = 0; i < 100'000; ++i) {
    sum += stream.uniform(i);
    squares += stream.uniform(i) * stream.uniform(i);
  }
  CHECK(sum / 1e5 == Approx(0.5).margin(0.004)); // 4 standard errors
  CHECK(squares / 1e5 - sum / 1e5 * (sum / 1e5) == Approx(1 / 12.0).margin(0.001));
}

TEST_CASE("Poisson arrivals have mean and variance alike, by either method") {
  for (const double mean : {0.05, 3.0, 40.0, 41.0, 1000.0}) {
    INFO("mean " << mean);
    const auto [found, variance] = moments(mean);
    CHECK(found == Approx(mean).margin(4 * std::sqrt(mean / 1e5)));
    CHECK(variance == Approx(mean).epsilon(0.03));
  }
  const RandomStream stream(1, "x");
  CHECK(stream.poisson(5, 0) == 0);
  CHECK(stream.poisson(5, -1) == 0);
  int none = 0;
  for (std::uint64_t i = 0; i < 100'000; ++i)
    none += stream.poisson(i, 2) == 0 ? 1 : 0;
  CHECK(none / 1e5 == Approx(std::exp(-2)).margin(0.004));
}

TEST_CASE("a lag sketch: quantiles within 1 %, mean and maximum exact") {
  LagSketch sketch;
  CHECK(sketch.quantile(0.5) == 0);
  CHECK(sketch.mean() == 0);
  for (int i = 1; i <= 1000; ++i)
    sketch.add(i * 1e-3, 1);
  CHECK(sketch.count() == 1000);
  CHECK(sketch.mean() == Approx(0.5005));
  CHECK(sketch.maximum() == 1);
  for (const double q : {0.01, 0.25, 0.5, 0.95, 0.99, 1.0}) {
    INFO("quantile " << q);
    CHECK(sketch.quantile(q) == Approx(q).epsilon(0.0101));
  }
}

TEST_CASE("a lag sketch: the same from microseconds to years, and weights count") {
  for (const double scale : {2e-6, 1e-3, 1.0, 1e5, 9e8}) {
    INFO("scale " << scale);
    LagSketch sketch;
    sketch.add(scale, 99);
    sketch.add(scale * 1.5, 1);
    CHECK(sketch.quantile(0.985) == Approx(scale).epsilon(0.0101));
    CHECK(sketch.quantile(0.995) == Approx(1.5 * scale).epsilon(0.0101));
  }
  LagSketch nothing;
  nothing.add(0, 10);
  CHECK(nothing.quantile(0.5) == 0);
}

TEST_CASE("a lag sketch: delays spread evenly between two ends, whichever is larger") {
  LagSketch up, down;
  up.add_spread(1, 3, 1000);
  down.add_spread(3, 1, 1000);
  for (const auto* sketch : {&up, &down}) {
    CHECK(sketch->count() == 1000);
    CHECK(sketch->mean() == Approx(2));
    CHECK(sketch->maximum() == 3);
    CHECK(sketch->quantile(0.5) == Approx(2).epsilon(0.06)); // one of 16 parts
  }
  LagSketch one;
  one.add_spread(5, 5, 1);
  one.add_spread(9, 9, 0);
  CHECK(one.count() == 1);
  CHECK(one.quantile(0.5) == Approx(5).epsilon(0.0101));
}
