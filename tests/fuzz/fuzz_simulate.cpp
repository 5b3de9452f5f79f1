// Scenarios made of the input's bytes (random_scenario) are simulated. A run must end, obey the laws that
// simulate() checks while it goes on and at its end, and give figures that are finite and survive their own
// text. Each runs in a child, since one process simulates once; what the child has reached of the code,
// libFuzzer's counters, comes back through shared memory.
//
//   fuzz_simulate INPUT          runs one input
//   REPLISIM_SHOW=1 ...          prints the scenarios it makes
#include "sim/run/result_json.hpp"
#include "sim/run/run_simulation.hpp"
#include "sim/run/simulate.hpp"
#include "tests/fuzz/fuzz.hpp"
#include "tests/fuzz/random_scenario.hpp"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <iostream>

#include <sys/mman.h>
#include <sys/resource.h>

using namespace replisim;

// Where clang's -fsanitize=fuzzer keeps one byte a branch; the linker names begin and end of a section so.
// NOLINTNEXTLINE(bugprone-reserved-identifier)
extern "C" std::uint8_t __start___sancov_cntrs[], __stop___sancov_cntrs[];

namespace {

constexpr rlim_t most_cpu_s = 60; ///< some hundred times what a run takes

std::size_t counters() { return static_cast<std::size_t>(__stop___sancov_cntrs - __start___sancov_cntrs); }

std::uint8_t* shared_counters() {
  static auto* const memory = static_cast<std::uint8_t*>(
      ::mmap(nullptr, counters(), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0));
  if (memory == MAP_FAILED)
    fuzz::broken("no shared memory");
  return memory;
}

void check(const RunResult& result) {
  for (const auto& [stage, share] : result.stages)
    if (not(std::abs(share.busy + share.starved + share.blocked - 1) < 1e-6))
      fuzz::broken("the shares of " + stage + " do not fill its time");
  for (const auto& [name, value] : result.metrics)
    if (not std::isfinite(value))
      fuzz::broken("metric " + name + " is no number");
  if (not nlohmann::json::accept(json_text(result_json(result))))
    fuzz::broken("the result is no JSON");
}

std::string run(const Scenario& scenario) {
  const rlimit cpu{most_cpu_s, most_cpu_s};
  ::setrlimit(RLIMIT_CPU, &cpu);
  std::fill(__start___sancov_cntrs, __stop___sancov_cntrs, std::uint8_t{0});
  check(simulate(scenario, 1));
  std::memcpy(shared_counters(), __start___sancov_cntrs, counters());
  return "ended";
}

} // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static const bool shows = std::getenv("REPLISIM_SHOW") != nullptr;
  const std::string yaml = fuzz::random_scenario(data, size);
  const auto file = fuzz::scratch_file("scenario.yaml", yaml);
  if (shows)
    std::cerr << yaml;
  try {
    const Scenario scenario = load_scenario(file, {}, fuzz::library());
    fuzz::forget_scratch_files();
    std::memset(shared_counters(), 0, counters());
    run_forked({{"scenario", [&] { return run(scenario); }}}, {.jobs = 1, .progress = {}}).front().get();
    for (std::size_t i = 0; i < counters(); ++i)
      __start___sancov_cntrs[i] = std::max(__start___sancov_cntrs[i], shared_counters()[i]);
  } catch (const ScenarioError& error) {
    fuzz::forget_scratch_files();
    if (shows)
      std::cerr << error.what() << '\n';
    return 0;
  } catch (const std::exception& error) {
    fuzz::broken(std::string(error.what()) + "\n" + yaml);
  }
  return 0;
}
