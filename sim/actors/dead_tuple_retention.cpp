#include "sim/actors/dead_tuple_retention.hpp"

#include <algorithm>

namespace replisim {

namespace {
constexpr double shortest_interval_s = 0.1; // MIN_XID_ADVANCE_INTERVAL
constexpr double longest_interval_s = 180;  // MAX_XID_ADVANCE_INTERVAL
} // namespace

DeadTupleRetention::DeadTupleRetention(engine::World& world, Params params, ReplicationConnection& connection,
                                       const SubscriptionRecord& record)
    : params_(params), connection_(connection), record_(record), answered_(world, "publisher's status") {}

Lsn DeadTupleRetention::ask_publisher(engine::Process& process) {
  waiting_ = true;
  connection_.request_status([this](Lsn flushed) {
    answer_ = flushed;
    waiting_ = false;
    answered_.notify();
  });
  while (waiting_)
    process.wait(answered_, engine::Activity::Starved);
  return answer_;
}

void DeadTupleRetention::run(engine::Process& process) {
  process.set_housekeeping();
  const double cap_s = params_.status_interval_s > 0 ? params_.status_interval_s : longest_interval_s;
  double interval_s = shortest_interval_s;
  Lsn seen = record_.replay_lsn;
  while (true) {
    process.sleep(interval_s, engine::Activity::Starved);
    if (record_.replay_lsn == seen) { // no new transaction id here
      interval_s = std::min(2 * interval_s, std::max(cap_s, shortest_interval_s));
      continue;
    }
    interval_s = shortest_interval_s;
    seen = record_.replay_lsn;
    Lsn needed = ask_publisher(process);
    if (params_.commits_under_way)
      needed = ask_publisher(process);
    while (connection_.slot().confirmed_flush_lsn() < needed)
      process.sleep(params_.flush_poll_s, engine::Activity::Starved);
    process.cpu(params_.costs->slot_update_s);
    process.sleep(params_.slot_flush_s);
    ++slot_updates_;
  }
}

} // namespace replisim
