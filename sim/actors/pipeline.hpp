// The cast of one run: builds hosts, links, servers and processes from a scenario and wires them up.
#pragma once

#include "sim/actors/apply_worker.hpp"
#include "sim/actors/consumer.hpp"
#include "sim/actors/outcome.hpp"
#include "sim/actors/publisher_loads.hpp"
#include "sim/actors/wal_writer.hpp"
#include "sim/actors/walsender.hpp"

#include <memory>

namespace replisim {

/// The costs of a profile as they apply: CPU costs divided by its cpu_speed, latencies as they are.
CostParameters effective_costs(const CostProfile& profile);

/// How finely a run is resolved.
struct Resolution {
  double time_s = 0;   ///< as stated, or a fixed fraction of the estimated time of all rows
  Rows batch_rows = 1; ///< rows of one statement worked off at once
  double tick_s = 0;   ///< distance at which flows of small transactions are gathered
};
Resolution resolution_of(const Scenario& scenario, const CostParameters& costs);

/// A process together with what it is in PostgreSQL's terms.
struct Role {
  std::string node;  ///< server name
  std::string stage; ///< backend, walwriter, walsender, apply_worker, parallel_apply_worker, network, ...
  engine::Process* process = nullptr;
};

/// Everything of one publishing server.
struct PublisherSide {
  std::unique_ptr<WalLog> wal;
  std::unique_ptr<WalWriter> wal_writer;
  std::unique_ptr<BackgroundWriter> background_writer;
  std::unique_ptr<Checkpointer> checkpointer;
  PublisherState state;
  RetentionRules rules;
  std::vector<std::unique_ptr<PublisherBackend>> backends;
  std::vector<std::unique_ptr<FlowClients>> flows;
  std::vector<std::unique_ptr<OtherWalWriter>> others;
  std::vector<ReplicationConnection*> connections;
};

/// Everything of one slot, both ends: a subscription or a consumer.
struct SlotSide {
  std::string publisher;
  std::unique_ptr<Slot> slot;
  std::unique_ptr<ReplicationConnection> connection;
  std::unique_ptr<Decoder> decoder;
  std::unique_ptr<Walsender> walsender;
  std::vector<std::unique_ptr<ParallelApplyWorker>> workers;
  std::unique_ptr<ApplyWorker> leader;      ///< of a subscription
  std::unique_ptr<ConsumerClient> consumer; ///< of a consumer
};

class Pipeline {
public:
  Pipeline(const Scenario& scenario, std::uint64_t seed);

  /// Runs to the end of the observation: a date, or every transaction applied on every slot.
  void run();

  engine::World& world() { return world_; }
  const RunLog& log() const { return log_; }
  const std::vector<Role>& roles() const { return roles_; }
  const std::map<std::string, PublisherSide>& publishers() const { return publishers_; }
  const std::map<std::string, SlotSide>& slots() const { return slots_; }
  const std::vector<Outcome>& outcomes() const { return outcomes_; }
  const Resolution& resolution() const { return resolution_; }

private:
  void add_hosts();
  void add_publisher(const Server& server);
  void add_backend(const BatchLoad& load);
  void add_flow(const FlowLoad& flow);
  void add_other_wal(const OtherWalLoad& load);
  void add_subscription(const Subscription& subscription);
  void add_consumer(const Consumer& consumer);
  SlotSide& add_slot(const std::string& name, const Publication& publication, Streaming streaming,
                     const std::string& client_host, Bytes client_buffer_bytes, bool confirms_keepalives,
                     double receiver_timeout_s);
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
  Resolution resolution_;
  engine::World world_;
  RunLog log_;
  std::map<std::string, engine::HostId> hosts_;
  std::map<std::string, PublisherSide> publishers_;
  std::map<std::string, SlotSide> slots_;
  std::vector<Role> roles_;
  std::vector<Outcome> outcomes_;
};

/// What lies on a disk of a server's host at this moment: what was there before, WAL and spill files.
double disk_used_bytes(const Scenario& scenario, const Pipeline& pipeline, const std::string& server,
                       const std::string& disk);

} // namespace replisim
