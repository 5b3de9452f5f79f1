// The walsender: reads flushed WAL entry by entry, drives the decoder, and sends what it yields.
//
// Counterpart: walsender.c (WalSndLoop, XLogSendLogical, WalSndWriteData) and pgoutput.c. One thread:
// reading, decoding, spilling, restoring, filtering and sending add up, and a full socket stops
// the reading of WAL.
#pragma once

#include "models/flow_shape.hpp"
#include "sim/actors/decoder.hpp"
#include "sim/actors/replication_connection.hpp"
#include "sim/actors/replication_messages.hpp"
#include "sim/actors/run_log.hpp"
#include "sim/scenario/scenario.hpp"

#include <set>

namespace replisim {

class Walsender {
public:
  struct Params {
    const CostParameters* costs = nullptr;
    Streaming streaming = Streaming::Off;
    Rows batch_rows = 1; ///< rows per piece where nothing in the mechanism is larger
    const Publication* publication = nullptr;
    const std::map<std::string, Table>* tables = nullptr;
    VersionTraits traits;
    std::function<void()> progressed; ///< called when the client has everything there is
    std::function<void()> spilled;    ///< called when spill files have grown
    double wakeup_latency_s = 0;      ///< from a WAL flush until an idle walsender runs
  };
  Walsender(Params params, Decoder& decoder, WalLog::Reader& wal, ReplicationConnection& connection,
            SubscriptionRecord& record);
  /// One connection after the other.
  void run(engine::Process& process);

private:
  void serve(engine::Process& process);
  void start_session();
  void count(const WalEntry& entry, const Decoder::Result& decoded);
  void perform(engine::Process& process, DecodeStep& step);
  void send_flow(engine::Process& process, const DecodeStep& step);
  void send_chunk(engine::Process& process, const DecodeStep& step);
  void replay(engine::Process& process, const DecodeStep& step);
  void send_rows(engine::Process& process, RowChanges batch, std::int64_t bursts);
  void send_commit(engine::Process& process, CommitTransaction commit, Bytes body_bytes);
  void send_control(engine::Process& process, ReplicationMessage message, Bytes body_bytes);
  std::vector<ChangeRun> publish(engine::Process& process, const std::vector<ChangeRun>& runs, Xid top);
  Publishing publishing_of(const std::string& table) const;
  RowChanges batch_of(std::vector<ChangeRun> runs, Xid top, bool streamed);
  double send_seconds(const RowChanges& batch) const;

  Params params_;
  Decoder& decoder_;
  WalLog::Reader& wal_;
  ReplicationConnection& connection_;
  ReplicationStream& out_;
  SubscriptionRecord& record_;
  std::map<std::string, double> filter_remainders_; ///< rows a row filter passes, not yet whole ones
  std::map<const FlowLoad*, DeliveredShape> shapes_;
  std::map<const FlowLoad*, double> flow_remainders_;
  double bracket_bytes_ = 0;         ///< of Stream Start and Stop messages, not yet whole ones
  std::set<const Table*> announced_; ///< Relation message sent in this session
  std::set<std::pair<Xid, const Table*>> announced_in_; ///< ... within a streamed transaction
};

} // namespace replisim
