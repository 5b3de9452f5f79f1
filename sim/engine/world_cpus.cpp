// Who computes or sleeps on a host, by a timer or by SimGrid's solver, and a burstable host's credits.
#include "sim/engine/world_impl.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

namespace replisim::engine {

void World::want_cpus(HostId host, int more) {
  WorldState::Demand& demand = *impl_->demands[static_cast<std::size_t>(host.value)];
  demand.thread_seconds += demand.threads * (now() - demand.since_s);
  demand.since_s = now();
  demand.threads += more;
  if (demand.credits) {
    demand.credits->demand(demand.threads, now());
    watch_credits(host);
  }
  if (more > 0 and not undisturbed(host))
    disturb(demand.undisturbed);
}

/// Whether each thread on the host has a core to itself: nobody slows anybody down.
bool World::undisturbed(HostId host) const {
  const auto index = static_cast<std::size_t>(host.value);
  return not impl_->demands[index]->credits and
         impl_->demands[index]->threads <= impl_->machines[index].cores();
}

/// Lets `seconds` pass for the process; less if somebody wakes it before. Returns what has passed.
double World::pause(Process& process, double seconds) {
  const double from_s = now();
  Sleep& own = *process.impl_;
  own.sleeps = true;
  own.until_s = from_s + seconds;
  own.number = impl_->slept++;
  impl_->sleepers.emplace(own.until_s, own.number, &process);
  set_alarm();
  own.awake->acquire();
  return now() - from_s;
}

void World::set_alarm() {
  if (impl_->sleepers.empty())
    return;
  const double date_s = std::get<0>(*impl_->sleepers.begin());
  if (impl_->alarm != nullptr) {
    if (impl_->alarm_s <= date_s)
      return;
    impl_->kernel->remove_timer(impl_->alarm);
  }
  impl_->alarm_s = date_s;
  impl_->alarm = impl_->kernel->set_timer(impl_->origin_s + date_s, [this] { wake_sleepers(); });
}

/// Dates within a nanosecond are one, as for SimGrid's own activities: sums of the same steps in another
/// order are.
void World::wake_sleepers() {
  constexpr double one_date_s = 1e-9;
  impl_->alarm = nullptr;
  if (not impl_->running)
    return;
  const double until_s = now() + one_date_s;
  while (not impl_->sleepers.empty() and std::get<0>(*impl_->sleepers.begin()) <= until_s) {
    Process* process = std::get<2>(*impl_->sleepers.begin());
    impl_->sleepers.erase(impl_->sleepers.begin());
    process->impl_->sleeps = false;
    process->impl_->awake->release();
  }
  set_alarm();
}

/// Computes for `seconds`, or until others come for whom there are not enough cores. SimGrid's solver then
/// shares them out; as long as there is nothing to share, a timer says the same for less.
double World::compute(Process& process, double seconds) {
  std::vector<Process*>& here = impl_->demands[static_cast<std::size_t>(process.host().value)]->undisturbed;
  here.push_back(&process);
  const double passed_s = pause(process, seconds);
  const auto at = std::find(here.begin(), here.end(), &process);
  if (at == here.end())
    return passed_s; // disturbed
  here.erase(at);
  return std::numeric_limits<double>::infinity();
}

void World::disturb(std::vector<Process*>& processes) {
  // Who is released may run at once, and looks whether it is still among the undisturbed. One whose timer has
  // gone off is done, and about to see that.
  std::vector<Process*> disturbed;
  std::erase_if(processes, [&](Process* process) {
    Sleep& own = *process->impl_;
    if (not std::exchange(own.sleeps, false))
      return false;
    impl_->sleepers.erase({own.until_s, own.number, process});
    disturbed.push_back(process);
    return true;
  });
  for (Process* process : disturbed)
    process->impl_->awake->release();
}

void World::watch_credits(HostId host) {
  WorldState::Demand& demand = *impl_->demands[static_cast<std::size_t>(host.value)];
  const std::uint64_t change = ++demand.changes;
  const double date_s = demand.credits->changes_s();
  if (not std::isfinite(date_s))
    return;
  at(
      std::max(date_s, now()),
      [this, host, change] {
        WorldState::Demand& here = *impl_->demands[static_cast<std::size_t>(host.value)];
        if (here.changes != change)
          return;
        const bool before = here.credits->throttled();
        here.credits->pass(now());
        if (here.credits->throttled() != before) {
          impl_->kernel->share_anew(host.value);
          if (not before and on_throttled_)
            on_throttled_(host);
        }
        watch_credits(host);
      },
      true);
}

void World::use_up_credits(HostId host) {
  WorldState::Demand& demand = *impl_->demands.at(static_cast<std::size_t>(host.value));
  if (not demand.credits)
    return;
  demand.credits->pass(now());
  demand.credits->use_up();
  watch_credits(host);
}

double World::thread_seconds(HostId host) const {
  const WorldState::Demand& demand = *impl_->demands.at(static_cast<std::size_t>(host.value));
  return demand.thread_seconds + demand.threads * (now() - demand.since_s);
}

} // namespace replisim::engine
