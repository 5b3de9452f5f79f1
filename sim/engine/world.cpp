#include "sim/engine/world.hpp"

#include "sim/engine/event_tap.hpp"
#include "sim/engine/world_impl.hpp"

#include "models/base/check.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <new>

namespace replisim::engine {

/// The pinned options: no hidden factor in the network, one thread, small stacks.
const std::map<std::string, std::string>& pinned_options() {
  static const std::map<std::string, std::string> options = {
    {"network/model", "CM02"},
    {"network/crosstraffic", "0"},
    {"network/TCP-gamma", "1e12"}, // windows are the business of our streams
    {"contexts/stack-size", "256"},
    {"contexts/nthreads", "1"},
#if defined(__SANITIZE_ADDRESS__)
    {"contexts/factory", "thread"},
#endif
  };
  return options;
}

struct Signal::Impl {
  World* world;
  std::unique_ptr<Kernel::Semaphore> semaphore;
  bool waiting = false;
};

struct Device::Impl {
  std::unique_ptr<Kernel::Semaphore> semaphore;
};

void Fingerprint::mix(const void* data, std::size_t size) {
  const auto* bytes = static_cast<const unsigned char*>(data);
  for (std::size_t i = 0; i < size; ++i)
    hash_ = (hash_ ^ bytes[i]) * 0x100000001b3ULL;
}

void Fingerprint::add(double time_s, std::string_view source, std::string_view kind, std::int64_t a,
                      std::int64_t b) {
  const auto bits = std::bit_cast<std::uint64_t>(time_s);
  mix(&bits, sizeof bits);
  mix(source.data(), source.size());
  mix(kind.data(), kind.size());
  mix(&a, sizeof a);
  mix(&b, sizeof b);
  ++count_;
  if (double* clock = simulated_clock())
    *clock = time_s;
  if (EventTap* tap = event_tap())
    tap->see(count_, hash_, time_s, source, kind, a, b);
}

// --- Signal, Device ---------------------------------------------------------------------------

Signal::Signal(World& world, std::string name)
    : impl_(std::make_unique<Impl>(Impl{&world, world.impl_->kernel->semaphore(0)})), name_(std::move(name)) {
}
Signal::~Signal() = default;

void Signal::notify() {
  if (impl_->waiting) {
    impl_->waiting = false;
    ++impl_->world->impl_->active;
    impl_->semaphore->release();
  }
}

Device::Device(World& world, Disk disk)
    : impl_(std::make_unique<Impl>(Impl{world.impl_->kernel->semaphore(1)})), disk_(std::move(disk)) {}
Device::~Device() = default;

void Device::write_and_flush(Process& process, const std::function<Bytes()>& bytes) {
  // Who queues here waits for a process that is itself asleep on the device: no deadlock possible.
  process.on_device_since_s_ = process.now();
  process.begin(Activity::Busy);
  impl_->semaphore->acquire();
  process.end();
  const Bytes amount = bytes();
  if (amount >= 0) {
    busy_since_s_ = process.now();
    process.sleep(factor_ *
                  (disk_.fsync_latency_s + static_cast<double>(amount) / disk_.write_bandwidth_bytes_per_s));
    busy_s_ += process.now() - busy_since_s_;
    busy_since_s_ = -1;
  }
  process.usage_.device_s += process.now() - process.on_device_since_s_;
  process.on_device_since_s_ = -1;
  impl_->semaphore->release();
}

// --- Process ----------------------------------------------------------------------------------

Process::Process(World& world, std::string name, HostId host)
    : world_(world), impl_(std::make_unique<Sleep>(Sleep{world.impl_->kernel->semaphore(0)})),
      name_(std::move(name)), host_(host) {}
Process::~Process() = default;

double Process::now() const { return world_.now(); }

void Usage::add(Activity activity, double seconds) {
  switch (activity) {
  case Activity::Busy:
    busy_s += seconds;
    break;
  case Activity::Starved:
    starved_s += seconds;
    break;
  case Activity::Blocked:
    blocked_s += seconds;
    break;
  }
}

void Process::begin(Activity activity) {
  current_ = activity;
  current_since_s_ = now();
  in_activity_ = true;
}

void Process::end() {
  in_activity_ = false;
  world_.fingerprint_.add(now(), name_, waits_for_, static_cast<std::int64_t>(current_),
                          std::bit_cast<std::int64_t>(current_since_s_));
  usage_.add(current_, now() - current_since_s_);
  if (world_.observer_ != nullptr)
    world_.observer_->spent(*this, current_, current_since_s_, now(), waits_for_);
}

Usage Process::usage() const {
  Usage usage = usage_;
  if (in_activity_)
    usage.add(current_, now() - current_since_s_);
  if (on_device_since_s_ >= 0)
    usage.device_s += now() - on_device_since_s_;
  return usage;
}

void Process::cpu(double seconds) { cpu_on(1, seconds); }

void Process::cpu_on(int cpus, double seconds) {
  REPLISIM_REQUIRE(seconds >= 0 and std::isfinite(seconds), "{} asks for {} s of CPU", name_, seconds);
  if (seconds == 0)
    return;
  const int threads = std::max(1, cpus);
  constexpr double slice_s = 10; // usage() counts what is done: hours of work must not wait for their end
  begin(Activity::Busy);
  world_.want_cpus(host_, threads);
  const double speed = world_.impl_->machines[static_cast<std::size_t>(host_.value)].speed;
  for (double left = seconds; left > 0;) {
    const double work = left > 1.5 * slice_s ? slice_s : left;
    double done = work;
    if (world_.undisturbed(host_))
      done = std::min(work, world_.compute(*this, work / (speed * threads)) * speed * threads);
    else
      world_.impl_->kernel->execute(host_.value, work / threads, threads);
    usage_.cpu_s += done / speed;
    left -= done;
  }
  world_.want_cpus(host_, -threads);
  end();
}

void Process::sleep(double seconds, Activity activity) {
  REPLISIM_REQUIRE(seconds >= 0 and std::isfinite(seconds), "{} sleeps for {} s", name_, seconds);
  if (seconds == 0)
    return;
  begin(activity);
  world_.impl_->active -= housekeeping_ ? 1 : 0;
  world_.pause(*this, seconds);
  world_.impl_->active += housekeeping_ ? 1 : 0;
  end();
}

void Process::wait(Signal& signal, Activity activity) {
  REPLISIM_REQUIRE(not signal.impl_->waiting, "two processes wait for {}", signal.name());
  signal.impl_->waiting = true;
  waits_for_ = signal.name();
  --world_.impl_->active;
  begin(activity);
  signal.impl_->semaphore->acquire();
  end();
  waits_for_.clear();
}

// --- World ------------------------------------------------------------------------------------

World::World() : impl_(std::make_unique<WorldState>()) {
  impl_->origin_s = impl_->kernel->clock_s();
  impl_->kernel->on_deadlock([this] { deadlock(); });
}
World::~World() = default;

std::map<std::string, std::string> World::engine_options() {
  auto options = pinned_options();
  options["simgrid"] = kernel_version();
  return options;
}

double World::now() const {
  return impl_->ended_s ? *impl_->ended_s : impl_->kernel->clock_s() - impl_->origin_s;
}

HostId World::add_host(const std::string& name, const Machine& machine) {
  REPLISIM_REQUIRE(machine.cpus() > 0 and machine.speed > 0, "host {} has {} CPUs of speed {}", name,
                   machine.cpus(), machine.speed);
  impl_->demands.push_back(std::make_unique<WorldState::Demand>());
  WorldState::Demand* demand = impl_->demands.back().get();
  std::function<double()> capacity;
  if (machine.bursts())
    demand->credits.emplace(machine);
  if (machine.threads_per_core > 1 or machine.bursts())
    capacity = [machine, demand] {
      return machine.speed *
             (demand->credits ? demand->credits->capacity() : machine.capacity(demand->threads));
    };
  impl_->kernel->add_host(name, machine.speed, machine.cpus(), std::move(capacity));
  impl_->hosts.push_back(name);
  impl_->machines.push_back(machine);
  return {static_cast<int>(impl_->hosts.size()) - 1};
}

void World::add_link(HostId a, HostId b, double bandwidth_bytes_per_s) {
  impl_->kernel->add_link(a.value, b.value, bandwidth_bytes_per_s);
}

void World::set_bandwidth(HostId a, HostId b, double bytes_per_s) {
  impl_->kernel->set_bandwidth(a.value, b.value, bytes_per_s);
}

Process& World::spawn(const std::string& name, HostId host, std::function<void(Process&)> body) {
  processes_.push_back(std::make_unique<Process>(*this, name, host));
  bodies_.push_back(std::move(body));
  return *processes_.back();
}

void World::fail(const std::string& process, std::exception_ptr error) {
  if (impl_->error)
    return;
  const std::string where = fmt::format("{} at {:.6f} s", process, now());
  try {
    std::rethrow_exception(error);
  } catch (const UsageError&) {
    impl_->error = error;
  } catch (const std::bad_alloc&) {
    impl_->error = error; // whoever set a limit says so
  } catch (const std::exception& e) {
    impl_->error = std::make_exception_ptr(InvariantViolation(where + ": " + e.what()));
  }
  finish();
}

void World::deadlock() {
  if (impl_->error or not impl_->running)
    return;
  std::string who;
  for (const auto& process : processes_)
    if (not process->waits_for_.empty())
      who += fmt::format("{}{} waits for {}", who.empty() ? "" : ", ", process->name(), process->waits_for_);
  impl_->error = std::make_exception_ptr(
      DeadlockError(fmt::format("nothing can happen any more at {:.6f} s: {}", now(), who)));
  finish();
}

void World::finish() {
  if (impl_->running) {
    impl_->ended_s = now();
    impl_->running = false;
    impl_->done->release();
  }
}

void World::run() {
  REPLISIM_REQUIRE(not impl_->hosts.empty(), "a world without hosts");
  impl_->running = true;
  for (std::size_t i = 0; i < processes_.size(); ++i) {
    Process* process = processes_[i].get();
    ++impl_->active;
    auto guarded = [this, process, i] {
      try {
        bodies_[i](*process);
      } catch (const std::exception&) {
        fail(process->name(), std::current_exception());
      } // the end of the world unwinds the process by something else
      --impl_->active;
    };
    impl_->kernel->start(process->name(), process->host().value, guarded, true);
  }
  // The only regular actor: when it ends, SimGrid ends the others and run() returns.
  impl_->kernel->start(
      "clock", 0, [this] { impl_->done->acquire(); }, false);
  impl_->kernel->run();
  if (impl_->running)
    deadlock();
  impl_->running = false;
  if (impl_->error)
    std::rethrow_exception(impl_->error);
}

void World::from_timer(const std::function<void()>& callback) {
  try {
    callback();
  } catch (const std::exception&) {
    fail("a timer", std::current_exception());
  }
}

void World::at(double date_s, std::function<void()> callback, bool guard) {
  impl_->one_shot_timers += guard ? 0 : 1;
  impl_->kernel->set_timer(impl_->origin_s + date_s, [this, callback = std::move(callback), guard] {
    impl_->one_shot_timers -= guard ? 0 : 1;
    if (impl_->running)
      from_timer(callback);
  });
}

void World::every(double interval_s, std::function<void(double)> callback) {
  REPLISIM_REQUIRE(interval_s > 0, "a timer every {} s", interval_s);
  impl_->periodic.push_back({interval_s, std::move(callback)});
  tick(impl_->periodic.size() - 1, 0);
}

void World::tick(std::size_t periodic, std::int64_t n) {
  // The date of tick n is computed, never accumulated.
  const double date_s = static_cast<double>(n) * impl_->periodic[periodic].interval_s;
  impl_->kernel->set_timer(impl_->origin_s + date_s, [this, periodic, n] {
    if (not impl_->running)
      return;
    from_timer([this, periodic] { impl_->periodic[periodic].callback(now()); });
    if (impl_->active > 0 or impl_->one_shot_timers > 0) {
      tick(periodic, n + 1);
    } else { // periodic timers alone would keep a stuck world going for ever
      deadlock();
      finish();
    }
  });
}

void World::transfer(Process& process, HostId to, Bytes bytes) {
  process.begin(Activity::Busy);
  impl_->kernel->transfer(process.host().value, to.value, static_cast<std::uint64_t>(bytes));
  process.end();
}

} // namespace replisim::engine
