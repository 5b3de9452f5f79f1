#include "sim/engine/world.hpp"

#include "sim/engine/event_tap.hpp"

#include "models/base/check.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <new>
#include <optional>

#include <simgrid/kernel/Timer.hpp>
#include <simgrid/s4u.hpp>
#include <simgrid/version.h>
#include <xbt/log.h>

namespace sg4 = simgrid::s4u;

namespace replisim::engine {

namespace {
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

std::unique_ptr<sg4::Engine> make_engine() {
  xbt_log_control_set("root.thres:critical");
  std::vector<std::string> arguments = {"replisim"};
  for (const auto& [key, value] : pinned_options())
    arguments.push_back("--cfg=" + key + ":" + value);
  std::vector<char*> argv;
  for (auto& argument : arguments)
    argv.push_back(argument.data());
  int argc = static_cast<int>(argv.size());
  argv.push_back(nullptr);
  return std::make_unique<sg4::Engine>(&argc, argv.data());
}
} // namespace

struct World::Impl {
  std::unique_ptr<sg4::Engine> engine = make_engine();
  sg4::NetZone* zone = sg4::create_full_zone("world");
  std::vector<sg4::Host*> hosts;
  std::vector<Machine> machines;
  /// Threads that want a CPU of a host, and their integral over time. SimGrid counts activities, of which one
  /// may stand for many threads.
  struct Demand {
    int threads = 0;
    double thread_seconds = 0;
    double since_s = 0;
    std::optional<CpuCredits> credits; ///< of a burstable host
    std::uint64_t changes = 0;         ///< timers set for an earlier demand mean nothing
  };
  std::vector<std::unique_ptr<Demand>> demands;
  sg4::SemaphorePtr done = sg4::Semaphore::create(0);
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
};

struct Signal::Impl {
  World* world;
  bool waiting = false;
  sg4::SemaphorePtr semaphore = sg4::Semaphore::create(0);
};

struct Device::Impl {
  sg4::SemaphorePtr semaphore = sg4::Semaphore::create(1);
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
    : impl_(std::make_unique<Impl>(Impl{&world})), name_(std::move(name)) {}
Signal::~Signal() = default;

void Signal::notify() {
  if (impl_->waiting) {
    impl_->waiting = false;
    ++impl_->world->impl_->active;
    impl_->semaphore->release();
  }
}

Device::Device(World&, Disk disk) : impl_(std::make_unique<Impl>()), disk_(std::move(disk)) {}
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
    : world_(world), name_(std::move(name)), host_(host) {}
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
    if (threads == 1)
      sg4::this_actor::execute(work);
    else // one activity that shares as `threads` of one thread would
      sg4::this_actor::thread_execute(world_.impl_->hosts[static_cast<std::size_t>(host_.value)],
                                      work / threads, threads);
    usage_.cpu_s += work / speed;
    left -= work;
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
  sg4::this_actor::sleep_for(seconds);
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

World::World() : impl_(std::make_unique<Impl>()) {
  impl_->origin_s = sg4::Engine::get_clock();
  sg4::Engine::on_deadlock_cb([this] { deadlock(); });
}
World::~World() = default;

std::map<std::string, std::string> World::engine_options() {
  auto options = pinned_options();
  int major = 0, minor = 0, patch = 0;
  sg_version_get(&major, &minor, &patch);
  options["simgrid"] = fmt::format("{}.{}.{}", major, minor, patch);
  return options;
}

double World::now() const {
  return impl_->ended_s ? *impl_->ended_s : sg4::Engine::get_clock() - impl_->origin_s;
}

HostId World::add_host(const std::string& name, const Machine& machine) {
  REPLISIM_REQUIRE(machine.cpus() > 0 and machine.speed > 0, "host {} has {} CPUs of speed {}", name,
                   machine.cpus(), machine.speed);
  // Two states of the same speed: going from one to the other makes SimGrid share the CPUs anew.
  auto* host = impl_->zone->create_host(name, std::vector<double>(2, machine.speed));
  host->set_core_count(machine.cpus());
  impl_->demands.push_back(std::make_unique<Impl::Demand>());
  if (machine.bursts())
    impl_->demands.back()->credits.emplace(machine);
  if (machine.threads_per_core > 1 or machine.bursts())
    host->set_sharing_policy(sg4::Host::SharingPolicy::NONLINEAR,
                             [machine, demand = impl_->demands.back().get()](double, int) {
                               return machine.speed * (demand->credits ? demand->credits->capacity()
                                                                       : machine.capacity(demand->threads));
                             });
  host->seal();
  impl_->hosts.push_back(host);
  impl_->machines.push_back(machine);
  return {static_cast<int>(impl_->hosts.size()) - 1};
}

void World::want_cpus(HostId host, int more) {
  Impl::Demand& demand = *impl_->demands[static_cast<std::size_t>(host.value)];
  demand.thread_seconds += demand.threads * (now() - demand.since_s);
  demand.since_s = now();
  demand.threads += more;
  if (demand.credits) {
    demand.credits->demand(demand.threads, now());
    watch_credits(host);
  }
}

void World::watch_credits(HostId host) {
  Impl::Demand& demand = *impl_->demands[static_cast<std::size_t>(host.value)];
  const std::uint64_t change = ++demand.changes;
  const double date_s = demand.credits->changes_s();
  if (not std::isfinite(date_s))
    return;
  at(
      std::max(date_s, now()),
      [this, host, change] {
        Impl::Demand& here = *impl_->demands[static_cast<std::size_t>(host.value)];
        if (here.changes != change)
          return;
        const bool before = here.credits->throttled();
        here.credits->pass(now());
        if (here.credits->throttled() != before) {
          auto* simulated = impl_->hosts[static_cast<std::size_t>(host.value)];
          simulated->set_pstate(1 - simulated->get_pstate());
          if (not before and on_throttled_)
            on_throttled_(host);
        }
        watch_credits(host);
      },
      true);
}

void World::use_up_credits(HostId host) {
  Impl::Demand& demand = *impl_->demands.at(static_cast<std::size_t>(host.value));
  if (not demand.credits)
    return;
  demand.credits->pass(now());
  demand.credits->use_up();
  watch_credits(host);
}

double World::thread_seconds(HostId host) const {
  const Impl::Demand& demand = *impl_->demands.at(static_cast<std::size_t>(host.value));
  return demand.thread_seconds + demand.threads * (now() - demand.since_s);
}

void World::add_link(HostId a, HostId b, double bandwidth_bytes_per_s) {
  auto* from = impl_->hosts.at(static_cast<std::size_t>(a.value));
  auto* to = impl_->hosts.at(static_cast<std::size_t>(b.value));
  const std::string name = from->get_name() + "-" + to->get_name();
  auto* link = impl_->zone->create_split_duplex_link(name, bandwidth_bytes_per_s);
  link->set_latency(0)->seal(); // propagation is added by the streams, so that it overlaps
  impl_->zone->add_route(from->get_netpoint(), to->get_netpoint(), nullptr, nullptr,
                         {{link, sg4::LinkInRoute::Direction::UP}}, false);
  impl_->zone->add_route(to->get_netpoint(), from->get_netpoint(), nullptr, nullptr,
                         {{link, sg4::LinkInRoute::Direction::DOWN}}, false);
}

void World::set_bandwidth(HostId a, HostId b, double bytes_per_s) {
  const auto* from = impl_->hosts.at(static_cast<std::size_t>(a.value));
  const auto* to = impl_->hosts.at(static_cast<std::size_t>(b.value));
  for (const std::string& name :
       {from->get_name() + "-" + to->get_name(), to->get_name() + "-" + from->get_name()})
    for (const char* direction : {"_UP", "_DOWN"})
      if (auto* link = sg4::Link::by_name_or_null(name + direction))
        link->set_bandwidth(bytes_per_s);
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
  impl_->zone->seal();
  impl_->running = true;
  for (std::size_t i = 0; i < processes_.size(); ++i) {
    Process* process = processes_[i].get();
    ++impl_->active;
    auto guarded = [this, process, i] {
      try {
        bodies_[i](*process);
      } catch (const simgrid::ForcefulKillException&) {
        throw; // the end of the world unwinds the process
      } catch (const std::exception&) {
        fail(process->name(), std::current_exception());
      }
      --impl_->active;
    };
    sg4::Actor::create(process->name(), impl_->hosts.at(static_cast<std::size_t>(process->host().value)),
                       guarded)
        ->daemonize();
  }
  // The only regular actor: when it ends, SimGrid ends the others and run() returns.
  sg4::Actor::create("clock", impl_->hosts.front(), [this] { impl_->done->acquire(); });
  impl_->engine->run();
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
  simgrid::kernel::timer::Timer::set(impl_->origin_s + date_s, [this, callback = std::move(callback), guard] {
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
  simgrid::kernel::timer::Timer::set(impl_->origin_s + date_s, [this, periodic, n] {
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
  sg4::Comm::sendto(impl_->hosts.at(static_cast<std::size_t>(process.host().value)),
                    impl_->hosts.at(static_cast<std::size_t>(to.value)), static_cast<std::uint64_t>(bytes));
  process.end();
}

} // namespace replisim::engine
