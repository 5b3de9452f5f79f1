// The cast of one run: builds hosts, links, servers and processes from a scenario and wires them up.
#pragma once

#include "sim/actors/apply_worker.hpp"
#include "sim/actors/publisher_backend.hpp"
#include "sim/actors/wal_writer.hpp"
#include "sim/actors/walsender.hpp"

#include <memory>

namespace replisim {

/// The costs of a profile as they apply: CPU costs divided by its cpu_speed, latencies as they are.
CostParameters effective_costs(const CostProfile& profile);

/// Rows per batch: the share of all rows that the scenario's time resolution is of the estimated time
/// the rows take (automatic: a fixed fraction of it), at least 1. `resolution_s` receives the
/// resolution used.
Rows batch_rows(const Scenario& scenario, const CostParameters& costs, double& resolution_s);

/// A process together with what it is in PostgreSQL's terms.
struct Role {
  std::string node;  ///< server name
  std::string stage; ///< backend, walwriter, walsender, apply_worker, parallel_apply_worker, network
  engine::Process* process = nullptr;
};

/// Everything of one publishing server.
struct PublisherSide {
  std::unique_ptr<WalLog> wal;
  std::unique_ptr<WalWriter> wal_writer;
  TransactionStatus status;
  XidSource xids;
  std::map<std::string, Rows> next_row;
  std::vector<std::unique_ptr<PublisherBackend>> backends;
};

/// Everything of one subscription, both ends.
struct SubscriptionSide {
  std::unique_ptr<Decoder> decoder;
  std::unique_ptr<ReplicationStream> stream;
  std::unique_ptr<Walsender> walsender;
  std::vector<std::unique_ptr<ParallelApplyWorker>> workers;
  std::unique_ptr<ApplyWorker> leader;
};

class Pipeline {
public:
  explicit Pipeline(const Scenario& scenario);

  /// Runs until every transaction has been applied on every subscription.
  void run();

  engine::World& world() { return world_; }
  const RunLog& log() const { return log_; }
  const std::vector<Role>& roles() const { return roles_; }
  const std::map<std::string, PublisherSide>& publishers() const { return publishers_; }
  const std::map<std::string, SubscriptionSide>& subscriptions() const { return subscriptions_; }
  double resolution_s() const { return resolution_s_; }
  Rows rows_per_batch() const { return batch_rows_; }

private:
  void add_hosts();
  void add_publisher(const Server& server);
  void add_backend(const BatchLoad& load, std::size_t index);
  void add_subscription(const Subscription& subscription);
  void add_background(const BackgroundLoad& load);
  void spawn(const std::string& node, const std::string& stage, const std::string& name,
             const std::string& host, std::function<void(engine::Process&)> body);
  engine::StreamOptions connection(const std::string& name, const std::string& from_host,
                                   const std::string& to_host) const;
  void delivered();

  const Scenario& scenario_;
  CostParameters costs_;
  double resolution_s_ = 0;
  Rows batch_rows_ = 1;
  engine::World world_;
  RunLog log_;
  std::map<std::string, engine::HostId> hosts_;
  std::map<std::string, PublisherSide> publishers_;
  std::map<std::string, SubscriptionSide> subscriptions_;
  std::vector<Role> roles_;
  std::size_t deliveries_left_ = 0;
};

} // namespace replisim
