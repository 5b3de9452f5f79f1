// The cast of one run: builds hosts, links, servers and processes from a scenario and wires them up.
#pragma once

#include "models/replay_plan.hpp"
#include "sim/actors/apply_worker.hpp"
#include "sim/actors/consumer.hpp"
#include "sim/actors/ddl_session.hpp"
#include "sim/actors/dead_tuple_retention.hpp"
#include "sim/actors/outcome.hpp"
#include "sim/actors/publisher_clients.hpp"
#include "sim/actors/publisher_loads.hpp"
#include "sim/actors/resolution.hpp"
#include "sim/actors/server_locks.hpp"
#include "sim/actors/session_group.hpp"
#include "sim/actors/sql_decoding.hpp"
#include "sim/actors/subscriber_session.hpp"
#include "sim/actors/table_sync_worker.hpp"
#include "sim/actors/wal_writer.hpp"
#include "sim/actors/walsender.hpp"

#include <deque>
#include <memory>
#include <set>

namespace replisim {

/// A process together with what it is in PostgreSQL's terms.
struct Role {
  std::string node;  ///< server name
  std::string stage; ///< backend, walwriter, walsender, apply_worker, parallel_apply_worker, network, ...
  engine::Process* process = nullptr;
  bool makes_load = false; ///< clients in a closed loop: always at work, and no stage of the pipeline
  std::string slot;        ///< whose it is alone; empty when several share it
};

/// Everything of one publishing server.
struct PublisherSide {
  std::unique_ptr<WalLog> wal;
  std::unique_ptr<WalWriter> wal_writer;
  std::unique_ptr<BackgroundWriter> background_writer;
  std::unique_ptr<Checkpointer> checkpointer;
  std::unique_ptr<SyncReplication> sync;   ///< with synchronous_standby_names
  std::unique_ptr<PublisherLedger> ledger; ///< where tables are synchronised
  PublisherState state;
  RetentionRules rules;
  std::vector<std::unique_ptr<PublisherBackend>> backends;
  std::vector<std::unique_ptr<SessionGroup>> groups;
  std::vector<std::unique_ptr<DdlSession>> ddl;
  std::vector<std::unique_ptr<FlowClients>> flows;
  std::vector<std::unique_ptr<PublisherClients>> clients;
  std::vector<std::unique_ptr<OtherWalWriter>> others;
  std::vector<ReplicationConnection*> connections;
  std::vector<Slot*> sql_slots; ///< read through SQL
};

/// What the subscriptions of one server share.
struct SubscriberSide {
  std::unique_ptr<WalLog> own_wal; ///< unless it publishes as well
  std::unique_ptr<WalWriter> wal_writer;
  WalLog* wal = nullptr;
  WorkerSlots worker_slots{0};
  PreparedSlots prepared_slots;
  double down_until_s = 0; ///< the server is down before this date
  std::unique_ptr<ServerLocks> locks;
  std::unique_ptr<DeadVersions> dead; ///< where a subscription retains dead tuples
  std::vector<std::unique_ptr<SubscriberSession>> sessions;
};

/// Everything of one slot, both ends: a subscription or a consumer.
struct SlotSide {
  std::string publisher;
  std::string subscriber = {}; ///< of a subscription
  std::unique_ptr<Slot> slot;
  std::unique_ptr<ReplicationConnection> connection;
  std::unique_ptr<Decoder> decoder;
  WalLog::Reader* reader = nullptr;
  std::unique_ptr<Walsender> walsender;
  std::unique_ptr<ApplyCost> price; ///< of a subscription
  std::unique_ptr<SubscriberWal> local_wal;
  std::unique_ptr<HandedOn> handed_on; ///< of a subscription whose server's slots decode what it receives
  std::unique_ptr<ApplyErrors> errors;
  std::unique_ptr<PreparedTransactions> prepared;
  std::vector<std::unique_ptr<ParallelApplyWorker>> workers;
  std::unique_ptr<ApplyWorker> leader;           ///< of a subscription
  std::unique_ptr<ConsumerClient> consumer;      ///< of a consumer
  std::unique_ptr<DeadTupleRetention> retention; ///< with retain_dead_tuples
};

/// The table-sync workers of one subscription.
struct SyncSide {
  std::unique_ptr<InitialSync> sync;
  std::deque<TableCopy> copies;
  std::deque<SyncedTable> states;
  std::vector<TableSyncWorker::Table> tables;
  std::deque<TableSyncWorker> workers;
};

/// A slot that a session on the publisher reads through SQL.
struct SqlSlotSide {
  std::string publisher;
  std::unique_ptr<Slot> slot;
  std::unique_ptr<Decoder> decoder;
  std::unique_ptr<SqlDecoding> session;
};

/// How a server's settings and disk handle its WAL.
WalLog::Options wal_options(const Server& server);

class Pipeline {
public:
  Pipeline(const Scenario& scenario, std::uint64_t seed);

  /// Runs to the end of the observation: a date, or every transaction applied on every slot.
  void run();

  /// Tells `processes` and `batches` what happens; to be called before run().
  void watch(engine::Observer& processes, BatchObserver& batches);

  engine::World& world() { return world_; }
  const RunLog& log() const { return log_; }
  const std::vector<Role>& roles() const { return roles_; }
  const std::map<std::string, PublisherSide>& publishers() const { return publishers_; }
  const std::map<std::string, SlotSide>& slots() const { return slots_; }
  const std::map<std::string, SubscriberSide>& subscribers() const { return subscribers_; }
  const std::map<std::string, SlotSide>& sync_slots() const { return sync_slots_; }
  const std::map<std::string, SyncSide>& syncs() const { return syncs_; }
  const std::deque<SessionRecord>& sessions() const { return sessions_; }
  const std::map<std::string, SqlSlotSide>& sql_slots() const { return sql_slots_; }
  const std::vector<Outcome>& outcomes() const { return outcomes_; }
  const Resolution& resolution() const { return resolution_; }

private:
  void add_hosts();
  void add_publisher(const Server& server);
  void add_backend(const BatchLoad& load);
  void add_session(const std::string& server, const std::string& name, const BatchLoad* load,
                   ReplayTurns replay);
  void add_replay(const ReplayLoad& load);
  void add_flow(const FlowLoad& flow);
  void add_clients(const ClientLoad& load);
  Xid add_flow_record(const FlowLoad& flow, const std::string& server, bool of_clients);
  double commit_flush_s(const Server& server) const;
  void add_other_wal(const OtherWalLoad& load);
  void add_ddl(const DdlLoad& load);
  void add_decode(const DecodeCalls& calls);
  Decoder::Params decoding_of(const Server& publisher, bool streaming) const;
  void decoding_failed(const std::string& slot, const std::string& reason);
  void add_subscriber(const Server& server);
  void add_subscription(const Subscription& subscription);
  void add_parallel_workers(const Subscription& subscription, int count);
  void note_spooling(const std::string& name, const SubscriptionRecord& record);
  SubscriberSide& subscriber_side(const std::string& server);
  void add_sessions(const SessionLoad& load);
  void note_error(const Subscription& subscription, const SlotSide& side, const std::string& text);
  void report_to_standbys(const Subscription& subscription, const std::string& publisher);
  void add_consumer(const Consumer& consumer);
  void add_dead_versions(const std::string& server);
  void note_dead(const WalEntry& entry, DeadVersions& dead) const;
  DeadVersions* dead_versions_of(const std::string& server);
  void add_handed_on(const Subscription& subscription, SlotSide& side);
  void add_retention(const Subscription& subscription, SlotSide& side);
  std::uint64_t xids_assigned(const std::string& server) const;
  double oldest_open_s(const std::string& server) const;
  /// Who reads a slot.
  struct SlotClient {
    std::string name, publication, host;
    Streaming streaming = Streaming::Off;
    Bytes buffer_bytes = 0; ///< what it reads ahead, beyond the kernel's buffers
    bool binary = false;
    bool two_phase = false;
    bool own_changes_only = false;
    bool confirms_keepalives = true;
    double receiver_timeout_s = 0;
    bool synchronises = false; ///< of a table-sync worker
  };
  SlotClient client_of(const Subscription& subscription) const;
  SlotSide& add_slot(const SlotClient& client);
  void build_slot(const SlotClient& client, SlotSide& side, SubscriptionRecord& record);
  void add_initial_sync(const Subscription& subscription, ApplyWorker::Params& applying);
  void add_table_sync(const Subscription& subscription, SyncSide& syncing, const Table& table,
                      const ApplyWorker::Params& applying);
  void note_sync_failure(const std::string& subscription, const std::string& table, const std::string& why);
  // Events: pipeline_events.cpp.
  void add_events();
  void begin_event(const Event& event, std::size_t first_record);
  void end_event(const Event& event, std::size_t first_record);
  void turn(const Event& event, bool on);
  void take_down(const std::string& server, double until_s);
  void crash(const Event& event);
  void change_link(const Event& event, bool on);
  void change_setting(const Event& event);
  void take_cpu(const Event& event);
  void cut_over(const std::string& server);
  void watch_faults();
  void client_has_everything(const std::string& slot);
  void check_cut_overs();
  std::vector<std::string> slots_touched_by(const Event& event) const;
  std::vector<ReplicationConnection*> connections_between(const std::string& a, const std::string& b);
  void add_checkpointer(const std::string& server);
  void add_background(const BackgroundLoad& load);
  void spawn(const std::string& node, const std::string& stage, const std::string& name,
             const std::string& host, std::function<void(engine::Process&)> body);
  engine::StreamOptions connection(const std::string& name, const std::string& from_host,
                                   const std::string& to_host) const;
  void load_over(const std::string& server);
  void progressed();
  void check_disks(const std::string& server);
  void note_losses();

  const Scenario& scenario_;
  std::uint64_t seed_;
  CostParameters costs_;
  CostParameters costs_on_one_host_; ///< of walsenders whose client is beside them
  Resolution resolution_;
  engine::World world_;
  RunLog log_;
  std::map<std::string, engine::HostId> hosts_;
  std::set<std::string> throttled_; ///< hosts that have used up their CPU credits
  std::map<std::string, PublisherSide> publishers_;
  std::map<std::string, SubscriberSide> subscribers_;
  std::map<std::string, int> cut_links_, slowed_disks_; ///< how many events hold them now
  std::deque<SessionRecord> sessions_;                  ///< one entry of the scenario each
  std::map<std::string, SlotSide> slots_;
  std::map<std::string, SlotSide> sync_slots_; ///< of table-sync workers
  std::map<std::string, SyncSide> syncs_;      ///< by subscription
  std::map<std::string, SqlSlotSide> sql_slots_;
  std::vector<Role> roles_;
  std::vector<Outcome> outcomes_;
  std::deque<FlowLoad> replayed_; ///< small transactions of replays, in bulk; others hold pointers to them
};

/// What lies on a disk of a server's host at this moment: what was there before, WAL and spill files.
double disk_used_bytes(const Scenario& scenario, const Pipeline& pipeline, const std::string& server,
                       const std::string& disk);

} // namespace replisim
