// What an apply worker asks while tables of its subscription are being synchronised: whose changes are its
// own.
//
// Counterpart: worker.c (should_apply_changes_for_rel) and tablesync.c (process_syncing_tables).
#pragma once

#include "models/base/units.hpp"
#include "sim/engine/world.hpp"

#include <map>
#include <string>

namespace replisim {

class RelationStates {
public:
  virtual ~RelationStates() = default;

  /// Whether this worker applies changes of `table` in a transaction whose commit ends at `final`.
  virtual bool applies(const std::string& table, Lsn final) const = 0;
  /// Whether it applies those of all tables.
  virtual bool applies_all() const = 0;
  virtual bool parallel_allowed() const = 0;
  /// Between two transactions, everything up to `position` being received: may wait.
  virtual void look(engine::Process& process, Lsn position) = 0;
  /// The worker has done what it was started for.
  virtual bool retires() const = 0;
  /// The leader begins or ends to wait for input.
  virtual void set_idle(bool) {}

  /// Changes of the transaction in hand that it applied, or left to others. Counted at the commit.
  void applied(const std::string& table, Rows rows) { pending_[table].applied += rows; }
  void left_out(const std::string& table, Rows rows) { pending_[table].left_out += rows; }
  void committed();
  void rolled_back() { pending_.clear(); }
  Rows total_applied(const std::string& table) const { return total(table).applied; }
  Rows total_left_out(const std::string& table) const { return total(table).left_out; }

private:
  struct Counts {
    Rows applied = 0, left_out = 0;
  };
  Counts total(const std::string& table) const {
    const auto found = totals_.find(table);
    return found == totals_.end() ? Counts{} : found->second;
  }
  std::map<std::string, Counts> pending_, totals_;
};

inline void RelationStates::committed() {
  for (const auto& [table, counts] : pending_) {
    totals_[table].applied += counts.applied;
    totals_[table].left_out += counts.left_out;
  }
  pending_.clear();
}

} // namespace replisim
