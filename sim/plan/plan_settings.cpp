#include "sim/plan/plan_settings.hpp"

#include "models/base/errors.hpp"
#include "sim/scenario/axis_range.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <set>

namespace replisim {

namespace {

using Sets = std::vector<std::pair<std::string, std::string>>;

/// Whether prices are part of the question.
bool counts_costs(const PlanQuestion& question) {
  return question.find == PlanQuestion::Find::Cheapest or
         std::any_of(question.objectives.begin(), question.objectives.end(),
                     [](const PlanObjective& o) { return o.metric == "cost"; });
}

double price_of(const PlannedScenario& planned, const std::string& host, const Knob& knob,
                const std::string& label) {
  const auto& hosts = planned.scenario.hosts;
  const auto found = hosts.find(host);
  const auto price = planned.prices.find(host);
  if (price == planned.prices.end())
    throw UsageError(
        fmt::format("{}: the price of {} = {} is missing: machine {} has none; give its file a `price`, "
                    "or the values of the knob a `cost`",
                    knob.where, knob.name, label, found == hosts.end() ? host : found->second.name));
  return price->second;
}

/// Each value of each knob by itself must be one the scenario can have.
void require_single_values(const PlanQuestion& question, const PlanEngine& engine,
                           const PlanOptions& options) {
  for (const Knob& knob : question.knobs)
    for (const KnobValue& value : knob.values) {
      try {
        const PlannedScenario scenario = engine.load(overrides_of(options, value.sets));
        for (const auto& host : knob.hosts)
          if (counts_costs(question) and not value.cost)
            price_of(scenario, host, knob, value.label);
      } catch (const ScenarioError& e) {
        throw UsageError(
            fmt::format("{}: {} = {} cannot be: {}", knob.where, knob.name, value.label, e.what()));
      }
    }
}

double cost_of(const PlanQuestion& question, const std::vector<const KnobValue*>& values,
               const PlannedScenario& scenario) {
  double cost = 0;
  std::set<std::string> priced; // a machine is paid for once, whatever knobs turn its fields
  for (std::size_t i = 0; i < values.size(); ++i) {
    cost += values[i]->cost.value_or(0);
    if (values[i]->cost or not counts_costs(question))
      continue;
    for (const auto& host : question.knobs[i].hosts)
      if (priced.insert(host).second)
        cost += price_of(scenario, host, question.knobs[i], values[i]->label);
  }
  return cost;
}

} // namespace

std::string PlanSetting::label() const {
  std::vector<std::string> parts;
  for (const auto& [knob, label] : knobs)
    parts.push_back(fmt::format("{} = {}", knob, label));
  return parts.empty() ? std::string("the scenario as it is") : fmt::format("{}", fmt::join(parts, ", "));
}

std::vector<Override> overrides_of(const PlanOptions& options, const Sets& sets) {
  std::vector<Override> out = options.overrides;
  for (const auto& [path, value] : sets)
    out.push_back({path, value});
  return out;
}

std::vector<PlanSetting> plan_settings(const PlannedScenario& base, const PlanEngine& engine,
                                       const PlanOptions& options) {
  const PlanQuestion& question = *base.plan;
  std::size_t count = 1;
  for (const Knob& knob : question.knobs) {
    count *= std::max<std::size_t>(knob.values.size(), 1);
    if (count > plan_settings_max)
      throw UsageError(fmt::format("{}: the knobs make more than {} settings; take values away",
                                   question.where, plan_settings_max));
  }
  require_single_values(question, engine, options);
  std::vector<PlanSetting> out;
  for (std::size_t index = 0; index < count; ++index) {
    PlanSetting setting;
    std::vector<const KnobValue*> values(question.knobs.size());
    std::size_t rest = index;
    for (std::size_t k = question.knobs.size(); k-- > 0;) {
      values[k] = &question.knobs[k].values[rest % question.knobs[k].values.size()];
      rest /= question.knobs[k].values.size();
    }
    for (std::size_t k = 0; k < values.size(); ++k) {
      setting.knobs.emplace_back(question.knobs[k].name, values[k]->label);
      setting.sets.insert(setting.sets.end(), values[k]->sets.begin(), values[k]->sets.end());
    }
    try {
      setting.cost = cost_of(question, values, engine.load(overrides_of(options, setting.sets)));
    } catch (const ScenarioError& e) {
      setting.excluded = e.what();
    }
    out.push_back(std::move(setting));
  }
  std::stable_sort(out.begin(), out.end(), [](const auto& a, const auto& b) { return a.cost < b.cost; });
  return out;
}

std::string quantity_text(const PlanQuestion& question, double value) {
  if (question.over == "load")
    return fmt::format("{:.4g} times the load", value);
  AxisRange at = question.range;
  at.high = value;
  if (at.unit == "s" or at.unit == "/s" or at.unit == "B/s")
    return at.unit == "/s"  ? fmt::format("{:.6g}/s", value)
           : at.unit == "s" ? format_duration(value)
                            : format_bytes(value) + "/s";
  if (at.unit == "B" or at.unit == "kB" or at.unit == "MB")
    return format_bytes(value);
  return range_value(at, 1);
}

Sets quantity_sets(const PlanQuestion& question, const Scenario& base, double value) {
  if (question.over != "load") {
    AxisRange at = question.range;
    at.high = value;
    return {{question.over, range_value(at, 1)}};
  }
  Sets out;
  for (const FlowLoad& flow : base.flows)
    out.emplace_back(fmt::format("workload.{}.rate", flow.name),
                     fmt::format("{:.12g}/s", flow.rate_per_s * value));
  for (const ClientLoad& load : base.clients) {
    out.emplace_back(fmt::format("workload.{}.clients", load.name),
                     fmt::format("{:.0f}", std::max(1.0, std::round(load.clients * value))));
    if (load.rate_per_s > 0)
      out.emplace_back(fmt::format("workload.{}.rate", load.name),
                       fmt::format("{:.12g}/s", load.rate_per_s * value));
  }
  for (const ReplayLoad& replay : base.replays)
    out.emplace_back(fmt::format("workload.{}.replay.speed", replay.name), fmt::format("{:.12g}", value));
  for (const OtherWalLoad& load : base.other_wal)
    out.emplace_back(fmt::format("workload.{}.other_wal", load.name),
                     fmt::format("{:.12g}B/s", load.bytes_per_s * value));
  for (const BatchLoad& batch : base.batches)
    if (batch.every_s > 0)
      out.emplace_back(fmt::format("workload.{}.every", batch.name),
                       fmt::format("{:.12g}s", batch.every_s / value));
  return out;
}

} // namespace replisim
