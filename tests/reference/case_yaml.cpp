// A case as a scenario file.
#include "tests/reference/random_case.hpp"
#include "tests/support/scenario_builder.hpp"

namespace replisim::test {

namespace {

std::string duration(double seconds) { return fmt::format("{:.17g}us", seconds * 1e6); }
std::string rate(double bytes_per_s) { return fmt::format("{:.17g}kB/s", bytes_per_s / 1024); }

std::string costs_yaml(const CostParameters& costs) {
  std::map<std::string, std::string> groups;
  for (const auto& parameter : cost_parameters()) {
    const std::string name(parameter.name);
    const auto dot = name.find('.');
    groups[name.substr(0, dot)] +=
        fmt::format("      {}: {}\n", name.substr(dot + 1), duration(costs.*parameter.field));
  }
  std::string yaml;
  for (const auto& [group, lines] : groups)
    yaml += fmt::format("    {}:\n{}", group, lines);
  return yaml;
}

std::string table_yaml(const CaseTable& made) {
  std::string columns;
  for (const Column& column : made.table.columns)
    columns += fmt::format("{}{}: {}", columns.empty() ? "" : ", ", column.name,
                           column.type == ColumnType::Uuid ? std::string("uuid")
                                                           : fmt::format("text({})", column.width_bytes));
  return fmt::format("  {}: {{columns: {{{}}}, primary_key: [k], rows: {}, secondary_indexes: {}, "
                     "replica_identity: {}}}\n",
                     made.table.name, columns, made.table.initial_rows, made.table.secondary_indexes,
                     made.table.replica_identity == ReplicaIdentity::Full ? "full" : "default");
}

std::string step_yaml(const TransactionStep& step) {
  if (const auto* statement = std::get_if<StatementStep>(&step))
    return fmt::format("{{{}: {}, rows: {}}}", to_string(statement->operation), statement->table,
                       statement->rows);
  if (const auto* savepoint = std::get_if<SavepointStep>(&step))
    return fmt::format("{{savepoint: {}}}", savepoint->name);
  if (const auto* rollback = std::get_if<RollbackToStep>(&step))
    return fmt::format("{{rollback_to: {}}}", rollback->savepoint);
  if (const auto* release = std::get_if<ReleaseStep>(&step))
    return fmt::format("{{release: {}}}", release->savepoint);
  return fmt::format("{{pause: {}}}", duration(std::get<PauseStep>(step).seconds));
}

std::string load_yaml(const BatchLoad& load) {
  std::string yaml = fmt::format("  {}:\n    server: pub\n    at: {}\n    ends: {}\n    transaction:\n",
                                 load.name, duration(load.at_s), load.rolls_back ? "rollback" : "commit");
  for (const auto& step : load.transaction)
    yaml += fmt::format("      - {}\n", step_yaml(step));
  return yaml;
}

std::string hosts_yaml(const Case& from) {
  const std::string machine = fmt::format("{{machine: lab-2core, cores_per_socket: 64, memory: 64GB, disks: "
                                          "[{{fsync_latency: {}, write_bandwidth: {}, "
                                          "read_bandwidth: {}}}]}}",
                                          duration(from.fsync_latency_s), rate(500e6), rate(500e6));
  std::string yaml = fmt::format("hosts:\n  db: {}\n", machine);
  if (from.link)
    yaml += fmt::format(
        "  other: {}\nlinks:\n  - {{between: [db, other], bandwidth: {}, latency: {}, window: {}B}}\n",
        machine, rate(from.link->bandwidth_bytes_per_s), duration(from.link->latency_s),
        from.link->window_bytes);
  return yaml;
}

} // namespace

std::string yaml_of(const Case& from) {
  const Scenario scenario = scenario_of(from);
  std::string yaml =
      fmt::format("replisim: 1\nname: random case {}\nprofile:\n  name: lab-2core\n  parameters:\n{}",
                  from.seed, costs_yaml(from.costs));
  yaml += hosts_yaml(from);
  yaml +=
      fmt::format("servers:\n  pub: {{host: db, version: {}, settings: {{logical_decoding_work_mem: {}kB, "
                  "fsync: {}, synchronous_commit: {}, wal_writer_delay: {}ms}}}}\n",
                  from.version, from.work_mem_kb, from.fsync ? "on" : "off", from.commit_waits ? "on" : "off",
                  from.wal_writer_delay_ms);
  yaml += fmt::format(
      "  sub: {{host: {}, version: {}, settings: {{{}max_logical_replication_workers: {}}}}}\n",
      from.link ? "other" : "db", from.version,
      from.version < 16 ? std::string()
                        : fmt::format("max_parallel_apply_workers_per_subscription: {}, ", from.pool),
      from.workers);
  std::string published;
  yaml += "tables:\n";
  for (const CaseTable& made : from.tables) {
    yaml += table_yaml(made);
    if (made.published)
      published += fmt::format("{}{}", published.empty() ? "" : ", ", made.table.name);
  }
  yaml += fmt::format("publications: {{p: {{server: pub, tables: [{}]}}}}\n", published);
  yaml += fmt::format("subscriptions: {{s: {{server: sub, publication: p, streaming: {}}}}}\n",
                      to_string(from.streaming));
  yaml += "workload:\n";
  for (const BatchLoad& load : from.transactions)
    yaml += load_yaml(load);
  yaml += fmt::format("simulation: {{time_resolution: {}}}\nobserve: {{until: {}, interval: {}}}\n",
                      duration(scenario.time_resolution_s), duration(scenario.observe.until_s),
                      duration(scenario.observe.interval_s));
  return yaml;
}

} // namespace replisim::test
