#include "sim/plan/plan_search.hpp"

#include "sim/scenario/promise.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <map>

namespace replisim {

namespace {

constexpr double noteworthy = 0.05; ///< a drop of a figure, relative, that makes a response not monotone

/// Promises that are surely broken, the worst first, in words.
std::vector<std::string> broken_promises(const PlanQuestion& question, const Judgement& judgement) {
  std::vector<std::size_t> order;
  for (std::size_t i = 0; i < judgement.promises.size(); ++i)
    if (judgement.promises[i].keeps != Keeps::Yes)
      order.push_back(i);
  std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
    return judgement.promises[a].slack < judgement.promises[b].slack;
  });
  std::vector<std::string> out;
  if (not judgement.trouble.empty())
    out.push_back(judgement.trouble);
  for (const std::size_t i : order)
    out.push_back(promise_text(question.promises[i], judgement.promises[i]));
  return out;
}

/// A figure that falls where it should rise, beyond what chance explains.
void note_turns(const PlanQuestion& question, PlanPoint& point) {
  const bool largest = question.find == PlanQuestion::Find::Largest;
  for (std::size_t p = 0; p < question.promises.size(); ++p) {
    const Promise& promise = question.promises[p];
    const double worse = promise.below == largest ? 1 : -1; // how the figure should move with the quantity
    for (std::size_t i = 1; i < point.looks.size(); ++i) {
      const Interval& before = point.looks[i - 1].second.promises[p].value;
      const Interval& here = point.looks[i].second.promises[p].value;
      if (not std::isfinite(before.mean) or not std::isfinite(here.mean))
        continue;
      const double drop = worse * (before.mean - here.mean);
      const double least = noteworthy * std::max(std::abs(before.mean), std::abs(promise.limit));
      if (drop <= std::max(before.half_width + here.half_width, least))
        continue;
      point.notes.push_back(fmt::format(
          "{} is not monotone: {} at {}, {} at {}", promise.metric, metric_text(promise.metric, before.mean),
          quantity_text(question, point.looks[i - 1].first), metric_text(promise.metric, here.mean),
          quantity_text(question, point.looks[i].first)));
      break;
    }
  }
}

void note_edges(const PlanQuestion& question, PlanPoint& point) {
  const auto stretch = [&](const std::pair<double, double>& range) {
    return range.first == range.second ? quantity_text(question, range.first)
                                       : fmt::format("{} to {}", quantity_text(question, range.first),
                                                     quantity_text(question, range.second));
  };
  std::vector<std::string> texts;
  for (const auto& range : point.elsewhere)
    texts.push_back(stretch(range));
  if (not texts.empty())
    point.notes.push_back(
        fmt::format("there is more than one edge: the promises are kept again at {}; the answer is "
                    "the first edge, up to which all values looked at keep them",
                    fmt::join(texts, ", ")));
  if (point.easy_end_breaks)
    point.notes.push_back(fmt::format(
        "there is more than one edge: at {} the promises are broken, and farther on they "
        "are kept",
        quantity_text(question, question.find == PlanQuestion::Find::Largest ? question.range.low
                                                                             : question.range.high)));
}

class Search {
public:
  Search(const PlannedScenario& base, PlanSetting setting, PlanLooks& looks)
      : base_(base), question_(*base.plan), looks_(looks) {
    point_.setting = std::move(setting);
  }

  PlanPoint run() {
    EdgeQuestion edge;
    edge.low = question_.range.low;
    edge.high = question_.range.high;
    edge.log = question_.range.log;
    edge.quantum = question_.range.quantum;
    edge.tolerance = question_.tolerance;
    edge.grid = question_.grid;
    edge.largest = question_.find == PlanQuestion::Find::Largest;
    const EdgeAnswer answer = find_edge(edge, [this](const auto& values) { return look(values); });
    point_.keeps = answer.keeps;
    point_.breaks = answer.breaks;
    point_.elsewhere = answer.elsewhere;
    point_.easy_end_breaks = answer.easy_end_breaks;
    for (const auto& [value, looked] : seen_)
      point_.looks.emplace_back(value, looked.judgement);
    const double easy_end = edge.largest ? edge.low : edge.high;
    const Looked& at = seen_.at(point_.keeps.value_or(easy_end));
    describe_point(point_, at);
    if (not point_.keeps)
      point_.bottleneck_at = "at " + quantity_text(question_, easy_end);
    else
      describe_edge();
    note_edges(question_, point_);
    note_turns(question_, point_);
    return std::move(point_);
  }

private:
  std::vector<Keeps> look(const std::vector<double>& values) {
    std::vector<std::vector<std::pair<std::string, std::string>>> sets;
    for (const double value : values) {
      sets.push_back(point_.setting.sets);
      for (const auto& change : quantity_sets(question_, base_.scenario, value))
        sets.back().push_back(change);
    }
    auto looked = looks_.look(sets);
    std::vector<Keeps> out;
    for (std::size_t i = 0; i < values.size(); ++i) {
      out.push_back(looked[i].judgement.keeps);
      seen_.insert_or_assign(values[i], std::move(looked[i]));
    }
    return out;
  }

  /// What gives way just beyond the answer, and who holds things up there.
  void describe_edge() {
    if (not point_.breaks) {
      point_.bottleneck_at = "at " + quantity_text(question_, *point_.keeps);
      return;
    }
    const Looked& beyond = seen_.at(*point_.breaks);
    point_.binding = broken_promises(question_, beyond.judgement);
    if (not beyond.arm.failed())
      point_.bottleneck = bottleneck_text(beyond.arm.runs.front());
    point_.bottleneck_at = "at " + quantity_text(question_, *point_.breaks);
  }

  const PlannedScenario& base_;
  const PlanQuestion& question_;
  PlanLooks& looks_;
  PlanPoint point_;
  std::map<double, Looked> seen_;
};

} // namespace

void describe_point(PlanPoint& point, const Looked& looked) {
  point.judgement = looked.judgement;
  point.replications = static_cast<int>(looked.arm.runs.size());
  if (not looked.arm.runs.empty())
    point.bottleneck = bottleneck_text(looked.arm.runs.front());
}

PlanPoint search_setting(const PlannedScenario& base, PlanSetting setting, PlanLooks& looks) {
  return Search(base, std::move(setting), looks).run();
}

} // namespace replisim
