// Benchmarks of single pieces: loading scenarios, reading server logs, least squares.
#include "calibration/fit/least_squares.hpp"
#include "calibration/readers/reader.hpp"
#include "sim/scenario/loader.hpp"

#include <benchmark/benchmark.h>
#include <fmt/format.h>
#include <test_paths.hpp>

#include <cmath>

using namespace replisim;

namespace {

const char* const small_scenario = "scenarios/published/streaming_insert.yaml";
const char* const large_scenario = "scenarios/scale/64_subscriptions.yaml";

Library library() { return {.root = REPLISIM_SOURCE_DIR}; }

std::filesystem::path scenario_file(const benchmark::State& state) {
  return library().root / (state.range(0) == 0 ? small_scenario : large_scenario);
}

void scenario_loading(benchmark::State& state) {
  for (auto unused : state) {
    (void)unused;
    benchmark::DoNotOptimize(load_scenario(scenario_file(state), {}, library()));
  }
}
BENCHMARK(scenario_loading)->ArgName("large")->Arg(0)->Arg(1)->Unit(benchmark::kMillisecond);

/// One point of a sweep: the file is read already.
void scenario_point(benchmark::State& state) {
  const ScenarioSource source(scenario_file(state), cached(library()));
  for (auto unused : state) {
    (void)unused;
    benchmark::DoNotOptimize(source.load_point({{"observe.interval", "1s"}}));
  }
}
BENCHMARK(scenario_point)->ArgName("large")->Arg(0)->Arg(1)->Unit(benchmark::kMillisecond);

std::string stderr_log(int lines) {
  std::string text;
  for (int i = 0; i < lines; ++i) {
    const int s = i / 10;
    text += fmt::format("2026-01-01 {:02}:{:02}:{:02}.{:03} UTC [{}] LOG:  duration: {}.{:03} ms  statement: "
                        "UPDATE pgbench_accounts SET abalance = abalance + {} WHERE aid = {};\n",
                        s / 3600 % 24, s / 60 % 60, s % 60, i % 1000, 1000 + i % 50, i % 9, i % 1000,
                        i % 4000, i);
  }
  return text;
}

void log_reading(benchmark::State& state) {
  const std::string text = stderr_log(static_cast<int>(state.range(0)));
  for (auto unused : state) {
    (void)unused;
    readers::ReadResult result;
    auto input = readers::LineInput::over_text("server.log", text, result.problems);
    readers::read_input(input, {}, result.observation, result.problems);
    benchmark::DoNotOptimize(result.observation.sources.size());
  }
  state.SetBytesProcessed(state.iterations() * static_cast<std::int64_t>(text.size()));
}
BENCHMARK(log_reading)->ArgName("lines")->Arg(1'000)->Arg(100'000)->Unit(benchmark::kMillisecond);

/// So many parameters, four figures for each, a model that costs nothing: the algebra alone.
void least_squares(benchmark::State& state) {
  const auto parameters = static_cast<std::size_t>(state.range(0));
  FitProblem problem;
  for (std::size_t i = 0; i < parameters; ++i)
    problem.parameters.push_back({.name = fmt::format("p{}", i), .start = 1});
  const auto predict = [](const std::vector<double>& values) {
    std::vector<double> out;
    for (std::size_t i = 0; i < values.size(); ++i)
      for (const double x : {1.0, 2.0, 4.0, 8.0})
        out.push_back(values[i] + x * values[(i + 1) % values.size()]);
    return out;
  };
  std::vector<double> truth;
  for (std::size_t i = 0; i < parameters; ++i)
    truth.push_back(1 + 0.5 * std::sin(static_cast<double>(i)));
  for (const double value : predict(truth))
    problem.observations.push_back({fmt::format("y{}", problem.observations.size()), value, 0.02});
  problem.model = one_by_one(predict);
  for (auto unused : state) {
    (void)unused;
    benchmark::DoNotOptimize(fit_least_squares(problem).cost_after);
  }
  state.SetComplexityN(state.range(0));
}
BENCHMARK(least_squares)->RangeMultiplier(2)->Range(2, 16)->Complexity()->Unit(benchmark::kMicrosecond);

} // namespace
