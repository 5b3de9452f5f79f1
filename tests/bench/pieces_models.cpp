// Benchmarks of single pieces: the reorder buffer, the lag sketch, random streams, clients as a closed
// network.
#include "models/base/random.hpp"
#include "models/closed_network.hpp"
#include "models/lag_sketch.hpp"
#include "models/reorder_buffer.hpp"
#include "tests/models/sample_tables.hpp"

#include <benchmark/benchmark.h>

using namespace replisim;

namespace {

constexpr Xid top{700};
constexpr Bytes change_bytes = 184;

/// One transaction of 5 million rows, handed over in pieces of so many.
void reorder_buffer(benchmark::State& state) {
  constexpr Rows rows = 5'000'000;
  const Rows piece = state.range(0);
  const bool streaming = state.range(1) != 0;
  const Table table = sample::test_tab();
  const StatementStep statement;
  for (auto unused : state) {
    (void)unused;
    ReorderBuffer buffer(64 * 1024, streaming, traits_of({17, 0}));
    for (Rows begin = 0; begin < rows; begin += piece)
      buffer.add(top, {top, &table, &statement, {begin + 1, piece}, change_bytes}, [](Xid) { return false; });
    benchmark::DoNotOptimize(buffer.commit(top).changes);
    buffer.forget(top);
  }
  state.SetItemsProcessed(state.iterations() * (rows / piece));
}
BENCHMARK(reorder_buffer)->ArgNames({"piece", "streaming"})->ArgsProduct({{1000, 50'000}, {0, 1}});

/// Many open transactions of one row each, as before a commit with DDL.
void reorder_buffer_open(benchmark::State& state) {
  const Table table = sample::test_tab();
  const StatementStep statement;
  for (auto unused : state) {
    (void)unused;
    ReorderBuffer buffer(Bytes{1} << 30, false, traits_of({17, 0}));
    for (std::uint32_t i = 1; i <= static_cast<std::uint32_t>(state.range(0)); ++i)
      buffer.add(Xid{i}, {Xid{i}, &table, &statement, {1, 1}, change_bytes}, [](Xid) { return false; });
    for (std::uint32_t i = 1; i <= static_cast<std::uint32_t>(state.range(0)); ++i) {
      benchmark::DoNotOptimize(buffer.commit(Xid{i}).changes);
      buffer.forget(Xid{i});
    }
  }
  state.SetItemsProcessed(state.iterations() * state.range(0));
  state.SetComplexityN(state.range(0));
}
BENCHMARK(reorder_buffer_open)->RangeMultiplier(4)->Range(64, 16'384)->Complexity();

void lag_sketch_spread(benchmark::State& state) {
  LagSketch sketch;
  double first_s = 0.001;
  for (auto unused : state) {
    (void)unused;
    sketch.add_spread(first_s, first_s * 2, 5'700);
    first_s = first_s < 10 ? first_s * 1.001 : 0.001;
  }
  benchmark::DoNotOptimize(sketch.quantile(0.99));
}
BENCHMARK(lag_sketch_spread);

void lag_sketch_single(benchmark::State& state) {
  LagSketch sketch;
  double seconds = 0.001;
  for (auto unused : state) {
    (void)unused;
    sketch.add(seconds, 1);
    seconds = seconds < 10 ? seconds * 1.001 : 0.001;
  }
  benchmark::DoNotOptimize(sketch.quantile(0.99));
}
BENCHMARK(lag_sketch_single);

void random_uniform(benchmark::State& state) {
  const RandomStream stream(1, "arrivals");
  std::uint64_t index = 0;
  for (auto unused : state) {
    (void)unused;
    benchmark::DoNotOptimize(stream.uniform(index++));
  }
}
BENCHMARK(random_uniform);

void random_poisson(benchmark::State& state) {
  const RandomStream stream(1, "arrivals");
  std::uint64_t index = 0;
  for (auto unused : state) {
    (void)unused;
    benchmark::DoNotOptimize(stream.poisson(index++, static_cast<double>(state.range(0))));
  }
}
BENCHMARK(random_poisson)->Arg(1)->Arg(20)->Arg(1000);

/// The steady state of so many clients, others coming and going beside them.
void closed_network(benchmark::State& state) {
  Machine machine;
  machine.cores_per_socket = 120;
  ClientDemand demand;
  demand.server_cpu_s = 570e-6;
  demand.client_cpu_s = 155e-6;
  demand.latency_s = 70e-6;
  demand.flush_s = 100e-6;
  demand.locks = {{.rows = 100, .server_cpu_s = 100e-6}};
  const int clients = static_cast<int>(state.range(0));
  ClosedNetwork network({clients, clients, 0, &machine, &machine}, demand);
  double others = 0;
  for (auto unused : state) {
    (void)unused;
    others = others > 3 ? 0 : others + 1;
    benchmark::DoNotOptimize(network.solve({others, 0}).tps);
  }
  state.SetComplexityN(clients);
}
BENCHMARK(closed_network)->RangeMultiplier(4)->Range(4, 1024)->Complexity();

} // namespace
