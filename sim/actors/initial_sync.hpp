// The initial synchronisation of one subscription: which table is in which state, whose worker is launched
// when, and what the leader apply worker does meanwhile.
//
// Counterpart: tablesync.c (process_syncing_tables_for_apply, wait_for_relation_state_change).
#pragma once

#include "models/initial_sync.hpp"
#include "models/parallel_workers.hpp"
#include "sim/actors/publisher_ledger.hpp"
#include "sim/actors/relation_states.hpp"
#include "sim/actors/run_log.hpp"

#include <deque>
#include <functional>
#include <memory>

namespace replisim {

class Slot;

class InitialSync : public RelationStates {
public:
  struct Params {
    double created_s = 0; ///< CREATE SUBSCRIPTION
    bool copies = true;   ///< copy_data
    double latency_s = 0; ///< one way
    double retry_s = 5;   ///< wal_retrieve_retry_interval
    int limit = 2;        ///< max_sync_workers_per_subscription
    WorkerSlots* places = nullptr;
    std::function<void()> progressed; ///< a table is READY
  };
  /// One table; its worker writes, the leader reads.
  struct Entry {
    Entry(engine::World& world, const std::string& name) : woken(world, name) {}
    const Table* table = nullptr;
    TableSyncRecord* record = nullptr;
    SyncState state = SyncState::Init;
    bool copied = false; ///< its slot and its rows survive a worker that fails from here on
    bool worker = false; ///< one is at work
    Lsn consistent;      ///< start of its slot
    Lsn target;          ///< up to where its worker catches up
    Lsn done;            ///< SYNCDONE: the leader applies what is committed behind it
    Rows baseline = 0;   ///< changes committed before the subscription was created
    engine::Signal woken;
  };
  InitialSync(engine::World& world, Params params, const std::string& subscription, PublisherLedger& ledger);

  /// In order of the publication.
  Entry& add(const Table& table, TableSyncRecord& record);
  /// The leader's first act.
  void create(engine::Process& process, Slot& slot);
  bool created() const { return created_; }
  bool all_ready() const;
  const std::deque<Entry>& tables() const { return tables_; }

  // The leader's view.
  bool applies(const std::string& table, Lsn final) const override;
  bool applies_all() const override { return all_ready(); }
  bool parallel_allowed() const override { return all_ready(); }
  void look(engine::Process& process, Lsn position) override;
  bool retires() const override { return false; }
  void set_idle(bool idle) override;
  /// The leader is idle and has all up to `position`.
  void received(Lsn position);

  // The workers' view.
  /// Waits until a table is to be synchronised by worker `worker`.
  Entry& next_table(engine::Process& process, std::size_t worker);
  void add_worker(const std::string& name);
  PublisherLedger& ledger() { return ledger_; }
  double latency_s() const { return params_.latency_s; }
  /// The copy is done: waits for the leader, and returns when the target is set.
  void wait_for_leader(engine::Process& process, Entry& entry);
  /// The worker exits, with its table in SYNCDONE or to be tried again.
  void ended(Entry& entry);
  /// The subscriber is down: no worker is launched.
  void set_paused(bool paused);

private:
  struct Worker {
    Worker(engine::World& world, const std::string& name) : woken(world, name) {}
    engine::Signal woken;
    Entry* table = nullptr;
  };
  const Entry* find(const std::string& table) const;
  void launch();
  void launch_later(double date_s);
  bool catching_up() const;
  void signal_next();
  void note_ready();

  engine::World& world_;
  Params params_;
  PublisherLedger& ledger_;
  SyncLaunches launches_{0, 0, 0};
  std::deque<Entry> tables_;
  std::deque<Worker> workers_;
  engine::Signal leader_woken_;
  bool created_ = false;
  bool idle_ = false;
  bool paused_ = false;
  double timer_s_ = -1; ///< date of the next look, when one is set
  Lsn position_;        ///< of the leader
};

} // namespace replisim
