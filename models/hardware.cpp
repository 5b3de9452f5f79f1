#include "models/hardware.hpp"

#include <algorithm>
#include <limits>

namespace replisim {

double Machine::capacity(int running) const {
  const int on_cores = std::clamp(running, 0, cores());
  const int on_second_threads = std::clamp(running - cores(), 0, cpus() - cores());
  if (on_second_threads == 0)
    return on_cores;
  // Each thread beyond a core's first adds the same share of the gain: a core with all its threads
  // busy does `smt_gain`.
  const double gain_per_thread = (smt_gain - 1) / (threads_per_core - 1);
  return on_cores + on_second_threads * gain_per_thread;
}

namespace {
/// What a host that has used up its credits gathers before it runs at full speed again: keeps a simulation
/// from switching at every short pause. Nothing is lost by it.
constexpr double least_stock_s = 1;
} // namespace

CpuCredits::CpuCredits(const Machine& machine)
    : machine_(machine), earned_(machine.baseline * machine.cpus()),
      most_s_(std::max(machine.cpu_credits_s, earned_ * 86400)), stock_s_(machine.cpu_credits_s),
      throttled_(machine.cpu_credits_s <= 0) {}

void CpuCredits::pass(double now_s) {
  stock_s_ = std::min(most_s_, stock_s_ + net() * (now_s - at_s_));
  at_s_ = now_s;
  constexpr double rounding_s = 1e-9;
  if (not throttled_ and stock_s_ <= rounding_s and wanted_ > earned_)
    throttled_ = true;
  else if (throttled_ and stock_s_ >= least_stock_s - rounding_s)
    throttled_ = false;
}

void CpuCredits::demand(int running, double now_s) {
  pass(now_s);
  wanted_ = machine_.capacity(running);
}

double CpuCredits::changes_s() const {
  if (throttled_ and net() > 0)
    return at_s_ + std::max(0.0, least_stock_s - stock_s_) / net();
  if (not throttled_ and net() < 0)
    return at_s_ + std::max(0.0, stock_s_) / -net();
  return std::numeric_limits<double>::infinity();
}

} // namespace replisim
