#include "models/lag_anatomy.hpp"

#include "models/base/check.hpp"

#include <algorithm>
#include <cmath>

namespace replisim {

Nanoseconds to_nanoseconds(double seconds) { return std::llround(seconds * 1e9); }

namespace {
double seconds_of(Nanoseconds ns) { return static_cast<double>(ns) * 1e-9; }
} // namespace

Nanoseconds LagParts::lag() const {
  Nanoseconds sum = 0;
  for (std::size_t i = 1; i + 1 < lag_stages; ++i)
    sum += ns[i];
  return sum;
}

void WorkLedger::start(std::uint32_t transaction, double now_s) {
  stop(now_s);
  working_ = true;
  now_ = {transaction, to_nanoseconds(now_s), 0};
}

void WorkLedger::stop(double now_s) {
  if (not working_)
    return;
  working_ = false;
  now_.to = to_nanoseconds(now_s);
  if (not done_.empty() and done_.back().transaction == now_.transaction and done_.back().to == now_.from)
    done_.back().to = now_.to;
  else if (now_.to > now_.from)
    done_.push_back(now_);
  if (done_.size() > kept_stretches)
    done_.pop_front();
}

std::pair<Nanoseconds, Nanoseconds> WorkLedger::split(Nanoseconds from, Nanoseconds to,
                                                      std::uint32_t transaction) const {
  Nanoseconds own = 0, others = 0;
  const auto count = [&](const Stretch& stretch, Nanoseconds end) {
    const Nanoseconds common = std::min(to, end) - std::max(from, stretch.from);
    if (common > 0)
      (stretch.transaction == transaction ? own : others) += common;
  };
  for (auto it = done_.rbegin(); it != done_.rend() and it->to > from; ++it)
    count(*it, it->to);
  if (working_)
    count(now_, to);
  return {own, others};
}

void LagPath::begin(double begin_s, double commit_record_s) {
  parts_ = {};
  begun_ = true;
  at_ = to_nanoseconds(commit_record_s);
  parts_.commit_ns = at_;
  parts_.of(LagStage::Executing) = at_ - to_nanoseconds(begin_s);
}

void LagPath::spend(LagStage stage, double until_s) {
  const Nanoseconds until = to_nanoseconds(until_s);
  if (not begun_ or until <= at_)
    return;
  parts_.of(stage) += until - at_;
  at_ = until;
}

void LagPath::wait(const WorkLedger& ledger, std::uint32_t transaction, double until_s,
                   LagStage behind_others, LagStage otherwise) {
  const Nanoseconds until = to_nanoseconds(until_s);
  if (not begun_ or until <= at_)
    return;
  const auto [own, others] = ledger.split(at_, until, transaction);
  parts_.of(LagStage::Apply) += own;
  parts_.of(behind_others) += others;
  parts_.of(otherwise) += until - at_ - own - others;
  at_ = until;
}

void LagPath::applied(double confirmed_s) {
  parts_.applied_ns = at_;
  parts_.confirmed = confirmed_s >= 0;
  spend(LagStage::Feedback, confirmed_s);
}

void LagSpan::spend(LagStage stage, double first_s, double last_s) {
  first.spend(stage, first_s);
  last.spend(stage, last_s);
}

void ExactSum::add(Nanoseconds value, std::int64_t times) {
  constexpr std::int64_t second = 1'000'000'000;
  seconds += value / second * times;
  ns += value % second * times;
  seconds += ns / second;
  ns %= second;
  if (ns < 0) {
    ns += second;
    --seconds;
  }
}

void LagStatistics::add(const LagParts& parts) { add_spread(parts, parts, 1); }

void LagStatistics::add_spread(const LagParts& first, const LagParts& last, std::int64_t transactions) {
  if (transactions <= 0)
    return;
  for (std::size_t i = 0; i < lag_stages; ++i) {
    if (i + 1 == lag_stages and not first.confirmed)
      continue;
    stages_[i].add_spread(seconds_of(first.ns[i]), seconds_of(last.ns[i]), transactions);
    twice_[i].add(first.ns[i] + last.ns[i], transactions);
  }
  lag_.add_spread(seconds_of(first.lag()), seconds_of(last.lag()), transactions);
  twice_lag_.add(first.applied_ns - first.commit_ns + last.applied_ns - last.commit_ns, transactions);
  transactions_ += transactions;
}

double LagStatistics::mean(const ExactSum& twice, const LagSketch& of) {
  return of.count() > 0 ? twice.total_s() / 2 / of.count() : 0;
}

double LagStatistics::mean_s(LagStage stage) const {
  const auto i = static_cast<std::size_t>(stage);
  return mean(twice_[i], stages_[i]);
}

void LagStatistics::check() const {
  ExactSum sum;
  for (std::size_t i = 1; i + 1 < lag_stages; ++i) {
    sum.add(twice_[i].seconds, 1'000'000'000);
    sum.add(twice_[i].ns, 1);
  }
  REPLISIM_REQUIRE(sum == twice_lag_,
                   "the parts of {} lags add up to {} s {} ns, the lags to {} s {} ns (doubled)",
                   transactions_, sum.seconds, sum.ns, twice_lag_.seconds, twice_lag_.ns);
}

} // namespace replisim
