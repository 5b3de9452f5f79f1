#include "sim/observe/steady_recorder.hpp"

#include <algorithm>
#include <optional>

namespace replisim {

namespace {

/// Change of a sum over the change of a count; nothing where there was none.
std::optional<double> ratio(double sum, double count) {
  return count > 0 ? std::optional<double>(sum / count) : std::nullopt;
}

} // namespace

SteadyRecorder::SteadyRecorder(Pipeline& pipeline, double interval_s, std::function<void(double)> sampled)
    : pipeline_(pipeline), interval_s_(interval_s), sampled_(std::move(sampled)) {
  for (const auto& [name, side] : pipeline.slots())
    slots_.push_back(name);
  pipeline.world().every(interval_s, [this](double now_s) {
    if (ticks_++ % stride_ == 0)
      sample(now_s);
  });
}

void SteadyRecorder::sample(double now_s) {
  if (readings_.size() == max_readings) { // every second one goes, the first one stays
    for (std::size_t i = 1; i < max_readings / 2; ++i)
      readings_[i] = std::move(readings_[2 * i]);
    readings_.resize(max_readings / 2);
    stride_ *= 2;
    if ((ticks_ - 1) % stride_ != 0)
      return;
  }
  const RunLog& log = pipeline_.log();
  Reading now;
  now.t_s = now_s;
  for (const ClientRecord& load : log.clients) {
    now.clients.emplace_back(load.transactions, load.ended_s);
    now.responses += load.response.count();
    now.response_s += load.response.count() * load.response.mean();
  }
  for (const TransactionRecord& flow : log.flows)
    now.flow_transactions +=
        flow.of_clients or not flow.received_by.empty() ? 0 : static_cast<double>(flow.transactions);
  for (const std::string& name : slots_) {
    const SubscriptionRecord& record = log.subscriptions.at(name);
    SlotReading slot;
    slot.applied = static_cast<double>(record.flow_transactions);
    slot.lag_s = record.flow_lag.count() * record.flow_lag.mean();
    for (const TransactionRecord& flow : log.flows)
      if (flow.server == pipeline_.slots().at(name).publisher)
        slot.committed += static_cast<double>(flow.transactions);
    now.slots.push_back(slot);
  }
  readings_.push_back(std::move(now));
  if (sampled_)
    sampled_(now_s);
}

/// A metric whose value is missing in some bin is left out: the bins are too short for it.
SteadySeries SteadyRecorder::series(std::size_t merged) const {
  SteadySeries out;
  out.bin_s = interval_s_ * static_cast<double>(stride_) * static_cast<double>(merged);
  std::map<std::string, std::vector<double>> found;
  const std::size_t bins = readings_.empty() ? 0 : (readings_.size() - 1) / merged;
  for (std::size_t i = merged; i < readings_.size(); i += merged) {
    const Reading &before = readings_[i - merged], &after = readings_[i];
    const double seconds = after.t_s - before.t_s;
    double tps = (after.flow_transactions - before.flow_transactions) / seconds;
    for (std::size_t k = 0; k < after.clients.size(); ++k)
      tps += ratio(after.clients[k].first - before.clients[k].first,
                   after.clients[k].second - before.clients[k].second)
                 .value_or(0);
    found["tps"].push_back(tps);
    if (const auto latency = ratio(after.response_s - before.response_s, after.responses - before.responses))
      found["latency_s"].push_back(*latency);
    double applied = 0;
    std::optional<double> longest;
    for (std::size_t k = 0; k < slots_.size(); ++k) {
      const double count = after.slots[k].applied - before.slots[k].applied;
      applied += count / seconds;
      if (const auto lag = ratio(after.slots[k].lag_s - before.slots[k].lag_s, count))
        longest = std::max(longest.value_or(0), *lag);
    }
    if (not slots_.empty())
      found["apply_tps"].push_back(applied);
    if (longest)
      found["lag_s_mean"].push_back(*longest);
  }
  for (auto& [name, values] : found)
    if (values.size() == bins)
      out.metrics[name] = std::move(values);
  return out;
}

std::size_t SteadyRecorder::first_from(double from_s) const {
  const auto found = std::find_if(readings_.begin(), readings_.end(),
                                  [&](const Reading& reading) { return reading.t_s >= from_s - 1e-9; });
  return static_cast<std::size_t>(found - readings_.begin());
}

std::size_t SteadyRecorder::slot_index(const std::string& slot) const {
  return static_cast<std::size_t>(std::find(slots_.begin(), slots_.end(), slot) - slots_.begin());
}

double SteadyRecorder::mean_behind(const std::string& slot, double from_s) const {
  const std::size_t k = slot_index(slot);
  double sum = 0, count = 0;
  for (std::size_t i = first_from(from_s); i < readings_.size(); ++i, ++count)
    sum += readings_[i].slots[k].committed - readings_[i].slots[k].applied;
  return count > 0 ? sum / count : 0;
}

SteadyRecorder::Passage SteadyRecorder::passage(const std::string& slot, double from_s) const {
  const std::size_t k = slot_index(slot), first = first_from(from_s);
  if (first + 1 >= readings_.size())
    return {};
  const Reading &from = readings_[first], &to = readings_.back();
  const double applied = to.slots[k].applied - from.slots[k].applied;
  return {applied / (to.t_s - from.t_s), ratio(to.slots[k].lag_s - from.slots[k].lag_s, applied).value_or(0)};
}

double SteadyRecorder::committed_per_s(double from_s) const {
  const std::size_t first = first_from(from_s);
  if (first + 1 >= readings_.size())
    return 0;
  const Reading &from = readings_[first], &to = readings_.back();
  double sum = to.flow_transactions - from.flow_transactions;
  for (std::size_t k = 0; k < to.clients.size(); ++k)
    sum += to.clients[k].first - from.clients[k].first;
  return sum / (to.t_s - from.t_s);
}

} // namespace replisim
