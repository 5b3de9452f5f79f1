#include "sim/observe/retention_metrics.hpp"

#include <algorithm>

namespace replisim {

namespace {

DeadTuples dead_tuples(const std::string& table, const DeadVersions& dead, const DeadVersions::Sums& sums,
                       double end_s) {
  DeadTuples out;
  out.table = table;
  out.n_dead_tup = dead.retained(table);
  out.most_dead_tup = sums.most;
  out.mean_dead_tup = end_s > 0 ? sums.integral / end_s : 0;
  out.most_per_row = sums.most_per_row;
  out.n_tup_upd = sums.updates;
  out.n_tup_newpage_upd = sums.moved;
  return out;
}

RetentionResult of_server(const Pipeline& pipeline, const std::string& server, const SubscriberSide& side,
                          double end_s) {
  RetentionResult out;
  out.server = server;
  out.longest_s = side.dead->longest_s(end_s);
  for (const auto& [table, sums] : side.dead->sums(end_s))
    out.tables.push_back(dead_tuples(table, *side.dead, sums, end_s));
  for (const auto& [name, slot] : pipeline.slots()) {
    if (slot.retention == nullptr or slot.subscriber != server)
      continue;
    out.active[name] = slot.retention->active();
    out.advances += slot.retention->slot_updates();
    out.stops += slot.retention->stops();
    out.resumptions += slot.retention->resumptions();
  }
  return out;
}

} // namespace

/// n_dead_tup as pg_stat_all_tables counts it, here of the versions that nobody may remove, all tables
/// together.
void collect_retention(const Pipeline& pipeline, double end_s, RunResult& result) {
  for (const auto& [server, side] : pipeline.subscribers()) {
    if (side.dead == nullptr)
      continue;
    const RetentionResult found = of_server(pipeline, server, side, end_s);
    for (const DeadTuples& table : found.tables) {
      result.metrics["n_dead_tup"] += table.n_dead_tup;
      result.metrics["n_dead_tup_max"] += table.most_dead_tup;
      result.metrics["n_dead_tup_mean"] += table.mean_dead_tup;
      result.metrics["n_tup_newpage_upd"] += table.n_tup_newpage_upd;
    }
    double& longest_s = result.metrics["retention_s_max"];
    longest_s = std::max(longest_s, found.longest_s);
    result.upheaval.retention.push_back(found);
  }
}

} // namespace replisim
