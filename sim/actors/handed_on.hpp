// Changes that a server has received and hands on: what the workers of one subscription write into their
// server's WAL, as its own walsenders decode it.
//
// Counterpart: worker.c (begin_remote_step, apply_handle_*: ordinary heap records in a local transaction) and
// origin.c (replorigin_session_origin: each of them carries the origin, by which subscriptions with
// origin = none leave it out).
#pragma once

#include "sim/actors/publisher_backend.hpp"
#include "sim/actors/replication_messages.hpp"
#include "sim/actors/run_log.hpp"

#include <deque>
#include <functional>
#include <map>
#include <string>

namespace replisim {

class HandedOn {
public:
  struct Params {
    std::string from, server; ///< who sends it, who hands it on
    std::string subscription; ///< whose workers write it
    const std::map<std::string, Table>* tables = nullptr;
    /// A record for all transactions of a flow, and its place in the deliveries of every slot of `server`.
    std::function<Xid(const FlowLoad&)> add_flow_record;
  };
  HandedOn(engine::World& world, Params params, WalLog& wal, PublisherState& state, RunLog& log)
      : world_(world), params_(std::move(params)), wal_(wal), state_(state), log_(log) {}

  /// Rows of the remote transaction `top` have been applied, which wrote `bytes`.
  /// `savepoints`: by a parallel apply worker, which begins a subtransaction for each remote one.
  void rows(Xid top, const std::vector<ChangeRun>& runs, Bytes bytes, bool savepoints);
  /// A worker has rolled back a subtransaction, or, with its own id, the whole transaction.
  void undone(const AbortSubtransaction& abort);
  /// Its local commit.
  void committed(Xid top);
  /// The workers exit: what they have not committed is rolled back.
  void rolled_back();
  /// Small transactions, applied from `begun_s` to now.
  void flow(const SmallTransactions& batch, double begun_s, Bytes bytes);

private:
  struct Local {
    Xid xid;
    std::size_t index = 0; ///< of its record
    std::map<Xid, Xid> subtransactions;
    std::map<Xid, Rows> rows; ///< by remote (sub)transaction
  };
  struct Flow {
    FlowLoad load; ///< as far as it arrives here
    Xid xid;
    std::size_t index = 0; ///< of its record
  };
  const TransactionRecord* made_as(Xid top) const;
  Local& local_of(Xid top);
  void append(Bytes bytes, WalEntry entry, TransactionRecord& record);
  void roll_back(Local& local);
  Flow& flow_of(const SmallTransactions& batch);

  engine::World& world_;
  Params params_;
  WalLog& wal_;
  PublisherState& state_;
  RunLog& log_;
  std::map<Xid, Local> open_;
  std::deque<Flow> own_flows_;
  std::map<const FlowLoad*, Flow*> flows_; ///< looked up, never iterated over
};

} // namespace replisim
