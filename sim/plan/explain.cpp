#include "sim/plan/explain.hpp"

#include "models/base/suggest.hpp"
#include "sim/plan/explain_resolution.hpp"
#include "sim/plan/explain_screening.hpp"
#include "sim/plan/judgement.hpp"
#include "sim/plan/stage_relief.hpp"
#include "sim/run/sampling.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <map>
#include <set>

namespace replisim {

namespace {

constexpr const char* resolution_field = "simulation.time_resolution";
constexpr double chain_factor = 4; ///< as good as fixed
constexpr std::size_t chain_length = 3;
constexpr std::size_t second_look = 4; ///< inputs that get more replications
// The other end of a quantity is left where the worse one moves the metric by less than both of these.
constexpr double least_of_metric = 1e-3, least_of_largest = 0.01;
constexpr double enough_to_decide = 0.8; ///< share of all effects that the deciding inputs make up
constexpr std::uint64_t default_walks = 4, default_samples = 32;

bool better_when_more(const std::string& metric) { return metric.find("tps") != std::string::npos; }

using Overrides = std::vector<Override>;

/// What limits, made so many times as fast; then what limits then, besides; and so on.
class Chain {
public:
  Chain(std::vector<StageRelief> reliefs, const RunResult& base) : reliefs_(std::move(reliefs)) {
    seen(base);
  }

  bool goes_on() const { return relief_ != nullptr; }
  const StageRelief& relief() const { return *relief_; }
  const Overrides& next() const { return all_; }
  void stop() { relief_ = nullptr; }
  /// A run with next(): its bottleneck is relieved besides, if that can be and was not yet.
  void seen(const RunResult& run) {
    const std::string stage = bottleneck_stage(run);
    const auto found = std::find_if(reliefs_.begin(), reliefs_.end(),
                                    [&](const StageRelief& r) { return r.stage == stage; });
    relief_ = nullptr;
    if (found == reliefs_.end() or relieved_.size() == chain_length or not relieved_.insert(stage).second)
      return;
    relief_ = &*found;
    all_.insert(all_.end(), found->overrides.begin(), found->overrides.end());
  }

private:
  std::vector<StageRelief> reliefs_;
  const StageRelief* relief_ = nullptr;
  std::set<std::string> relieved_;
  Overrides all_;
};

class Explainer {
public:
  Explainer(const Scenario& base, const SweepEngine& engine, const ExplainOptions& options)
      : base_(base), engine_(engine), options_(options) {}

  Explanation run() {
    out_.scenario = base_.name;
    out_.seed = options_.arms.seed;
    look_at_base();
    choose_resolution();
    look_at_stages();
    screen();
    one_at_a_time();
    look_again();
    if (options_.method == ExplainMethod::Morris)
      walk();
    if (options_.method == ExplainMethod::Sobol)
      sample();
    decide();
    return std::move(out_);
  }

private:
  /// The arms of `list` with so many replications each; what was simulated before is not simulated again.
  std::vector<Arm> simulate_all(const std::vector<Overrides>& list, int replications) {
    std::vector<std::string> keys;
    std::vector<Arm*> missing;
    for (const Overrides& overrides : list) {
      keys.push_back(key_of(overrides));
      Arm& arm = simulated_[keys.back()];
      if (not arm.engine.load) {
        arm.engine = engine_;
        arm.overrides = options_.overrides;
        if (not out_.resolution.empty())
          arm.overrides.push_back({resolution_field, out_.resolution});
        arm.overrides.insert(arm.overrides.end(), overrides.begin(), overrides.end());
      }
      if (arm.runs.size() < static_cast<std::size_t>(replications) and
          std::find(missing.begin(), missing.end(), &arm) == missing.end())
        missing.push_back(&arm);
    }
    std::size_t before = 0;
    for (const Arm* arm : missing)
      before += arm->runs.size();
    run_arms(missing, replications, options_.arms);
    for (const Arm* arm : missing)
      out_.simulations += arm->runs.size();
    out_.simulations -= before;
    std::vector<Arm> out;
    for (const std::string& key : keys) {
      out.push_back(simulated_.at(key));
      if (out.back().runs.size() > static_cast<std::size_t>(replications))
        out.back().runs.resize(static_cast<std::size_t>(replications));
    }
    return out;
  }

  static std::string key_of(const Overrides& overrides) {
    std::string out;
    for (const Override& change : overrides)
      out += fmt::format("{}={}\n", change.path, change.value);
    return out;
  }

  /// The metric of a run; what a run without it means depends on its direction.
  double value(const RunResult& run) const {
    const double* found = find_metric(run, out_.metric);
    return found == nullptr or not std::isfinite(*found) ? std::nan("") : *found;
  }

  void look_at_base() {
    base_arm_ = simulate_all({{}}, 2).front();
    if (base_arm_.exit_code == ExitCode::Internal)
      throw std::runtime_error(base_arm_.error);
    if (base_arm_.failed())
      throw UsageError(base_arm_.error);
    const RunResult& run = base_arm_.runs.front();
    out_.metric = options_.metric;
    for (const char* usual :
         {"total_s", "lag_s_p99", "lag_s_mean", "decode_s", "tps", "peak_retained_wal_bytes"})
      if (out_.metric.empty() and find_metric(run, usual) != nullptr)
        out_.metric = usual;
    if (find_metric(run, out_.metric) == nullptr)
      throw UsageError(fmt::format("the run reports no metric '{}'{}", out_.metric,
                                   suggestion(out_.metric, reported_metrics(run))));
    out_.base = value(run);
    out_.random = not base_arm_.repeats_itself();
    out_.less_is_better = not better_when_more(out_.metric);
    out_.bottleneck = bottleneck_text(run);
  }

  /// A resolution that costs less and says the same of the scenario as it is.
  void choose_resolution() {
    const auto candidates = coarser_resolutions(base_);
    std::vector<Overrides> list;
    for (const std::string& resolution : candidates)
      list.push_back({{resolution_field, resolution}});
    std::vector<ResolutionLook> looks;
    const auto arms = simulate_all(list, 1);
    for (std::size_t i = 0; i < arms.size(); ++i)
      looks.push_back({candidates[i], arms[i].failed() ? std::nan("") : value(arms[i].runs.front()),
                       arms[i].failed() ? "" : bottleneck_stage(arms[i].runs.front())});
    const double fine = out_.base;
    out_.resolution = coarsest_that_agrees(looks, {"", fine, bottleneck_stage(base_arm_.runs.front())});
    if (out_.resolution.empty())
      return;
    const auto chosen = std::find(candidates.begin(), candidates.end(), out_.resolution);
    base_arm_ = arms[static_cast<std::size_t>(chosen - candidates.begin())];
    simulated_.clear();
    simulated_[key_of({})] = base_arm_;
    out_.base = value(base_arm_.runs.front());
    out_.notes.push_back(fmt::format("simulated at a time resolution of {}, where {} is {:.4g} in place of "
                                     "{:.4g}; state simulation.time_resolution for another one",
                                     out_.resolution, out_.metric, out_.base, fine));
  }

  void look_at_stages() {
    const auto reliefs = stage_reliefs(base_, 2);
    std::vector<Overrides> list;
    for (const StageRelief& relief : reliefs)
      list.push_back(relief.overrides);
    const auto arms = simulate_all(list, 1);
    for (std::size_t i = 0; i < reliefs.size(); ++i)
      if (not arms[i].failed() and std::isfinite(value(arms[i].runs.front())))
        out_.stages.push_back({reliefs[i].stage, reliefs[i].how, value(arms[i].runs.front()),
                               bottleneck_text(arms[i].runs.front())});
    const double side = out_.less_is_better ? 1 : -1;
    std::stable_sort(out_.stages.begin(), out_.stages.end(),
                     [side](const auto& a, const auto& b) { return side * a.metric < side * b.metric; });
  }

  static Overrides moved(const ExplainInput& input) {
    return input.is_quantity() ? input.at(input.worse_at) : input.choices.front().overrides;
  }

  /// Drops inputs that change nothing. Quantities are moved to where there is less to work with: what is
  /// plenty now shows only there. What limits, and what would then, is looked at in the same rounds: each
  /// step of that waits for the one before it.
  void screen() {
    all_ = explain_inputs(base_);
    Screening screening(all_);
    Chain chain(stage_reliefs(base_, chain_factor), base_arm_.runs.front());
    while (not screening.groups().empty() or chain.goes_on()) {
      std::vector<Overrides> list;
      for (const auto& group : screening.groups()) {
        list.emplace_back();
        for (const std::size_t i : group)
          for (const Override& change : moved(all_[i]))
            list.back().push_back(change);
      }
      if (chain.goes_on())
        list.push_back(chain.next());
      const auto arms = simulate_all(list, 1);
      if (chain.goes_on())
        add_step(chain, arms.back());
      std::vector<bool> moves;
      for (std::size_t g = 0; g < screening.groups().size(); ++g)
        moves.push_back(arms[g].failed() or value(arms[g].runs.front()) != out_.base or
                        has_more_choices(screening.groups()[g]));
      screening.heard(moves);
    }
    moving_ = screening.moving();
  }

  void add_step(Chain& chain, const Arm& arm) {
    if (arm.failed()) {
      chain.stop();
      return;
    }
    const RunResult& run = arm.runs.front();
    out_.chain.push_back({chain.relief().stage, chain.relief().how, value(run), bottleneck_text(run)});
    chain.seen(run);
  }

  /// A choice of three was moved to one of the others only.
  bool has_more_choices(const std::vector<std::size_t>& group) const {
    return std::any_of(group.begin(), group.end(), [&](std::size_t i) { return all_[i].choices.size() > 1; });
  }

  struct Move {
    std::string value;
    Overrides overrides;
  };

  static Move move_to(const ExplainInput& input, double share) {
    auto overrides = input.at(share);
    const bool own = overrides.front().path == input.path;
    return {own ? overrides.front().value : share == 0 ? "half" : "double", std::move(overrides)};
  }

  static std::vector<Move> moves_of(const ExplainInput& input) {
    std::vector<Move> out;
    if (input.is_quantity())
      out = {move_to(input, input.worse_at), move_to(input, 1 - input.worse_at)};
    for (const auto& choice : input.choices)
      out.push_back({choice.value, choice.overrides});
    return out;
  }

  /// Of quantities first the worse end, then the better one of those that matter.
  void one_at_a_time() {
    std::vector<InputEffect> effects;
    for (const std::size_t i : moving_)
      effects.push_back({all_[i], {}, 0, {}, {}});
    add_ends(effects, [](const InputEffect& effect) {
      auto moves = moves_of(effect.input);
      if (effect.input.is_quantity())
        moves.pop_back();
      return moves;
    });
    double largest = 0;
    for (const InputEffect& effect : effects)
      largest = std::max(largest, effect.span);
    const double least = std::min(least_of_metric * std::abs(out_.base), least_of_largest * largest);
    add_ends(effects, [&](const InputEffect& effect) {
      const bool failed = not effect.ends.empty() and not effect.ends.front().failed.empty();
      const bool matters = failed or (effect.span > 0 and effect.span >= least);
      return effect.input.is_quantity() and matters ? std::vector{moves_of(effect.input).back()}
                                                    : std::vector<Move>{};
    });
    for (InputEffect& effect : effects)
      if (effect.span > 0)
        out_.inputs.push_back(std::move(effect));
    sort_inputs();
    out_.still = all_.size() - out_.inputs.size();
    for (const ExplainInput& input : all_)
      out_.still_guesses += not input.guess.empty() and std::none_of(out_.inputs.begin(), out_.inputs.end(),
                                                                     [&](const InputEffect& e) {
                                                                       return e.input.path == input.path;
                                                                     })
                                ? 1
                                : 0;
  }

  void add_ends(std::vector<InputEffect>& effects,
                const std::function<std::vector<Move>(const InputEffect&)>& moves) {
    std::vector<Overrides> list;
    std::vector<std::pair<std::size_t, std::string>> whose;
    for (std::size_t i = 0; i < effects.size(); ++i)
      for (const Move& move : moves(effects[i])) {
        list.push_back(move.overrides);
        whose.emplace_back(i, move.value);
      }
    const auto arms = simulate_all(list, 1);
    for (std::size_t a = 0; a < arms.size(); ++a) {
      InputEffect& effect = effects[whose[a].first];
      const Arm& arm = arms[a];
      EffectEnd end{whose[a].second, arm.failed() ? out_.base : value(arm.runs.front()), 0, arm.error};
      if (std::isnan(end.metric))
        end = {end.value, out_.base, 0, "the run then reports no " + out_.metric};
      effect.span = std::max(effect.span, std::abs(end.metric - out_.base));
      effect.ends.push_back(std::move(end));
    }
  }

  void sort_inputs() {
    std::stable_sort(out_.inputs.begin(), out_.inputs.end(),
                     [](const InputEffect& a, const InputEffect& b) { return a.span > b.span; });
  }

  /// Means over replications for the inputs that matter most; the base's own come from the same seeds.
  void look_again() {
    if (not out_.random or options_.replications < 2)
      return;
    std::vector<Overrides> list = {{}};
    const std::size_t count = std::min(second_look, out_.inputs.size());
    for (std::size_t i = 0; i < count; ++i)
      for (std::size_t end = 0; end < out_.inputs[i].ends.size(); ++end)
        list.push_back(moves_of(out_.inputs[i].input)[end].overrides);
    const auto arms = simulate_all(list, options_.replications);
    const auto mean = [&](const Arm& arm) {
      double sum = 0;
      for (const RunResult& run : arm.runs)
        sum += value(run) / static_cast<double>(arm.runs.size());
      return sum;
    };
    const double base = mean(arms.front());
    std::size_t next = 1;
    for (std::size_t i = 0; i < count; ++i) {
      InputEffect& effect = out_.inputs[i];
      effect.span = 0;
      for (EffectEnd& end : effect.ends) {
        const Arm& arm = arms[next++];
        if (arm.failed() or std::isnan(mean(arm)))
          continue;
        double least = INFINITY, most = -INFINITY;
        for (std::size_t r = 0; r < arm.runs.size(); ++r) {
          const double change = value(arm.runs[r]) - value(arms.front().runs[r]);
          least = std::min(least, change);
          most = std::max(most, change);
        }
        end.metric = mean(arm);
        end.noise = (most - least) / 2;
        effect.span = std::max(effect.span, std::abs(end.metric - base));
      }
    }
    out_.base = base;
    sort_inputs();
  }

  /// The quantities that matter most, for those methods that move several at once.
  std::vector<std::size_t> together() const {
    std::vector<std::size_t> out;
    for (std::size_t i = 0;
         i < out_.inputs.size() and out.size() < static_cast<std::size_t>(options_.most_inputs); ++i)
      if (out_.inputs[i].input.is_quantity())
        out.push_back(i);
    return out;
  }

  Overrides at(const std::vector<std::size_t>& inputs, const UnitPoint& point) const {
    Overrides out;
    for (std::size_t k = 0; k < inputs.size(); ++k)
      for (const Override& change : out_.inputs[inputs[k]].input.at(point[k]))
        out.push_back(change);
    return out;
  }

  /// Values at all points; nothing, with a note, when one of them cannot be.
  std::optional<std::vector<double>> values_at(const std::vector<std::size_t>& inputs,
                                               const std::vector<UnitPoint>& points) {
    std::vector<Overrides> list;
    for (const UnitPoint& point : points)
      list.push_back(at(inputs, point));
    std::vector<double> out;
    for (const Arm& arm : simulate_all(list, 1)) {
      out.push_back(arm.failed() ? std::nan("") : value(arm.runs.front()));
      if (std::isnan(out.back())) {
        out_.notes.push_back(fmt::format("the inputs cannot all move together: {}",
                                         arm.failed() ? arm.error : "a run reports no " + out_.metric));
        return std::nullopt;
      }
    }
    return out;
  }

  void walk() {
    const auto inputs = together();
    if (inputs.size() < 2)
      return;
    std::vector<MorrisWalk> walks;
    std::vector<UnitPoint> points;
    const auto count = options_.samples > 0 ? static_cast<std::uint64_t>(options_.samples) : default_walks;
    for (std::uint64_t w = 0; w < count; ++w) {
      walks.push_back(morris_walk(inputs.size(), options_.arms.seed, w));
      points.insert(points.end(), walks.back().points.begin(), walks.back().points.end());
    }
    const auto values = values_at(inputs, points);
    if (not values)
      return;
    std::vector<std::vector<double>> by_walk;
    for (std::size_t w = 0; w < walks.size(); ++w) {
      const auto from = values->begin() + static_cast<std::ptrdiff_t>(w * (inputs.size() + 1));
      by_walk.emplace_back(from, from + static_cast<std::ptrdiff_t>(inputs.size() + 1));
    }
    const auto effects = morris_effects(walks, by_walk);
    for (std::size_t k = 0; k < inputs.size(); ++k)
      out_.inputs[inputs[k]].morris = effects[k];
  }

  void sample() {
    auto inputs = together();
    inputs.resize(std::min(inputs.size(), sobol_dimensions_max / 2));
    if (inputs.size() < 2)
      return;
    const auto count = options_.samples > 0 ? static_cast<std::uint64_t>(options_.samples) : default_samples;
    const SamplePlan plan{SampleMethod::Sobol, count, options_.arms.seed};
    std::vector<UnitPoint> a(count, UnitPoint(inputs.size())), b = a;
    for (std::uint64_t i = 0; i < count; ++i)
      for (std::size_t k = 0; k < inputs.size(); ++k) {
        a[i][k] = sample_coordinate(plan, i, k);
        b[i][k] = sample_coordinate(plan, i, inputs.size() + k);
      }
    std::vector<UnitPoint> points = a;
    points.insert(points.end(), b.begin(), b.end());
    for (std::size_t k = 0; k < inputs.size(); ++k)
      for (std::uint64_t i = 0; i < count; ++i) {
        points.push_back(a[i]);
        points.back()[k] = b[i][k];
      }
    const auto values = values_at(inputs, points);
    if (not values)
      return;
    const auto part = [&](std::size_t from) {
      const auto begin = values->begin() + static_cast<std::ptrdiff_t>(from * count);
      return std::vector<double>(begin, begin + static_cast<std::ptrdiff_t>(count));
    };
    std::vector<std::vector<double>> mixed;
    for (std::size_t k = 0; k < inputs.size(); ++k)
      mixed.push_back(part(2 + k));
    const auto indices = sobol_indices(part(0), part(1), mixed);
    for (std::size_t k = 0; k < inputs.size(); ++k)
      out_.inputs[inputs[k]].sobol = indices[k];
  }

  void decide() {
    double all = 0;
    for (const InputEffect& effect : out_.inputs)
      all += effect.span;
    double sum = 0;
    for (const InputEffect& effect : out_.inputs) {
      if (sum >= enough_to_decide * all)
        break;
      sum += effect.span;
      out_.decide.push_back(effect.input.path);
    }
    out_.decide_share = all > 0 ? sum / all : 0;
  }

  const Scenario& base_;
  const SweepEngine& engine_;
  const ExplainOptions& options_;
  Explanation out_;
  std::map<std::string, Arm> simulated_; ///< by their overrides
  Arm base_arm_;
  std::vector<ExplainInput> all_;
  std::set<std::size_t> moving_;
};

} // namespace

Explanation explain(const Scenario& base, const SweepEngine& engine, const ExplainOptions& options) {
  const InterruptScope scope;
  return Explainer(base, engine, options).run();
}

} // namespace replisim
