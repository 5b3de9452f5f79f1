// The engine layer: a small vocabulary over SimGrid in which PostgreSQL's processes are written.
//
// A World holds hosts, links and processes of one simulation. A process (an actor) gets a Process& and
// can let time pass in five ways only: cpu(), sleep(), a Device's fsync, a Stream's operations
// and wait() on a Signal. Nothing outside sim/engine names SimGrid, and there only the kernel's module.
//
// The body of every process is guarded: its exception ends the run and is thrown again by run() with
// the process's name and the simulated date. A world in which nothing can happen any more is a
// DeadlockError that says who waits for what.
#pragma once

#include "models/hardware.hpp"

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace replisim::engine {

class World;
struct WorldState; ///< both of world_impl.hpp
struct Sleep;

/// Index of a host, handed out by World::add_host.
struct HostId {
  int value = 0;
};

/// What a process is doing, for the stage shares.
enum class Activity { Busy, Starved, Blocked };

/// Times a process spent, in seconds.
struct Usage {
  double busy_s = 0;    ///< on the CPU or waiting for one, or on a device
  double starved_s = 0; ///< waiting for input
  double blocked_s = 0; ///< waiting for output
  double cpu_s = 0;     ///< CPU seconds consumed
  double device_s = 0;  ///< part of busy_s: on a device, or waiting for its turn

  void add(Activity activity, double seconds);
};

/// Something one process waits for and others announce. At most one process waits at a time.
class Signal {
public:
  explicit Signal(World& world, std::string name);
  ~Signal();
  Signal(const Signal&) = delete;
  Signal& operator=(const Signal&) = delete;

  /// Wakes the waiting process, if there is one. Also allowed from a timer.
  void notify();
  const std::string& name() const { return name_; }

private:
  friend class Process;
  struct Impl;
  std::unique_ptr<Impl> impl_;
  std::string name_;
};

/// The handle through which one process sees the world.
class Process {
public:
  Process(World& world, std::string name, HostId host);
  ~Process();
  Process(const Process&) = delete;
  Process& operator=(const Process&) = delete;

  double now() const;
  const std::string& name() const { return name_; }
  HostId host() const { return host_; }

  /// Consumes `seconds` of reference CPU on the process's host, sharing its CPUs with whoever else
  /// runs there. Nothing happens for 0; negative or non-finite is an invariant violation.
  void cpu(double seconds);
  /// The same work shared evenly by `cpus` threads: it takes that part of the time, CPUs permitting.
  void cpu_on(int cpus, double seconds);
  /// Lets `seconds` pass, counted as `activity`.
  void sleep(double seconds, Activity activity = Activity::Busy);
  /// Waits until `signal` is notified; the caller tests its condition in a loop.
  void wait(Signal& signal, Activity activity);

  /// Housekeeping goes on for ever by itself: while only such processes sleep, nothing will happen any more.
  void set_housekeeping(bool on = true) { housekeeping_ = on; }

  /// Usage up to now; a running wait is included, CPU seconds lag behind by ten at most.
  Usage usage() const;

private:
  friend class World;
  friend class Device;
  void begin(Activity activity);
  void end();

  World& world_;
  std::unique_ptr<Sleep> impl_;
  std::string name_;
  HostId host_;
  Usage usage_;
  Activity current_ = Activity::Starved;
  double current_since_s_ = 0;
  double on_device_since_s_ = -1; ///< negative: not on a device
  bool in_activity_ = false;
  bool housekeeping_ = false;
  std::string waits_for_;
};

/// Told what processes spend their time on, when each stretch of it is over.
class Observer {
public:
  Observer() = default;
  Observer(const Observer&) = delete;
  Observer& operator=(const Observer&) = delete;
  virtual ~Observer() = default;
  /// `waits_for` names the signal it waited for, if it did.
  virtual void spent(const Process& process, Activity activity, double from_s, double to_s,
                     const std::string& waits_for) = 0;
};

/// A storage device: requests one after another; an fsync costs latency plus bytes over bandwidth.
class Device {
public:
  Device(World& world, Disk disk);
  ~Device();
  /// Waits for its turn, asks `bytes` how much there is to write, writes and flushes it. A negative
  /// answer means that there is nothing left to do.
  void write_and_flush(Process& process, const std::function<Bytes()>& bytes);
  /// From now on everything takes `factor` times as long as at first.
  void slow_down(double factor) { factor_ = factor; }
  /// Time it has spent on requests up to `now_s`, the one in hand included.
  double busy_s(double now_s) const { return busy_s_ + (busy_since_s_ < 0 ? 0 : now_s - busy_since_s_); }

private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
  Disk disk_;
  double factor_ = 1;
  double busy_s_ = 0;
  double busy_since_s_ = -1; ///< negative: idle
};

/// Hash over (time, source, kind, numbers) of all events recorded, in order.
class Fingerprint {
public:
  void add(double time_s, std::string_view source, std::string_view kind, std::int64_t a, std::int64_t b);
  std::uint64_t value() const { return hash_; }
  std::uint64_t count() const { return count_; }

private:
  void mix(const void* data, std::size_t size);
  std::uint64_t hash_ = 0xcbf29ce484222325ULL;
  std::uint64_t count_ = 0;
};

class World {
public:
  World();
  ~World();
  World(const World&) = delete;
  World& operator=(const World&) = delete;

  /// All hosts and links are added before run().
  HostId add_host(const std::string& name, const Machine& machine);
  void add_link(HostId a, HostId b, double bandwidth_bytes_per_s);

  /// Registers a process; it starts at time 0 of run(). Processes end with the world at the latest.
  Process& spawn(const std::string& name, HostId host, std::function<void(Process&)> body);

  /// Runs until finish() was called by a process. Throws what a process threw (an
  /// InvariantViolation keeps its type), or DeadlockError when nothing can happen any more.
  void run();
  /// Ends the run at the current date.
  void finish();

  double now() const;
  /// Calls `callback` at `date_s`, outside any process; it must not block. A `guard` only watches: while
  /// nothing but guards is pending, nothing will happen any more.
  void at(double date_s, std::function<void()> callback, bool guard = false);
  /// Calls `callback(now)` every `interval_s` from time 0 on until the end of the run.
  void every(double interval_s, std::function<void(double)> callback);

  /// Calls `callback` when a burstable host has used up its CPU credits, each time.
  void on_throttled(std::function<void(HostId)> callback) { on_throttled_ = std::move(callback); }

  /// A burstable host has no credits left from now on.
  void use_up_credits(HostId host);
  /// Another bandwidth of the link between two hosts, also for what is under way.
  void set_bandwidth(HostId a, HostId b, double bytes_per_s);

  /// Integral over time of the number of threads on the host that run or wait for a CPU.
  double thread_seconds(HostId host) const;

  /// Moves `bytes` from the process's host to `to` over their link, sharing its bandwidth. The process
  /// is busy meanwhile. Latency is not included.
  void transfer(Process& process, HostId to, Bytes bytes);

  /// Nobody by default. The observer outlives run() and must not let time pass.
  void set_observer(Observer* observer) { observer_ = observer; }

  const std::vector<std::unique_ptr<Process>>& processes() const { return processes_; }
  Fingerprint& fingerprint() { return fingerprint_; }
  /// Every SimGrid option that was pinned, for the manifest.
  static std::map<std::string, std::string> engine_options();

private:
  friend class Process;
  friend class Signal;
  friend class Device;
  void deadlock();
  void want_cpus(HostId host, int more);
  bool undisturbed(HostId host) const;
  double pause(Process& process, double seconds);
  void set_alarm();
  void wake_sleepers();
  double compute(Process& process, double seconds);
  void disturb(std::vector<Process*>& processes);
  void watch_credits(HostId host);
  void tick(std::size_t periodic, std::int64_t n);
  void from_timer(const std::function<void()>& callback);
  void fail(const std::string& process, std::exception_ptr error);

  std::unique_ptr<WorldState> impl_;
  std::vector<std::unique_ptr<Process>> processes_;
  std::vector<std::function<void(Process&)>> bodies_;
  Fingerprint fingerprint_;
  Observer* observer_ = nullptr;
  std::function<void(HostId)> on_throttled_;
};

} // namespace replisim::engine
