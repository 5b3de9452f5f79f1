// COPY of one table from publisher to subscriber, both halves: the walsender that scans and sends, and what
// the table-sync worker receives and inserts.
//
// Counterpart: tablesync.c (copy_table), copyto.c, copyfrom.c. statement_timeout of the replication role
// holds for COPY as for any statement.
#pragma once

#include "models/initial_sync.hpp"
#include "sim/actors/subscriber_wal.hpp"
#include "sim/engine/stream.hpp"

#include <optional>

namespace replisim {

class TableCopy {
public:
  struct Params {
    CopyCost cost;
    double statement_timeout_s = 0; ///< 0: none
    double latency_s = 0;           ///< one way: the command's
  };
  TableCopy(engine::World& world, Params params, engine::StreamOptions stream);

  void cross_link(engine::HostId from, engine::HostId to) { stream_.cross_link(from, to); }

  /// The walsender's half: one COPY after the other.
  void serve(engine::Process& process);

  /// The worker's half: all `rows`, in one transaction that is not committed yet.
  struct Result {
    Rows rows = 0;            ///< inserted
    std::string failure = {}; ///< why it is not all of them
  };
  Result run(engine::Process& process, Rows rows, SubscriberWal& wal);
  /// The connection breaks.
  void cancel(const std::string& why);

private:
  struct CopyData {
    bool last = false;
  };

  engine::World& world_;
  Params params_;
  engine::Stream<CopyData> stream_;
  engine::Signal asked_;
  Rows asked_rows_ = -1; ///< negative: nothing is asked for
  std::int64_t copies_ = 0;
  std::string failure_;
};

} // namespace replisim
