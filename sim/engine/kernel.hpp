// What the engine takes from SimGrid: its clock and timers, its actors, semaphores to wait for, CPUs and
// links that its solver shares out.
//
// Its only implementation is a module of its own (lib/replisim/replisim_simgrid.so, beside the program) that
// is loaded when the first world is made: SimGrid brings ns-3 and much else with it, which a program that
// simulates nothing should not pay for.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>

namespace replisim::engine {

class Kernel {
public:
  /// A counter at whose zero processes wait.
  class Semaphore {
  public:
    Semaphore() = default;
    Semaphore(const Semaphore&) = delete;
    Semaphore& operator=(const Semaphore&) = delete;
    virtual ~Semaphore() = default;
    virtual void acquire() = 0;
    virtual void release() = 0;
  };
  struct Timer; ///< one that has not gone off yet

  Kernel() = default;
  Kernel(const Kernel&) = delete;
  Kernel& operator=(const Kernel&) = delete;
  virtual ~Kernel() = default;

  /// The date as processes and timers see it, which changes between them only.
  double clock_s() const { return clock_s_; }

  virtual std::unique_ptr<Semaphore> semaphore(unsigned count) = 0;
  /// Hosts are numbered as they come. `capacity`, of all CPUs together, is asked for whenever they are shared
  /// out; empty: `cpus` times `speed`.
  virtual void add_host(const std::string& name, double speed, int cpus,
                        std::function<double()> capacity) = 0;
  /// The capacity of a host has changed while its load has not.
  virtual void share_anew(int host) = 0;
  virtual void add_link(int from, int to, double bytes_per_s) = 0;
  virtual void set_bandwidth(int from, int to, double bytes_per_s) = 0;

  /// For a process: `work` in each of `threads` threads, which share CPUs with all others on its host.
  virtual void execute(int host, double work, int threads) = 0;
  virtual void transfer(int from, int to, std::uint64_t bytes) = 0;

  virtual Timer* set_timer(double date_s, std::function<void()> callback) = 0;
  virtual void remove_timer(Timer* timer) = 0;

  /// A process that runs from the beginning of run(). The run ends when all that are not daemons have ended.
  virtual void start(const std::string& name, int host, std::function<void()> body, bool daemon) = 0;
  /// Called when nothing can happen any more.
  virtual void on_deadlock(std::function<void()> callback) = 0;
  virtual void run() = 0;

protected:
  double clock_s_ = 0;
};

/// Loads the module, once; before children are forked that simulate, so that each need not.
void load_kernel();
/// Options as SimGrid's --cfg takes them.
std::unique_ptr<Kernel> make_kernel(const std::map<std::string, std::string>& options);
/// The version of SimGrid.
std::string kernel_version();

} // namespace replisim::engine
