// What a run says: the metrics of the vocabulary, stages, transactions, timeline, manifest.
#pragma once

#include "models/analytic.hpp"
#include "models/lag_anatomy.hpp"
#include "sim/actors/outcome.hpp"
#include "sim/run/run_statistics.hpp"
#include "sim/run/upheaval.hpp"
#include "sim/scenario/scenario.hpp"

#include <array>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace replisim {

/// Share of the run a stage was working, waiting for input, waiting for output; they add up to 1.
struct StageShares {
  double busy = 0;
  double starved = 0;
  double blocked = 0;
};

/// A transaction on its way through one slot; times since the start of the run, -1: it never came to that.
struct DeliveryTimes {
  double read_s = -1, sent_s = -1, sent_to_s = -1, received_s = -1, first_lock_s = -1, applied_s = -1;
  int worker = -1; ///< parallel apply worker that applied it; -1: the leader, or the client
};

struct TransactionResult {
  std::string name; ///< workload entry
  std::uint32_t xid = 0;
  Rows rows = 0; ///< changed rows, rolled back ones included
  Rows rows_applied = 0;
  double begin_s = 0; ///< all times since the start of the run
  double statement_end_s = 0;
  double commit_s = 0;
  double applied_s = 0;
  double lock_hold_s = 0;
  std::map<std::string, LagParts> lag_anatomy;     ///< by slot that has applied it
  std::map<std::string, DeliveryTimes> deliveries; ///< by slot that read it
};

/// A delay over many transactions.
struct DelaySummary {
  double mean_s = 0, p50_s = 0, p95_s = 0, p99_s = 0;
};

/// Where the lag of a slot's transactions went.
struct LagSummary {
  std::int64_t transactions = 0;
  DelaySummary lag;                              ///< commit record to commit applied
  std::array<DelaySummary, lag_stages> stages{}; ///< in order of LagStage
};

/// How a slot stands, and which stage of its pipeline that is due to.
struct Verdict {
  std::string text;  ///< all of it, in words
  std::string state; ///< keeping up, caught up in the end, behind but catching up, falling behind, lost, ...
  std::string stage; ///< to blame, or nearest to it; empty where none is to speak of
  std::string activity;                  ///< of the walsender or the network: what it was busy with
  double busy = 0;                       ///< its share of the time behind, or of the run
  std::string next_stage, next_activity; ///< the one after it
  double next_busy = 0;
};

/// What the clients of one load got through, and where the time of a transaction went.
struct ClientResult {
  std::string name; ///< workload entry
  int clients = 0;
  double transactions = 0;
  double tps = 0;
  std::map<std::string, double> latency_s; ///< from BEGIN to COMMIT's return: mean, p50, p95, p99, max
  /// Parts of the mean time of a client per transaction, without a gap: clients / tps.
  std::map<std::string, double> budget_s;
  double commits_per_flush = 0; ///< group commit
  std::string budget;           ///< the same as one line
};

/// Columns of equal length; the first is t_s.
struct Timeline {
  std::vector<std::string> columns;
  std::vector<std::vector<double>> rows;
};

using Metrics = std::map<std::string, double>;

/// The outcome of one simulation: plain data, equal inputs give equal contents.
struct RunResult {
  std::string scenario;
  std::string scenario_hash;
  std::string version; ///< of replisim
  std::uint64_t seed = 1;
  Metrics metrics;
  std::map<std::string, Metrics> subscriptions;
  std::map<std::string, LagSummary> lag_anatomies; ///< by slot that has applied something
  std::map<std::string, Metrics> sessions;         ///< of subscribers, by name
  std::map<std::string, StageShares> stages;
  std::string bottleneck;                      ///< key of `stages`
  std::string bottleneck_reason;               ///< one sentence
  std::vector<TransactionResult> transactions; ///< the first 1,000
  std::vector<ClientResult> clients;           ///< by load of clients
  RunStatistics statistics;
  AnalyticAnswer analytic; ///< the same by the laws of queueing theory
  std::vector<std::string> warnings;
  std::vector<Guess> guesses;
  std::map<std::string, Verdict> verdicts; ///< by slot
  std::vector<Outcome> outcomes; ///< slots lost, disks full, connections timed out, in order of time
  Upheaval upheaval;             ///< initial synchronisations and faults
  Timeline timeline;
  std::uint64_t fingerprint = 0; ///< hash over all simulated events, in order
  std::uint64_t events = 0;      ///< number of hashed events
  // Manifest only (never in result.json):
  double simulated_s = 0;
  double wall_s = 0;
  std::map<std::string, std::string> engine_options;
};

} // namespace replisim
