// Dead row versions of a subscriber that retains them for conflict detection (retain_dead_tuples): how many
// there are, and what they make look-ups and updates cost.
//
// Counterpart: heapam_visibility.c and vacuumlazy.c (a version that a transaction from the horizon on has
// deleted is RECENTLY_DEAD: neither pruning nor vacuum removes it, and an index scan passes it),
// heapam.c (heap_update: without room on the page the new version goes elsewhere, with an entry in every
// index), procarray.c (the xmin of slot pg_conflict_detection holds the horizon).
//
// Dead versions behind the horizon count as gone: pruning takes them when their page is next updated, and
// index scans mark their entries as killed.
#pragma once

#include "models/cost_profile.hpp"
#include "models/table.hpp"

#include <deque>
#include <map>
#include <string>

namespace replisim {

class DeadVersions {
public:
  DeadVersions(const CostParameters& costs, const std::map<std::string, Table>& tables)
      : costs_(&costs), tables_(&tables) {}
  /// Processes that update at the same time, each filling pages of its own (hio.c,
  /// RelationGetBufferForTuple).
  void add_writers(int count) { writers_ += count; }

  /// Subscription `holder` needs what died after `horizon_s`. The oldest horizon of all holders counts.
  void hold(const std::string& holder, double horizon_s, double now_s);
  /// It needs nothing any more.
  void release(const std::string& holder, double now_s);

  /// `rows` versions of a table died at `now_s`, by updates or by deletes.
  void died(const std::string& table, double rows, bool updated, double now_s);

  /// n_dead_tup: dead versions that must stay.
  double retained(const std::string& table) const;
  double retained() const;
  /// Dead versions of one row that a look-up of it passes, in the mean over the table's rows.
  double per_row(const std::string& table) const;
  /// Share of the updates that would have stayed on their page and cannot: the room that pruning would have
  /// made there is taken. A page that gave room to a row has none with probability exp(-retained / pages)
  /// less than one; but a row on a page that some writer is filling just now stays there.
  double lost_hot(const std::string& table) const;

  /// CPU that one row costs more: in a backend, and in an apply worker.
  double backend_seconds(const std::string& table, Operation operation) const;
  double apply_seconds(const Table& table, Operation operation) const;
  /// The same for a look-up of one row.
  double look_up_seconds(const std::string& table) const { return per_row(table) * costs_->dead_version_s; }

  struct Sums {
    double most = 0, integral = 0; ///< of retained: at once, and over the time (versions times s)
    double most_per_row = 0;
    double updates = 0, moved = 0; ///< rows updated; of which lost their page
    double since_s = 0;            ///< `integral` goes up to here
  };
  std::map<std::string, Sums> sums(double now_s) const;
  /// The longest time for which something dead had to stay.
  double longest_s(double now_s) const;

private:
  struct Batch {
    double died_s = 0;
    double sum = 0; ///< of all versions that died up to then
  };
  struct Deaths {
    std::deque<Batch> batches; ///< not yet behind the horizon
    double all = 0;            ///< since the start
    double gone = 0;           ///< behind the horizon
    Sums sums;
  };
  bool held() const { return not horizons_.empty(); }
  double horizon_s() const;
  static void integrate(Deaths& deaths, double now_s);
  void advance(double now_s);
  const Table& table_of(const std::string& name) const { return tables_->at(name); }

  const CostParameters* costs_;
  const std::map<std::string, Table>* tables_;
  int writers_ = 0;
  std::map<std::string, double> horizons_; ///< by holder
  std::map<std::string, Deaths> deaths_;   ///< by table
  double longest_s_ = 0;
};

} // namespace replisim
