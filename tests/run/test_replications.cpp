// Means, intervals and seeds of replications.
#include "models/base/errors.hpp"
#include "sim/run/replications.hpp"

#include <catch2/catch.hpp>

using namespace replisim;

namespace {

RunResult with(Metrics metrics) {
  RunResult r;
  r.metrics = std::move(metrics);
  return r;
}

} // namespace

TEST_CASE("Student's t quantiles are those of the printed tables") {
  CHECK(student_t_975(1) == Approx(12.706204736).epsilon(1e-9));
  CHECK(student_t_975(2) == Approx(4.302652730).epsilon(1e-9));
  CHECK(student_t_975(4) == Approx(2.776445105).epsilon(1e-9));
  CHECK(student_t_975(5) == Approx(2.570581836).epsilon(2e-4));
  CHECK(student_t_975(9) == Approx(2.262157163).epsilon(2e-5));
  CHECK(student_t_975(30) == Approx(2.042272456).epsilon(1e-6));
  CHECK(student_t_975(1'000'000) == Approx(1.959966).epsilon(1e-6));
  CHECK_THROWS_AS(student_t_975(0), InvariantViolation);
}

TEST_CASE("an interval worked out by hand") {
  // mean 4, deviation sqrt((4 + 0 + 4) / 2) = 2, half width 4.302652730 * 2 / sqrt(3)
  const Interval interval = interval_95({2, 4, 6});
  CHECK(interval.mean == 4);
  CHECK(interval.half_width == Approx(4.968275).epsilon(1e-6));
}

TEST_CASE("equal values have exactly no width, even where their sum rounds") {
  CHECK(interval_95({0.1, 0.1, 0.1}) == Interval{0.1, 0});
  CHECK(interval_95({7}) == Interval{7, 0});
  CHECK_THROWS_AS(interval_95({}), InvariantViolation);
}

TEST_CASE("replication 1 is the plain run; seeds count up from the base") {
  CHECK(replication_seed(42, 1) == 42);
  CHECK(replication_seed(42, 5) == 46);
}

TEST_CASE("equal runs are deterministic, different ones are not") {
  const auto equal = summarise_replications({with({{"total_s", 3}}), with({{"total_s", 3}})});
  CHECK(equal.deterministic);
  CHECK(equal.metrics.at("total_s") == Interval{3, 0});
  const auto different = summarise_replications({with({{"total_s", 3}}), with({{"total_s", 4}})});
  CHECK_FALSE(different.deterministic);
  CHECK(different.metrics.at("total_s").mean == 3.5);
  CHECK(different.metrics.at("total_s").half_width == Approx(12.706204736 * 0.5).epsilon(1e-9));
}

TEST_CASE("a metric that only some runs report is averaged over those") {
  const auto some = summarise_replications({with({{"a", 1}, {"b", 8}}), with({{"a", 3}})});
  CHECK(some.metrics.at("a").mean == 2);
  CHECK(some.metrics.at("b") == Interval{8, 0});
  CHECK_FALSE(some.deterministic);
}
