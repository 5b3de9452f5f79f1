// What travels from walsender to leader apply worker, and from the leader to a parallel apply worker.
// One struct per meaning; row messages travel as a batch.
#pragma once

#include "models/flow_shape.hpp"
#include "models/lag_anatomy.hpp"
#include "models/protocol.hpp"
#include "models/reorder_buffer.hpp"
#include "sim/actors/wal_log.hpp"
#include "sim/engine/stream.hpp"

#include <variant>
#include <vector>

namespace replisim {

/// Walsender -> leader (-> parallel worker): row messages of one transaction, with the Stream Start,
/// Stream Stop and Relation messages around them when it is streamed.
struct RowChanges {
  Xid top;
  bool streamed = false;
  std::vector<ChangeRun> runs; ///< in LSN order
  Rows rows = 0;
  Bytes body_bytes = 0;     ///< row message bodies, without the xid of streamed ones
  Bytes relation_bytes = 0; ///< bodies of Relation messages that precede
  int relations = 0;
  double chunks = 0; ///< streamed chunks this batch closes (a fraction while one is under way)
  Lsn final;         ///< end of the commit, where it is known: not of streamed ones
};

/// Walsender -> leader: a non-streamed transaction starts to be replayed.
struct BeginTransaction {
  Xid top;
};

/// Walsender -> leader (-> parallel worker): end of a transaction that is prepared there before it commits.
struct PrepareTransaction {
  Xid top;
  Lsn end; ///< of the PREPARE
  bool streamed = false;
};

/// Walsender -> leader: COMMIT PREPARED or ROLLBACK PREPARED.
struct FinishPrepared {
  Xid top;
  Lsn end;
  bool commits = true;
};

/// Walsender -> leader: end of a transaction, streamed or not.
struct CommitTransaction {
  Xid top;
  Lsn end;
  bool streamed = false;
};

/// Walsender -> leader (-> parallel worker): a streamed subtransaction was rolled back.
struct AbortSubtransaction {
  Xid top;
  Xid subxid;
};

/// Walsender -> leader: small transactions of a flow, each with its own Begin and Commit.
struct SmallTransactions {
  FlowCommitted flow;
  Xid top;       ///< under which the flow's rows are accounted for
  Rows rows = 0; ///< sent
  DeliveredShape shape;
  Lsn end;
  LagSpan lag = {};    ///< their way so far
  double opened_s = 0; ///< when the walsender began to send them
  /// What each waited for at the walsender besides others of the same flow, and until when at least.
  double read_wait_s = 0, read_not_before_s = 0;
};

/// Leader -> parallel worker, through a file: what found no room in the ring, in order.
struct SpooledChanges {
  Xid top;
  std::vector<std::variant<ChangeRun, AbortSubtransaction>> entries;
};

using ReplicationMessage =
    std::variant<RowChanges, BeginTransaction, PrepareTransaction, FinishPrepared, CommitTransaction,
                 AbortSubtransaction, SmallTransactions, SpooledChanges>;
using ReplicationStream = engine::Stream<ReplicationMessage>;

/// The top-level transaction (or flow) a message belongs to.
Xid top_of(const ReplicationMessage& message);

/// The rows [first_message, first_message + messages) of a batch, as runs.
std::vector<ChangeRun> part_of(const std::vector<ChangeRun>& runs, Rows first_message, Rows messages);

/// Row messages of `runs`: count, and sum of their bodies.
Rows rows_of(const std::vector<ChangeRun>& runs);
Bytes body_bytes_of(const std::vector<ChangeRun>& runs);

} // namespace replisim
