// What a world and its parts keep from those who use them.
#pragma once

#include "sim/engine/kernel.hpp"
#include "sim/engine/world.hpp"

#include <exception>
#include <optional>
#include <set>
#include <tuple>

namespace replisim::engine {

/// The options of SimGrid that are set, whatever its defaults.
const std::map<std::string, std::string>& pinned_options();

/// Of a World.
struct WorldState {
  std::unique_ptr<Kernel> kernel = make_kernel(pinned_options());
  std::vector<std::string> hosts;
  std::vector<Machine> machines;
  /// Threads that want a CPU of a host, and their integral over time. SimGrid counts activities, of which one
  /// may stand for many threads.
  struct Demand {
    int threads = 0;
    double thread_seconds = 0;
    double since_s = 0;
    std::optional<CpuCredits> credits; ///< of a burstable host
    std::uint64_t changes = 0;         ///< timers set for an earlier demand mean nothing
    std::vector<Process*> undisturbed; ///< compute by a timer
  };
  std::vector<std::unique_ptr<Demand>> demands;
  std::unique_ptr<Kernel::Semaphore> done = kernel->semaphore(0);
  std::exception_ptr error;
  double origin_s = 0; ///< SimGrid's clock at the start of this world
  int active = 0;      ///< processes that run, sleep or compute: something will happen
  int one_shot_timers = 0;
  bool running = false;
  std::optional<double> ended_s; ///< SimGrid's clock runs on to the last timer that is still set
  struct Periodic {
    double interval_s;
    std::function<void(double)> callback;
  };
  std::vector<Periodic> periodic;
  std::set<std::tuple<double, std::uint64_t, Process*>> sleepers; ///< by date, then by who came first
  std::uint64_t slept = 0;
  Kernel::Timer* alarm = nullptr; ///< for the first of them, or for one that was disturbed meanwhile
  double alarm_s = 0;
};

/// What a process sleeps on, and until when.
struct Sleep {
  std::unique_ptr<Kernel::Semaphore> awake;
  bool sleeps = false; ///< until this date, of which it is the `number`-th
  double until_s = 0;
  std::uint64_t number = 0;
};

} // namespace replisim::engine
