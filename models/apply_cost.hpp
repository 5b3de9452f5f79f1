// What applying row changes costs a worker: worker.c (apply_handle_insert, _update, _delete) and
// execReplication.c (RelationFindReplTupleByIndex, RelationFindReplTupleSeq, ExecSimpleRelation*).
#pragma once

#include "models/cost_profile.hpp"
#include "models/dead_versions.hpp"
#include "models/page_cache.hpp"
#include "models/reorder_buffer.hpp"

#include <map>
#include <string>

namespace replisim {

/// A piece of work: time on the CPU (reference core), time of waiting for pages from the device, and WAL.
struct ApplyTime {
  double cpu_s = 0;
  double read_s = 0;
  double wal_bytes = 0; ///< page images not counted
  ApplyTime& operator+=(const ApplyTime& other);
};
ApplyTime operator*(double times, const ApplyTime& time);

/// How rows follow each other: in the order of the table, or picked at random.
enum class RowOrder { Table, Random };

/// The prices on one subscriber.
class ApplyCost {
public:
  struct Options {
    /// PG16: with REPLICA IDENTITY FULL a usable index finds the row (replication/logical/relation.c,
    /// FindUsableIndexForReplicaIdentityFull); before, and without one, the table is scanned for each row.
    bool full_identity_uses_index = true;
    std::map<std::string, TableResidence> residence; ///< by table name; what is not there is cached
    double read_latency_s = 0;                       ///< of the device, for one page
    double read_bandwidth_bytes_per_s = 0;           ///< 0: no bound
    DeadVersions* dead = nullptr;                    ///< retained on this subscriber; null: none
  };
  explicit ApplyCost(const CostParameters& costs) : ApplyCost(costs, Options()) {}
  ApplyCost(const CostParameters& costs, Options options) : costs_(&costs), options_(std::move(options)) {}

  const CostParameters& costs() const { return *costs_; }

  /// One row: overhead, lookup, heap, indexes, triggers and foreign keys that fire on a subscriber.
  ApplyTime row(const Table& table, Operation operation, RowOrder order) const;
  /// Rows of batches, in order.
  ApplyTime rows(const std::vector<ChangeRun>& runs) const;

  /// Rows have been applied: their old versions are dead.
  void applied(const std::vector<ChangeRun>& runs, double now_s) const;
  void applied(const Table& table, Operation operation, double rows, double now_s) const;
  /// Prices change while the run goes on.
  bool changes() const { return options_.dead != nullptr; }

  /// Whether an UPDATE or DELETE scans the table for its row.
  bool scans(const Table& table) const;

private:
  double cpu_seconds(const Table& table, Operation operation) const;
  double read_seconds(const Table& table, Operation operation, RowOrder order) const;
  double wal_bytes(const Table& table, Operation operation) const;

  mutable std::map<std::pair<const Table*, Operation>, double> wal_bytes_; ///< looked up, never iterated over
  const CostParameters* costs_;
  Options options_;
};

/// Part of an insert, an update and a delete alike; never more than an insert or a delete as a whole.
double shared_row_seconds(const CostParameters& costs);
/// An update with its primary-key entry: it deletes one version and inserts another, and does some more
/// unless the new one stays on the page (`hot`, a share of the updates).
double apply_update_seconds(const CostParameters& costs, double hot = 0);

} // namespace replisim
