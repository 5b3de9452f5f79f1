// Scenarios built in code, with costs chosen so that answers can be worked out by hand.
#pragma once

#include "models/base/check.hpp"
#include "sim/actors/pipeline.hpp"
#include "sim/run/result_json.hpp"
#include "sim/run/run_simulation.hpp"
#include "tests/support/in_child.hpp"

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

namespace replisim::test {

inline constexpr double us = 1e-6;
inline constexpr double ms = 1e-3;

/// A table whose rows are all alike: one uuid, which is the key. A queued insert takes
/// 80 + 24 + (24 + 16) = 144 bytes, its message body 8 + 5 + 36 = 49.
inline Table uuid_table(const std::string& name, Rows initial_rows = 0) {
  Table table;
  table.name = name;
  table.columns = {{"k", ColumnType::Uuid, 0, {}}};
  table.primary_key = {0};
  table.initial_rows = initial_rows;
  return table;
}

inline void set(Server& server, const std::string& guc, const std::string& value) {
  std::string problem;
  const auto parsed = parse_guc(*find_guc(guc), value, problem);
  REPLISIM_REQUIRE(parsed.has_value(), "{}: {}", guc, problem);
  server.settings.set(guc, *parsed);
}

inline Server server_of(const std::string& name, Version version = {17, 0}) {
  Server server;
  server.name = name;
  server.host = "db";
  server.version = version;
  return server;
}

/// A publication of server `pub`.
inline Publication publication_of(const std::string& name, std::vector<std::string> tables) {
  Publication publication;
  publication.name = name;
  publication.server = "pub";
  publication.tables = std::move(tables);
  return publication;
}

/// Publisher `pub` and subscriber `sub` on one host `db`; table `t`, publication `p`, subscription `s`.
/// WAL is not flushed to a disk, and the WAL writer makes it visible at 4.5 ms, 13.5 ms, 22.5 ms, ...
inline Scenario cluster(const CostParameters& costs, Streaming streaming,
                        const std::string& work_mem = "64kB", int cores = 16, Version version = {17, 0}) {
  Scenario scenario;
  scenario.name = "test";
  scenario.profile.costs = costs;
  scenario.hosts["db"] = machine_of(cores);
  Disk disk;
  disk.write_bandwidth_bytes_per_s = 500e6;
  disk.fsync_latency_s = 1 * ms;
  scenario.hosts["db"].disks = {disk};
  Server publisher = server_of("pub", version), subscriber = server_of("sub", version);
  set(publisher, "logical_decoding_work_mem", work_mem);
  set(publisher, "fsync", "off");
  set(publisher, "wal_writer_delay", "9ms");
  scenario.servers = {{"pub", publisher}, {"sub", subscriber}};
  scenario.tables["t"] = uuid_table("t");
  scenario.publications["p"] = publication_of("p", {"t"});
  scenario.subscriptions["s"] = {"s", "sub", "p", streaming, false};
  return scenario;
}

inline StatementStep insert(const std::string& table, Rows rows) {
  return {Operation::Insert, table, rows, {}};
}

/// A transaction that runs once, on server `pub`.
inline BatchLoad batch_of(const std::string& name, std::vector<TransactionStep> steps, double at_s = 0) {
  BatchLoad load;
  load.name = name;
  load.server = "pub";
  load.at_s = at_s;
  load.transaction = std::move(steps);
  return load;
}

inline Scenario& with_batch(Scenario& scenario, std::vector<TransactionStep> steps,
                            const std::string& name = "batch", double at_s = 0) {
  scenario.batches.push_back(batch_of(name, std::move(steps), at_s));
  return scenario;
}

/// Moves the subscriber behind a link. Time-free unless latency or bandwidth says otherwise.
inline Scenario& with_link(Scenario& scenario, double latency_s = 0, double bandwidth_bytes_per_s = 1e15,
                           Bytes window_bytes = 1'000'000'000) {
  scenario.hosts["other"] = scenario.hosts.at("db");
  scenario.servers.at("sub").host = "other";
  scenario.links = {{"db", "other", bandwidth_bytes_per_s, latency_s, window_bytes}};
  return scenario;
}

/// Chooses the time resolution that makes batches of exactly `rows` rows.
inline Scenario& with_batches_of(Scenario& scenario, Rows rows) {
  const CostParameters costs = effective_costs(scenario.profile);
  double low = 0, high = 1e6;
  for (int i = 0; i < 200; ++i) {
    scenario.time_resolution_s = (low + high) / 2;
    const Rows found = resolution_of(scenario, costs).batch_rows;
    if (found == rows)
      return scenario;
    (found < rows ? low : high) = scenario.time_resolution_s;
  }
  REPLISIM_REQUIRE(false, "no time resolution gives batches of {} rows", rows);
  return scenario;
}

/// One result per scenario, each simulated in a child of its own. Rethrows the first error.
inline std::vector<RunResult> run_all(const std::vector<Scenario>& scenarios) {
  std::vector<Job> jobs;
  for (const auto& scenario : scenarios)
    jobs.push_back(simulation_job(scenario.name, scenario, 1));
  std::vector<RunResult> results;
  for (const auto& outcome : run_forked(jobs))
    results.push_back(decode_result(outcome.get()));
  return results;
}

inline RunResult run(const Scenario& scenario) { return run_all({scenario}).front(); }

/// Costs of the published experiment's host, roughly.
inline CostParameters typical_costs() {
  CostParameters c;
  c.backend_insert_row_s = 4 * us;
  c.backend_update_row_s = 4.2 * us;
  c.backend_delete_row_s = 1.25 * us;
  c.backend_index_entry_s = 1 * us;
  c.wal_read_byte_s = 2.5e-3 * us;
  c.decode_change_s = 1.5 * us;
  c.discard_change_s = 0.17 * us;
  c.spill_change_s = 1.5 * us;
  c.restore_change_s = 2.2 * us;
  c.send_change_s = 2.7 * us;
  c.send_column_s = 0.25 * us;
  c.send_byte_s = 1.7e-3 * us;
  c.stream_chunk_s = 33 * us;
  c.receive_change_s = 2 * us;
  c.receive_byte_s = 1.7e-3 * us;
  c.forward_change_s = 1.7 * us;
  c.file_write_change_s = 1.3 * us;
  c.file_read_change_s = 0.8 * us;
  c.chunk_dispatch_s = 33 * us;
  c.ring_read_change_s = 0.5 * us;
  c.apply_insert_row_s = 6.8 * us;
  c.apply_delete_row_s = 8.4 * us;
  c.apply_row_overhead_s = 3 * us;
  c.apply_update_extra_s = 5.8 * us; // an update: 18 us
  c.apply_index_entry_s = 1.2 * us;
  c.wakeup_latency_s = 50 * us;
  c.worker_start_s = 10 * ms;
  return c;
}

} // namespace replisim::test
