#include "sim/observe/trace_recorder.hpp"

#include "sim/actors/pipeline.hpp"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

namespace replisim {

namespace {

constexpr double periods_seen_before_they_grow = 8;

const char* verb(Operation operation) {
  switch (operation) {
  case Operation::Insert:
    return "insert";
  case Operation::Update:
    return "update";
  default:
    return "delete";
  }
}

} // namespace

void TraceRecorder::watch(Pipeline& pipeline) {
  for (const auto& role : pipeline.roles()) {
    states_[role.process].index = static_cast<int>(processes_.size());
    processes_.push_back({role.node, role.stage, role.process->name()});
  }
  int index = 0;
  for (const auto& [name, side] : pipeline.slots())
    slots_[&pipeline.log().subscriptions.at(name)] = {index++, side.publisher};
  pipeline.watch(*this, *this);
}

bool TraceRecorder::kept(double at_s) const {
  return at_s - std::floor(at_s / period_s_) * period_s_ < kept_s_ or period_s_ == kept_s_;
}

int TraceRecorder::signal(const std::string& name) {
  if (name.empty())
    return -1;
  const auto [known, added] = signal_index_.emplace(name, static_cast<int>(signals_.size()));
  if (added)
    signals_.push_back(name);
  return known->second;
}

/// Waiting for input is not written down: it is the gap between two slices.
void TraceRecorder::spent(const engine::Process& process, engine::Activity activity, double from_s,
                          double to_s, const std::string& waits_for) {
  const auto known = states_.find(&process);
  if (known == states_.end() or activity == engine::Activity::Starved or to_s <= from_s)
    return;
  State& state = known->second;
  state.last_from_s = from_s;
  elapsed_s_ = std::max(elapsed_s_, to_s);
  if (not kept(from_s)) {
    state.pending.clear();
    return;
  }
  TraceSlice slice{state.index, from_s, to_s, activity == engine::Activity::Blocked, signal(waits_for), -1};
  for (const auto& [way, hop] : state.pending) {
    slice.batch = way.first;
    ways_[way].stops.push_back({state.index, from_s, hop});
    ++stops_;
  }
  state.pending.clear();
  slices_.push_back(slice);
  if (slices_.size() + stops_ > most_events_)
    thin();
}

void TraceRecorder::thin() {
  if (elapsed_s_ >= periods_seen_before_they_grow * period_s_)
    period_s_ *= 2;
  else
    kept_s_ /= 2;
  std::erase_if(slices_, [this](const TraceSlice& slice) { return not kept(slice.from_s); });
  for (auto way = ways_.begin(); way != ways_.end();) {
    auto& stops = way->second.stops;
    const auto gone = std::erase_if(stops, [this](const TraceStop& stop) { return not kept(stop.at_s); });
    stops_ -= gone;
    way = gone > 0 and stops.empty() ? ways_.erase(way) : std::next(way);
  }
}

void TraceRecorder::written(const engine::Process& by, const WalEntry& entry, Lsn end) {
  const auto writer = states_.find(&by);
  if (writer == states_.end())
    return;
  const double at_s = writer->second.last_from_s;
  if (not kept(at_s < 0 ? by.now() : at_s))
    return;
  const std::string& publisher = processes_[static_cast<std::size_t>(writer->second.index)].node;
  const int batch = static_cast<int>(batches_.size());
  if (const auto* rows = std::get_if<RowsWritten>(&entry.what)) {
    batches_.push_back({entry.top.value, rows->rows.count,
                        fmt::format("{} {}", verb(rows->statement->operation), rows->table->name)});
    by_rows_[{publisher, entry.top.value, rows->statement}][rows->rows.first] = batch;
  } else if (const auto* flow = std::get_if<FlowCommitted>(&entry.what)) {
    batches_.push_back({0, flow->transactions, flow->flow->name});
    by_lsn_[{publisher, end.value}] = batch;
  } else {
    return;
  }
  starts_.push_back({writer->second.index, at_s});
  for (auto slice = slices_.rbegin(); slice != slices_.rend() and slice->from_s >= at_s; ++slice)
    if (slice->process == writer->second.index)
      slice->batch = batch;
}

void TraceRecorder::note(const engine::Process& by, const SubscriptionRecord& record, Hop hop, int batch) {
  const auto state = states_.find(&by);
  const auto slot = slots_.find(&record);
  if (state == states_.end() or slot == slots_.end())
    return;
  const std::pair key{batch, slot->second.index};
  Way& way = ways_[key];
  if (static_cast<int>(hop) <= way.hop) // sent again after a reconnection
    return;
  way.hop = static_cast<int>(hop);
  state->second.pending.push_back({key, way.hop});
}

void TraceRecorder::moved(const engine::Process& by, const SubscriptionRecord& record, Hop hop, Xid top,
                          const std::vector<ChangeRun>& runs) {
  const auto slot = slots_.find(&record);
  if (slot == slots_.end())
    return;
  for (const auto& run : runs) {
    const auto known = by_rows_.find({slot->second.publisher, top.value, run.statement});
    if (known == by_rows_.end())
      continue;
    const auto end = known->second.lower_bound(run.rows.first + run.rows.count);
    for (auto at = known->second.lower_bound(run.rows.first); at != end; ++at)
      note(by, record, hop, at->second);
  }
}

void TraceRecorder::moved(const engine::Process& by, const SubscriptionRecord& record, Hop hop, Lsn end) {
  const auto slot = slots_.find(&record);
  if (slot == slots_.end())
    return;
  if (const auto known = by_lsn_.find({slot->second.publisher, end.value}); known != by_lsn_.end())
    note(by, record, hop, known->second);
}

std::vector<TraceFlow> TraceRecorder::flows() const {
  std::vector<TraceFlow> out;
  for (const auto& [key, way] : ways_) {
    TraceFlow flow{key.first, {}};
    if (const TraceStop& start = starts_[static_cast<std::size_t>(key.first)];
        start.at_s >= 0 and kept(start.at_s))
      flow.stops.push_back(start);
    // They were noted when slices ended; a process that had nothing to do at its stop noted it late.
    std::vector<TraceStop> stops = way.stops;
    std::stable_sort(stops.begin(), stops.end(),
                     [](const TraceStop& a, const TraceStop& b) { return a.hop < b.hop; });
    for (const TraceStop& stop : stops)
      if (flow.stops.empty() or stop.at_s >= flow.stops.back().at_s)
        flow.stops.push_back(stop);
    if (flow.stops.size() > 1)
      out.push_back(std::move(flow));
  }
  return out;
}

} // namespace replisim
