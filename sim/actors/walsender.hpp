// The walsender: reads flushed WAL entry by entry, drives the decoder, and sends what it yields.
//
// Counterpart: walsender.c (WalSndLoop, XLogSendLogical, WalSndWriteData) and pgoutput.c. One thread:
// reading, decoding, spilling, restoring, filtering and sending add up, and a full socket stops
// the reading of WAL.
#pragma once

#include "models/flow_shape.hpp"
#include "models/flow_station.hpp"
#include "models/wakeups.hpp"
#include "sim/actors/decoder.hpp"
#include "sim/actors/publishing.hpp"
#include "sim/actors/replication_connection.hpp"
#include "sim/actors/replication_messages.hpp"
#include "sim/actors/run_log.hpp"
#include "sim/scenario/scenario.hpp"

#include <deque>
#include <set>
#include <utility>

namespace replisim {

class Walsender {
public:
  struct Params {
    const CostParameters* costs = nullptr;
    Streaming streaming = Streaming::Off;
    Rows batch_rows = 1; ///< rows per piece where nothing in the mechanism is larger
    const Publication* publication = nullptr;
    bool own_changes_only = false; ///< origin = none
    /// Calls a function some seconds later; needed where transactions may have nothing for the client.
    std::function<void(double, std::function<void()>)> later = {};
    const std::map<std::string, Table>* tables = nullptr;
    bool binary = false;              ///< subscription option
    Bytes message_overhead_bytes = 0; ///< that a message takes of the window besides its bytes
    Bytes window_bytes = 0; ///< of a connection with latency: what is on the way may not be more, by much
    VersionTraits traits;
    std::function<void()> progressed; ///< called when the client has everything there is
    std::function<void()> spilled;    ///< called when spill files have grown
    /// Called with the reason when decoding cannot go on: the walsender ends, and would end again.
    std::function<void(const std::string&)> failed = {};
    double wakeup_latency_s = 0; ///< from a WAL flush until an idle walsender runs
  };
  Walsender(Params params, Decoder& decoder, WalLog::Reader& wal, ReplicationConnection& connection,
            SubscriptionRecord& record);
  /// One connection after the other.
  void run(engine::Process& process);

private:
  void serve(engine::Process& process);
  void start_session();
  void answer_status_requests(engine::Process& process);
  static void leave_out(WalEntry& entry);
  void settle_skipped(engine::Process& process);
  void count(const WalEntry& entry, const Decoder::Result& decoded);
  void perform(engine::Process& process, DecodeStep& step);
  bool concerns_nobody(const WalEntry& entry);
  void work(engine::Process& process, double seconds);
  void settle(engine::Process& process);
  const DeliveredShape& shape_of(const FlowLoad& flow);
  void restore(engine::Process& process, double changes);
  void send_work(engine::Process& process, double seconds);
  void send_flow(engine::Process& process, const DecodeStep& step);
  void send_chunk(engine::Process& process, DecodeStep& step);
  void replay(engine::Process& process, DecodeStep& step);
  void send_runs(engine::Process& process, const std::vector<ChangeRun>& runs, DecodeStep& step,
                 double chunks, std::int64_t bursts);
  Rows rows_with_room(const std::vector<ChangeRun>& runs, bool streamed) const;
  void send_rows(engine::Process& process, RowChanges batch, std::int64_t bursts);
  void send_end(engine::Process& process, const DecodeStep& step, bool streamed);
  void send_control(engine::Process& process, Xid top, ReplicationMessage message, Bytes body_bytes);
  void lag_of(const engine::Process& process, const DecodeStep& step, FlowStation::Batch& batch,
              SmallTransactions& message);
  void spent(const engine::Process& process, Xid top, LagStage stage);
  void blocked(const engine::Process& process, Xid top);
  void wait_to_be_read(LagPath& path, Xid top) const;
  void close(engine::Process& process, engine::StreamCore::Ticket ticket);
  std::vector<ChangeRun> publish(engine::Process& process, const std::vector<ChangeRun>& runs, Xid top);
  RowChanges batch_of(std::vector<ChangeRun> runs, DecodeStep& step, bool streamed);
  Bytes announce_again(const DecodeStep& step);
  double send_seconds(const RowChanges& batch) const;

  Params params_;
  Decoder& decoder_;
  WalLog::Reader& wal_;
  ReplicationConnection& connection_;
  ReplicationStream& out_;
  SubscriptionRecord& record_;
  PublicationFilter filter_;
  std::map<const FlowLoad*, DeliveredShape> shapes_;
  std::map<const FlowLoad*, double> flow_remainders_;
  WakeUps wakeups_;
  bool skipped_ =
      false; ///< transactions of which nothing was sent, and the client not yet known to be past them
  double read_cpu_s_ = 0; ///< reading and decoding of the entry in hand
  FlowStation flow_station_;
  bool passes_by_ = false;                        ///< the WAL in hand concerns nobody
  double owed_s_ = 0;                             ///< CPU for such WAL, still to be spent
  std::deque<std::pair<double, double>> blocked_; ///< from, to: the last stretches without room in the socket
  double read_s_ = 0;                             ///< when the WAL entry in hand was read
  double bracket_bytes_ = 0;                      ///< of Stream Start and Stop messages, not yet whole ones
  std::set<const Table*> announced_;              ///< Relation message sent in this session
  std::set<std::pair<Xid, const Table*>> announced_in_; ///< ... within a streamed transaction
};

} // namespace replisim
