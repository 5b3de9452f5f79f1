#include "sim/plan/plan.hpp"

#include "models/base/check.hpp"
#include "models/base/errors.hpp"
#include "sim/plan/plan_search.hpp"
#include "sim/plan/plan_settings.hpp"
#include "sim/scenario/promise.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>

namespace replisim {

namespace {

using Find = PlanQuestion::Find;

constexpr std::size_t looked_at_together = 8; ///< settings, whatever the number of jobs

class Planner {
public:
  Planner(const PlannedScenario& base, const PlanEngine& engine, const PlanOptions& options)
      : base_(base), question_(*base.plan), engine_(engine), options_(options),
        looks_(base, engine, options) {}

  PlanAnswer run() {
    answer_.scenario = base_.scenario.name;
    answer_.file = base_.scenario.file;
    answer_.seed = options_.arms.seed;
    answer_.question = base_.plan;
    answer_.guesses = base_.scenario.guesses;
    for (PlanSetting& setting : plan_settings(base_, engine_, options_))
      answer_.points.push_back({std::move(setting), {}, {}, {}, {}, {}, {}, {}, {}, {}, {}, {}, 0});
    if (question_.find == Find::Largest or question_.find == Find::Smallest)
      search();
    else
      look_at_all();
    if (question_.find == Find::Front)
      find_front();
    conclude();
    answer_.simulations = looks_.simulations();
    return std::move(answer_);
  }

private:
  void search() {
    for (PlanPoint& point : answer_.points) {
      if (not point.setting.excluded.empty())
        continue;
      point = search_setting(base_, std::move(point.setting), looks_);
    }
    const bool largest = question_.find == Find::Largest;
    for (std::size_t i = 0; i < answer_.points.size(); ++i) {
      const auto& keeps = answer_.points[i].keeps;
      if (not keeps)
        continue;
      const auto better = [&](double value, double than) {
        return largest ? value > than * (1 + question_.tolerance) : value < than * (1 - question_.tolerance);
      };
      if (not answer_.best or better(*keeps, *answer_.points[*answer_.best].keeps))
        answer_.best = i;
    }
  }

  /// By cost, some at a time. Of `cheapest` until one keeps all promises and no cheaper one is left.
  void look_at_all() {
    std::vector<std::size_t> open;
    for (std::size_t i = 0; i < answer_.points.size(); ++i)
      if (answer_.points[i].setting.excluded.empty())
        open.push_back(i);
    for (std::size_t from = 0; from < open.size(); from += looked_at_together) {
      const std::size_t to = std::min(open.size(), from + looked_at_together);
      std::vector<std::vector<std::pair<std::string, std::string>>> sets;
      for (std::size_t k = from; k < to; ++k)
        sets.push_back(answer_.points[open[k]].setting.sets);
      const auto looked = looks_.look(sets);
      for (std::size_t k = from; k < to; ++k)
        take(answer_.points[open[k]], looked[k - from]);
      const bool enough = question_.find == Find::Cheapest and cheapest() and to < open.size() and
                          answer_.points[open[to]].setting.cost > answer_.points[*cheapest()].setting.cost;
      if (enough)
        break;
    }
    if (question_.find == Find::Cheapest)
      answer_.best = cheapest();
  }

  void take(PlanPoint& point, const Looked& looked) {
    describe_point(point, looked);
    point.looks.emplace_back(0, looked.judgement);
    for (const PlanObjective& objective : question_.objectives) {
      if (objective.metric == "cost") {
        point.objectives.push_back(point.setting.cost);
        continue;
      }
      double sum = 0;
      for (const RunResult& run : looked.arm.runs)
        sum += promised_figure(run, {objective.text, objective.metric, {}, objective.least, 0, {}})
                   .value_or(objective.least ? INFINITY : 0);
      point.objectives.push_back(sum / std::max(1.0, static_cast<double>(looked.arm.runs.size())));
    }
  }

  /// The one that keeps all promises at the least cost; of equal costs the one with most room.
  std::optional<std::size_t> cheapest() const {
    std::optional<std::size_t> best;
    for (std::size_t i = 0; i < answer_.points.size(); ++i) {
      const PlanPoint& point = answer_.points[i];
      if (point.looks.empty() or point.judgement.keeps != Keeps::Yes)
        continue;
      if (not best) {
        best = i;
        continue;
      }
      const PlanPoint& other = answer_.points[*best];
      if (point.setting.cost < other.setting.cost or
          (point.setting.cost == other.setting.cost and room(point) > room(other)))
        best = i;
    }
    return best;
  }

  static double room(const PlanPoint& point) {
    const auto tightest = point.judgement.tightest();
    return tightest ? point.judgement.promises[*tightest].slack : 0;
  }

  /// Settings that keep the promises and that no other one beats in both figures.
  void find_front() {
    const auto value = [&](std::size_t i, std::size_t k) {
      const double v = answer_.points[i].objectives[k];
      return question_.objectives[k].least ? v : -v;
    };
    std::vector<std::size_t> open;
    for (std::size_t i = 0; i < answer_.points.size(); ++i)
      if (not answer_.points[i].looks.empty() and answer_.points[i].judgement.keeps == Keeps::Yes)
        open.push_back(i);
    for (const std::size_t i : open) {
      const bool beaten = std::any_of(open.begin(), open.end(), [&](std::size_t j) {
        const bool no_worse = value(j, 0) <= value(i, 0) and value(j, 1) <= value(i, 1);
        const bool better = value(j, 0) < value(i, 0) or value(j, 1) < value(i, 1);
        return no_worse and (better or j < i);
      });
      if (not beaten)
        answer_.front.push_back(i);
    }
    std::stable_sort(answer_.front.begin(), answer_.front.end(),
                     [&](std::size_t a, std::size_t b) { return value(a, 0) < value(b, 0); });
  }

  void conclude() {
    if (not answer_.feasible())
      say_why_not();
    if (question_.find == Find::Cheapest)
      note_order();
    if (not answer_.best)
      return;
    PlanPoint& best = answer_.points[*answer_.best];
    if (question_.find == Find::Cheapest)
      if (const auto tightest = best.judgement.tightest())
        best.binding = {promise_text(question_.promises[*tightest], best.judgement.promises[*tightest])};
    auto sets = best.setting.sets;
    auto changes = sets;
    if (best.keeps)
      for (const auto& change : quantity_sets(question_, base_.scenario, *best.keeps)) {
        sets.push_back(change);
        if (change.first.starts_with("hosts."))
          changes.push_back(change);
      }
    answer_.statements = statements_between(
        base_.scenario, engine_.load(overrides_of(options_, sets)).scenario, stated(changes));
    for (const Override& change : overrides_of(options_, sets))
      answer_.check.push_back(change.path + "=" + change.value);
  }

  /// Changes that the file does not hold already.
  std::vector<std::pair<std::string, std::string>>
  stated(const std::vector<std::pair<std::string, std::string>>& changes) const {
    std::vector<std::pair<std::string, std::string>> out;
    for (const auto& change : changes) {
      bool changes_something = true;
      try {
        changes_something =
            engine_.load(overrides_of(options_, {change})).scenario.hash != base_.scenario.hash;
      } catch (const ScenarioError&) { // a part of a change that is none by itself
      }
      if (changes_something)
        out.push_back(change);
    }
    return out;
  }

  void say_why_not() {
    std::vector<const PlanPoint*> looked;
    for (const PlanPoint& point : answer_.points)
      if (not point.looks.empty())
        looked.push_back(&point);
    if (looked.empty()) {
      answer_.reasons.push_back("no setting is allowed at all: " + answer_.points.front().setting.excluded);
      return;
    }
    for (std::size_t p = 0; p < question_.promises.size(); ++p)
      if (std::none_of(looked.begin(), looked.end(), [&](const PlanPoint* point) {
            return point->judgement.promises[p].keeps == Keeps::Yes;
          }))
        answer_.reasons.push_back(fmt::format("'{}' is surely kept by none of the {} settings looked at",
                                              question_.promises[p].text, looked.size()));
    if (answer_.reasons.empty())
      answer_.reasons.emplace_back("each promise is kept by some setting, but all together by none");
    const PlanPoint* nearest = *std::max_element(
        looked.begin(), looked.end(), [](const auto* a, const auto* b) { return room(*a) < room(*b); });
    std::vector<std::string> broken;
    for (std::size_t p = 0; p < question_.promises.size(); ++p)
      if (nearest->judgement.promises[p].keeps != Keeps::Yes)
        broken.push_back(promise_text(question_.promises[p], nearest->judgement.promises[p]));
    if (not nearest->judgement.trouble.empty())
      broken.push_back(nearest->judgement.trouble);
    answer_.reasons.push_back(fmt::format("nearest comes {}{}: {}; the bottleneck is {}",
                                          nearest->setting.label(),
                                          nearest->bottleneck_at.empty() ? "" : " " + nearest->bottleneck_at,
                                          fmt::join(broken, ", "), nearest->bottleneck));
  }

  /// A dearer setting that breaks what a cheaper one keeps.
  void note_order() {
    if (not answer_.best)
      return;
    const PlanPoint& best = answer_.points[*answer_.best];
    for (const PlanPoint& point : answer_.points)
      if (not point.looks.empty() and point.judgement.keeps == Keeps::No and
          point.setting.cost > best.setting.cost)
        answer_.notes.push_back(fmt::format("more is not always better: {} costs {:g} and breaks a promise",
                                            point.setting.label(), point.setting.cost));
  }

  const PlannedScenario& base_;
  const PlanQuestion& question_;
  const PlanEngine& engine_;
  const PlanOptions& options_;
  PlanLooks looks_;
  PlanAnswer answer_;
};

} // namespace

PlanAnswer answer_plan(const PlannedScenario& base, const PlanEngine& engine, const PlanOptions& options) {
  REPLISIM_REQUIRE(base.plan != nullptr, "a scenario without a plan");
  const InterruptScope scope;
  return Planner(base, engine, options).run();
}

} // namespace replisim
