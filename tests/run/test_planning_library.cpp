// The planning scenarios' documented answers, as plans give them today.
#include "sim/plan/plan.hpp"
#include "sim/run/simulate.hpp"
#include "tests/scenario/scenario_files.hpp"

#include <catch2/catch.hpp>
#include <fmt/format.h>

#include <memory>

using namespace replisim;
using namespace replisim::test;
using Catch::Contains;

namespace {

struct Question {
  explicit Question(const std::string& name)
      : file(shipped_library().root / "scenarios/planning" / (name + ".yaml")),
        library(cached(shipped_library())), source(std::make_shared<const ScenarioSource>(file, library)) {}

  PlanAnswer answer() const {
    const PlanEngine engine{
        {[this](const std::vector<Override>& overrides) { return source->load_point(overrides); }, simulate},
        [this](const std::vector<Override>& overrides) {
          return load_planned(file, overrides, library, false);
        }};
    return answer_plan(load_planned(file, {}, library, true), engine, {});
  }
  /// The figure of one run by itself.
  double figure(const std::vector<Override>& overrides, const std::string& metric) const {
    Arm arm;
    arm.engine = {[this](const std::vector<Override>& all) { return source->load_point(all); }, simulate};
    arm.overrides = overrides;
    run_arms({&arm}, 1, {});
    REQUIRE_FALSE(arm.failed());
    return *find_metric(arm.runs.front(), metric);
  }

  std::filesystem::path file;
  Library library;
  std::shared_ptr<const ScenarioSource> source;
};

const PlanPoint& best(const PlanAnswer& answer) {
  REQUIRE(answer.best);
  return answer.points[*answer.best];
}

/// The label of a knob in the answer.
std::string chosen(const PlanAnswer& answer, std::size_t knob) {
  return best(answer).setting.knobs.at(knob).second;
}

} // namespace

TEST_CASE("largest OLTP load: two per cent below the answer the promise is kept, two per cent above broken") {
  const Question question("largest_oltp_load");
  const PlanAnswer answer = question.answer();
  const double rate = *best(answer).keeps;
  CHECK(rate == Approx(20800).epsilon(0.015)); // expected
  CHECK_THAT(best(answer).bottleneck, Contains("sub.apply_worker"));
  const auto lag_at = [&](double factor) {
    return question.figure({{"workload.shop.rate", fmt::format("{:.6f}/s", factor * rate)}}, "lag_s_p99");
  };
  CHECK(lag_at(0.98) < 0.5);
  CHECK(lag_at(1.02) > 0.5);
}

TEST_CASE("nightly batch: streamed into a file, not applied in parallel while clerks wait") {
  const PlanAnswer answer = Question("nightly_batch").answer();
  CHECK(chosen(answer, 0) == "on");
  CHECK(chosen(answer, 1) == "64MB");
  for (const PlanPoint& point : answer.points)
    if (point.setting.knobs[0].second == "parallel" and point.setting.knobs[1].second == "64MB" and
        not point.looks.empty())
      CHECK(point.judgement.promises[1].keeps == Keeps::No); // blocked_s p99
}

TEST_CASE("subscriber outage: how long, and what sets the limit") {
  const Question question("subscriber_outage");
  const PlanAnswer answer = question.answer();
  CHECK(*best(answer).keeps == Approx(3.9 * 3600).epsilon(0.03)); // expected
  CHECK_THAT(best(answer).binding.front(), Contains("disk pub.wal"));
  CHECK(question.figure({}, "peak_retained_wal_bytes") == Approx(20.0 * 1024 * 1024 * 1024).epsilon(0.05));
}

TEST_CASE("major upgrade: two thirds of what apply can do") {
  const PlanAnswer answer = Question("major_upgrade").answer();
  CHECK(*best(answer).keeps == Approx(6650).epsilon(0.015)); // expected
}

TEST_CASE("five subscriptions, not fifty and not one") {
  const PlanAnswer answer = Question("five_or_fifty_subscriptions").answer();
  REQUIRE_FALSE(answer.front.empty());
  CHECK(answer.points[answer.front.front()].setting.knobs[0].second == "5");
  for (const PlanPoint& point : answer.points)
    if (point.setting.knobs[0].second == "1")
      CHECK(point.judgement.keeps == Keeps::No);
}

TEST_CASE("reporting subscriber: a core must be left for apply") {
  const PlanAnswer answer = Question("reporting_subscriber").answer();
  CHECK(*best(answer).keeps == 6); // expected
}

TEST_CASE("partition purge: dropped partitions, as one DELETE breaks both promises") {
  const PlanAnswer answer = Question("partition_purge").answer();
  CHECK(chosen(answer, 0) == "drop 12 partitions");
  CHECK(answer.points.front().judgement.promises[0].keeps == Keeps::No);
  CHECK(answer.points.front().judgement.promises[1].keeps == Keeps::No);
  CHECK(answer.points.back().judgement.keeps == Keeps::Yes); // batches
}

TEST_CASE("sizing logical_decoding_work_mem: what holds the largest import") {
  const PlanAnswer answer = Question("sizing_work_mem").answer();
  CHECK(*best(answer).keeps == Approx(48.2 * 1024 * 1024).epsilon(0.03)); // expected
}

TEST_CASE("one or eight subscriptions: four") {
  const PlanAnswer answer = Question("one_or_eight_subscriptions").answer();
  CHECK(chosen(answer, 0) == "4");
  CHECK(answer.statements.size() ==
        10); // a publication cut, three new ones, three slots, three subscriptions
}

TEST_CASE("the cheapest machine for a replica that is read from") {
  const PlanAnswer answer = Question("cheapest_replica").answer();
  CHECK(chosen(answer, 0) == "vm-4cpu");
}
