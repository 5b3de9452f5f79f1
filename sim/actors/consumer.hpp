// A change-data-capture client at the other end of a slot: reads at its own pace, confirms by its own
// rule, and comes back when the connection breaks.
#pragma once

#include "sim/actors/flow_clock.hpp"
#include "sim/actors/replication_connection.hpp"
#include "sim/actors/run_log.hpp"
#include "sim/scenario/scenario.hpp"

namespace replisim {

class ConsumerClient {
public:
  /// `progressed` is called when the client has taken another commit.
  ConsumerClient(engine::World& world, const Consumer& params, ReplicationConnection& connection,
                 SubscriptionRecord& record, std::function<void()> progressed);
  void run(engine::Process& process);

private:
  using Part = ReplicationStream::Part;
  void wait_for_next_connection(engine::Process& process);
  void leave_when_drained();
  void drain(engine::Process& process);
  void take(engine::Process& process, const Part& part);
  void committed(Lsn end);
  double confirmed_s(double taken_s) const;
  void confirm_by_interval(double now_s);

  engine::World& world_;
  const Consumer& params_;
  ReplicationConnection& connection_;
  SubscriptionRecord& record_;
  std::function<void()> progressed_;
  FlowClock flow_clock_;
  std::map<Xid, Rows> taken_rows_; ///< of (sub)transactions in hand
  Lsn taken_;                      ///< last commit taken
  std::int64_t visits_ = 0;        ///< of one that connects by a timetable
};

} // namespace replisim
