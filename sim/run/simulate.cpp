#include "sim/run/simulate.hpp"

#include "models/base/check.hpp"
#include "sim/check/completeness.hpp"
#include "sim/check/conservation.hpp"
#include "sim/check/initial_sync_rows.hpp"
#include "sim/check/lag_parts.hpp"
#include "sim/check/run_watch.hpp"
#include "sim/observe/metrics.hpp"
#include "sim/observe/peaks.hpp"
#include "sim/observe/session_metrics.hpp"
#include "sim/observe/timeline_recorder.hpp"
#include "sim/observe/trace_recorder.hpp"
#include "sim/observe/upheaval_metrics.hpp"
#include "sim/run/analytic_companion.hpp"
#include "sim/run/study.hpp"
#include "sim/version.hpp"

#include <algorithm>
#include <chrono>

namespace replisim {

namespace {

RunResult simulate_watched(const Scenario& scenario, std::uint64_t seed, TraceRecorder* trace) {
  static bool used = false;
  REPLISIM_REQUIRE(not used, "a second simulation in one process");
  used = true;

  const auto started = std::chrono::steady_clock::now();
  RunResult result;
  result.scenario = scenario.name;
  result.scenario_hash = scenario.hash;
  result.version = program_version();
  result.seed = seed;
  result.warnings = scenario.warnings;
  result.guesses = scenario.guesses;

  Pipeline pipeline(scenario, seed);
  TimelineRecorder recorder(pipeline, scenario.observe.interval_s);
  PeakWatch peaks(scenario, pipeline);
  const Study study(scenario, pipeline);
  if (trace != nullptr)
    trace->watch(pipeline);
  RunWatch watch(pipeline, scenario);
  pipeline.run();
  watch.look(pipeline.world().now());
  const PublisherOf publisher_of = publishers_by_slot(pipeline);
  check_conservation(pipeline.log(), publisher_of);
  check_completeness(scenario, pipeline);
  check_initial_sync(scenario, pipeline);
  check_lag_parts(pipeline.log(), publisher_of);

  const double end_s = pipeline.world().now();
  collect_metrics(pipeline, end_s, result);
  collect_upheaval(scenario, pipeline, end_s, result);
  result.outcomes = pipeline.outcomes();
  collect_session_metrics(pipeline, end_s, result);
  peaks.collect(result);
  std::stable_sort(result.outcomes.begin(), result.outcomes.end(),
                   [](const Outcome& a, const Outcome& b) { return a.t_s < b.t_s; });
  result.verdicts = verdicts(pipeline, recorder.lags(), recorder.watch_until(end_s), end_s);
  study.conclude(end_s, result);
  add_analytic_companion(scenario, study.recorder(), result);
  result.timeline = recorder.take();
  result.fingerprint = pipeline.world().fingerprint().value();
  result.events = pipeline.world().fingerprint().count();
  result.simulated_s = end_s;
  result.engine_options = engine::World::engine_options();
  result.engine_options["time_resolution_s"] = fmt::format("{:.6g}", pipeline.resolution().time_s);
  result.engine_options["rows_per_batch"] = std::to_string(pipeline.resolution().batch_rows);
  result.wall_s = std::chrono::duration<double>(std::chrono::steady_clock::now() - started).count();
  return result;
}

} // namespace

RunResult simulate(const Scenario& scenario, std::uint64_t seed) {
  return simulate_watched(scenario, seed, nullptr);
}

RunResult simulate_traced(const Scenario& scenario, std::uint64_t seed, TraceRecorder& recorder) {
  return simulate_watched(scenario, seed, &recorder);
}

} // namespace replisim
