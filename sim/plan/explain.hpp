// What decides a metric: which stage limits it, which inputs move it and how far, and which of them are
// guesses.
#pragma once

#include "models/sensitivity.hpp"
#include "sim/plan/arms.hpp"
#include "sim/plan/explain_inputs.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace replisim {

enum class ExplainMethod { Tornado, Morris, Sobol };

struct ExplainOptions {
  std::vector<Override> overrides; ///< of the command line
  std::string metric;              ///< empty: total_s, else the lag's p99 or mean, else tps
  ExplainMethod method = ExplainMethod::Morris;
  int samples = 0;      ///< Morris walks, Sobol samples; 0: 4 walks, 32 samples
  int most_inputs = 6;  ///< that Morris or Sobol look at together
  int replications = 3; ///< of the inputs that matter most, where something is random
  ArmsOptions arms;
};

/// One end of an input's range.
struct EffectEnd {
  std::string value;  ///< what was set
  double metric = 0;  ///< what the metric became
  double noise = 0;   ///< half the spread of the effect over replications
  std::string failed; ///< why it could not be; empty: it could
};

struct InputEffect {
  ExplainInput input;
  std::vector<EffectEnd> ends;
  double span = 0;                     ///< largest distance of the metric from its base value
  std::optional<MorrisEffects> morris; ///< in units of the metric over the whole range
  std::optional<SobolIndex> sobol;
};

/// A stage made twice as fast.
struct StageGain {
  std::string stage;
  std::string how; ///< what was changed
  double metric = 0;
  std::string next; ///< the bottleneck then, in words
};

struct Explanation {
  std::string scenario;
  std::uint64_t seed = 1;
  std::string metric;
  double base = 0;
  bool random = false;
  bool less_is_better = true;
  std::string resolution;          ///< time resolution of the runs; empty: the scenario's own
  std::string bottleneck;          ///< of the scenario as it is, in words
  std::vector<StageGain> stages;   ///< by gain
  std::vector<StageGain> chain;    ///< the bottleneck made four times as fast, then the next one besides, ...
  std::vector<InputEffect> inputs; ///< that move the metric, by span
  std::size_t still = 0;           ///< inputs that do not move it at all
  std::size_t still_guesses = 0;   ///< of those
  std::vector<std::string> decide; ///< paths of the inputs that make up most of the effect
  double decide_share = 0;         ///< of the sum of all spans
  std::vector<std::string> notes;
  std::size_t simulations = 0;
};

/// Explains a metric of `base`. Throws UsageError for a metric that the run does not report.
Explanation explain(const Scenario& base, const SweepEngine& engine, const ExplainOptions& options);

} // namespace replisim
