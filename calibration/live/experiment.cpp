#include "calibration/live/experiment.hpp"

#include "calibration/live/clock.hpp"
#include "calibration/repeats.hpp"
#include "models/base/errors.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include <fmt/format.h>

namespace replisim::live {

namespace {

const Server& server_of(const Scenario& scenario, const char* name) {
  const auto found = scenario.servers.find(name);
  if (found == scenario.servers.end())
    throw UsageError(fmt::format("{}: the lab's servers are called pub and sub; this scenario has no '{}'",
                                 scenario.file, name));
  return found->second;
}

/// One run: what is set up, what is measured, what is read afterwards.
class Run {
public:
  Run(const Scenario& scenario, Pair& pair)
      : scenario_(scenario), pair_(pair), pub_(pair.pub()), sub_(pair.sub()) {}

  Measured measure() {
    set_up();
    TimelineSampler sampler(pub_, sub_, scenario_.clients.empty() ? 0.05 : 0.2);
    Loads loads(scenario_, pub_, sub_);
    const std::string extra = loads.extra_tables_sql();
    Connection poll = pub_.connect();
    if (not extra.empty())
      poll.run(extra);
    sampler.exclude("pub", poll.backend_pid());
    loads.prepare();
    sampler.start();
    wait_s(0.3);
    from_lsn_ = poll.number(position_query);
    loads.start();
    run_clients();
    loads.finish_batches();
    catch_up(poll);
    decode(poll);
    wait_s(0.15);
    loads.stop_sessions();
    sampler.stop();
    figures_of_loads(loads);
    figures_of(sampler);
    counters(poll);
    compare_rows();
    out_.timeline = sampler.csv();
    out_.pub_log = pub_.log_from(pub_log_from_);
    out_.sub_log = sub_.log_from(sub_log_from_);
    return std::move(out_);
  }

private:
  static constexpr const char* position_query = "select pg_wal_lsn_diff(pg_current_wal_insert_lsn(), '0/0')";

  void set_up() {
    std::int64_t scale = 0;
    for (const auto& [name, table] : scenario_.tables)
      if (is_pgbench_table(name))
        scale = pgbench_scale(scenario_);
    pair_.configure(scenario_);
    pair_.clear(scale);
    pub_log_from_ = pub_.log_size();
    sub_log_from_ = sub_.log_size();
    Connection pub = pub_.connect();
    Connection sub = sub_.connect();
    for (Connection* node : {&pub, &sub})
      make_tables(*node);
    for (const auto& [node, server] : {std::pair(&pub, "pub"), std::pair(&sub, "sub")})
      if (scenario_.servers.contains(server) and
          (server_of(scenario_, server).checkpoint_before_workload or not scenario_.clients.empty()))
        node->run("checkpoint");
    publish(pub);
    subscribe(pub, sub);
    pub.run("select pg_stat_reset_replication_slot(null)");
  }

  void make_tables(Connection& node) const {
    for (const auto& [name, table] : scenario_.tables) {
      if (is_pgbench_table(name))
        continue;
      node.run(create_table_sql(table));
      if (table.initial_rows == 0)
        continue;
      node.run(insert_sql(table, {1, table.initial_rows}));
      node.run(fmt::format("vacuum analyze {}.{}", quoted_name(table.schema), quoted_name(table.name)));
    }
  }

  void publish(Connection& pub) const {
    for (const auto& [name, publication] : scenario_.publications) {
      std::vector<std::string> tables;
      for (const std::string& table : publication.tables) {
        const Table& described = scenario_.tables.at(table);
        std::string columns;
        if (const auto list = publication.column_lists.find(table); list != publication.column_lists.end()) {
          std::vector<std::string> names;
          for (const int position : list->second)
            names.push_back(quoted_name(described.columns[static_cast<std::size_t>(position)].name));
          columns = fmt::format(" ({})", fmt::join(names, ", "));
        }
        tables.push_back(fmt::format("{}.{}{}", quoted_name(described.schema), quoted_name(table), columns));
      }
      if (not publication.row_filters.empty())
        throw UsageError(fmt::format("{}: the lab makes no row filters", scenario_.file));
      pub.run(fmt::format("create publication {} for table {}", quoted_name(name), fmt::join(tables, ", ")));
    }
    if (scenario_.tables.contains("pgbench_history"))
      pub.run("alter table pgbench_history replica identity full");
    for (const auto& [name, decode] : scenario_.decode)
      pub.run(fmt::format("select pg_create_logical_replication_slot({}, 'pgoutput')", quoted_text(name)));
  }

  void subscribe(Connection& pub, Connection& sub) {
    for (const auto& [name, subscription] : scenario_.subscriptions) {
      std::vector<std::string> options = {
          "copy_data = off", fmt::format("streaming = {}", to_string(subscription.streaming)),
          fmt::format("synchronous_commit = {}", subscription.commits_wait_for_flush ? "on" : "off")};
      if (subscription.binary)
        options.emplace_back("binary = on");
      if (subscription.disable_on_error)
        options.emplace_back("disable_on_error = on");
      sub.run(fmt::format("create subscription {} connection {} publication {} with ({})", quoted_name(name),
                          quoted_text(pub_.conninfo()), quoted_name(subscription.publication),
                          fmt::join(options, ", ")));
    }
    const auto wanted = static_cast<double>(scenario_.subscriptions.size());
    const double until = now_s() + 30;
    while (pub.number("select count(*) from pg_stat_replication where state = 'streaming'") < wanted) {
      if (now_s() > until)
        throw UsageError(
            fmt::format("no apply worker connects to the lab's publisher: {}", sub_.last_words()));
      look_for_full_disk();
      wait_s(0.02);
    }
  }

  /// An apply worker that finds no room tries again for ever; whoever waits for it should hear why.
  void look_for_full_disk() {
    constexpr double between_looks_s = 1;
    if (now_s() - last_look_s_ < between_looks_s)
      return;
    last_look_s_ = now_s();
    for (const auto& [server, from] : {std::pair(&pub_, pub_log_from_), std::pair(&sub_, sub_log_from_)}) {
      const std::string log = server->log_from(from);
      if (const std::size_t at = log.find("No space left"); at != std::string::npos) {
        const std::size_t begin = log.rfind('\n', at) + 1;
        throw StatementFailed(fmt::format("the lab's {} says: {}", server->name(),
                                          log.substr(begin, log.find('\n', at) - begin)),
                              "53100");
      }
    }
  }

  void run_clients() {
    for (const ClientLoad& load : scenario_.clients) {
      const PgbenchFigures figures = run_pgbench(load, pub_, pair_.workspace(), pair_.binaries());
      out_.figures["tps"] = figures.tps;
      out_.figures["latency_s"] = figures.latency_s;
      out_.figures["committed_transactions"] = figures.transactions;
      out_.pgbench = figures.output;
    }
  }

  /// Until all subscriptions have replayed what has been written so far.
  void catch_up(Connection& poll) {
    load_end_s_ = now_s();
    // A commit that did not wait for its flush is written by the WAL writer soon; replication begins behind
    // it.
    const std::string target = poll.text("select pg_current_wal_insert_lsn()");
    const std::string reached = fmt::format(
        "select count(*) from pg_stat_get_wal_senders() where replay_lsn >= {}", quoted_text(target));
    const auto wanted = static_cast<double>(scenario_.subscriptions.size());
    const double until = now_s() + 600;
    while (poll.number(reached) < wanted) {
      if (now_s() > until)
        throw UsageError(
            fmt::format("the lab's subscriber has not caught up after 10 minutes: {}", sub_.last_words()));
      look_for_full_disk();
      wait_s(0.01);
    }
    caught_up_s_ = now_s();
    out_.figures["wal_bytes"] =
        poll.number(fmt::format("select pg_wal_lsn_diff({}, '0/0')", quoted_text(target))) - from_lsn_;
  }

  void decode(Connection& poll) {
    for (const auto& [name, calls] : scenario_.decode) {
      // The SQL functions stop at the flushed position.
      while (poll.number("select (pg_current_wal_flush_lsn() < pg_current_wal_insert_lsn())::int") > 0)
        wait_s(0.02);
      std::vector<double> times;
      for (std::int64_t call = 0; call < std::max<std::int64_t>(3, calls.times); ++call) {
        const double begin_s = now_s();
        out_.figures["decode_messages"] = poll.number(fmt::format(
            "select count(*) from pg_logical_slot_peek_binary_changes({}, null, null, 'proto_version', '{}', "
            "'publication_names', {})",
            quoted_text(name), pair_.binaries().version.major >= 16 ? 4 : 1,
            quoted_text(quoted_name(calls.publication))));
        times.push_back(now_s() - begin_s);
      }
      out_.figures["decode_s"] = median(times);
    }
  }

  void figures_of_loads(const Loads& loads) {
    if (not scenario_.batches.empty()) {
      const BatchTimes& times = loads.batch_times();
      out_.figures["statement_s"] = times.statement_s - times.begin_s;
      out_.figures["commit_s"] = times.commit_s - times.begin_s;
      if (not scenario_.subscriptions.empty())
        out_.figures["total_s"] = caught_up_s_ - times.begin_s;
    } else {
      out_.figures["catch_up_s"] = caught_up_s_ - load_end_s_;
    }
    const std::vector<double>& latencies = loads.sessions().latencies_s;
    if (latencies.empty())
      return;
    out_.figures["session_latency_s_max"] = *std::max_element(latencies.begin(), latencies.end());
    out_.figures["session_latency_s_p50"] = median(latencies);
    out_.figures["session_transactions"] = static_cast<double>(latencies.size());
  }

  void figures_of(const TimelineSampler& sampler) {
    for (const auto& [column, value] : sampler.rows().back().values) {
      if (column.starts_with("cpu_") and not column.ends_with("_launcher_s"))
        out_.figures[column] = sampler.growth(column);
    }
    if (not scenario_.sessions.empty())
      out_.figures["cpu_sub.session_s"] = out_.figures["cpu_sub.backend_s"];
    out_.figures.erase("cpu_sub.backend_s");
    if (not scenario_.batches.empty())
      out_.figures["lock_hold_s"] = sampler.span_above_zero_s("sub_row_excl_locks");
    out_.figures["peak_spill_file_bytes"] = sampler.largest("spill_file_bytes");
    out_.figures["peak_sub_tmp_file_bytes"] = sampler.largest("sub_tmp_file_bytes");
    out_.sampler_cores = sampler.own_cores();
    out_.session_cores = sampler.session_cores();
  }

  /// Counters reach the view with a delay: until two looks agree.
  void counters(Connection& poll) {
    static const std::vector<std::string> names = {"spill_txns",  "spill_count",  "spill_bytes",
                                                   "stream_txns", "stream_count", "stream_bytes",
                                                   "total_txns",  "total_bytes"};
    std::vector<std::string> sums;
    for (const std::string& name : names)
      sums.push_back(fmt::format("coalesce(sum({}), 0)", name));
    const std::string sql =
        fmt::format("select {} from pg_stat_replication_slots where slot_name in (select slot_name "
                    "from pg_replication_slots where active)",
                    fmt::join(sums, ", "));
    std::vector<double> last;
    const double until = now_s() + 5;
    while (now_s() < until) {
      const QueryResult row = poll.query(sql);
      std::vector<double> values;
      for (std::size_t i = 0; i < names.size(); ++i)
        values.push_back(row.number(0, i));
      const bool is_still = values == last and values[6] > 0;
      last = values;
      if (is_still)
        break;
      wait_s(0.1);
    }
    for (std::size_t i = 0; i < names.size(); ++i)
      out_.figures[names[i]] = last[i];
  }

  void compare_rows() {
    if (scenario_.subscriptions.empty() or not scenario_.sessions.empty())
      return;
    Connection pub = pub_.connect();
    Connection sub = sub_.connect();
    for (const auto& [name, table] : scenario_.tables) {
      const std::string sql =
          fmt::format("select count(*) from {}.{}", quoted_name(table.schema), quoted_name(name));
      if (not is_pgbench_table(name) and pub.number(sql) != sub.number(sql))
        out_.rows_match = false;
    }
  }

  const Scenario& scenario_;
  Pair& pair_;
  ThrowawayServer& pub_;
  ThrowawayServer& sub_;
  std::uintmax_t pub_log_from_ = 0;
  std::uintmax_t sub_log_from_ = 0;
  double from_lsn_ = 0;
  double load_end_s_ = 0;
  double last_look_s_ = 0;
  double caught_up_s_ = 0;
  Measured out_;
};

} // namespace

Pair::Pair(Workspace& workspace, Binaries binaries, int port)
    : workspace_(workspace), binaries_(std::move(binaries)) {
  const ServerSettings both = {{"wal_level", "logical"},           {"autovacuum", "off"},
                               {"max_connections", "100"},         {"checkpoint_timeout", "1d"},
                               {"log_replication_commands", "on"}, {"log_lock_waits", "on"},
                               {"log_checkpoints", "on"},          {"shared_buffers", "128MB"},
                               {"track_io_timing", "off"}};
  pub_ = std::make_unique<ThrowawayServer>("pub", workspace, binaries_, port, both);
  sub_ = std::make_unique<ThrowawayServer>("sub", workspace, binaries_, port == 0 ? 0 : port + 1, both);
}

void Pair::configure(const Scenario& scenario) {
  configure(*pub_, server_of(scenario, "pub").settings, server_of(scenario, "pub").version);
  if (scenario.servers.contains("sub"))
    configure(*sub_, server_of(scenario, "sub").settings, server_of(scenario, "sub").version);
}

void Pair::configure(ThrowawayServer& server, const Settings& settings, const Version& version) {
  if (version.major != binaries_.version.major)
    throw UsageError(fmt::format("the scenario's servers are of version {}, the programs of version {}",
                                 to_string(version), to_string(binaries_.version)));
  const auto is_pending = [&] {
    Connection node = server.connect();
    node.run("alter system reset all");
    for (const auto& [name, value] : settings.explicitly_set())
      node.run(fmt::format("alter system set {} = {}", quoted_name(name),
                           quoted_text(setting_text(*find_guc(name), value))));
    node.run("select pg_reload_conf()");
    wait_s(0.05);
    return node.number("select count(*) from pg_settings where pending_restart") > 0;
  };
  if (is_pending()) {
    server.stop();
    server.start();
  }
}

void Pair::clear(std::int64_t pgbench_scale) {
  Connection pub = pub_->connect();
  Connection sub = sub_->connect();
  const auto each = [](Connection& node, const std::string& list, const auto& sql) {
    const QueryResult names = node.query(list);
    for (std::size_t i = 0; i < names.size(); ++i)
      node.run(sql(names.text(i, 0)));
  };
  each(sub, "select subname from pg_subscription",
       [](const std::string& name) { return fmt::format("drop subscription {}", quoted_name(name)); });
  each(pub, "select slot_name from pg_replication_slots", [](const std::string& name) {
    return fmt::format("select pg_drop_replication_slot({})", quoted_text(name));
  });
  each(pub, "select pubname from pg_publication",
       [](const std::string& name) { return fmt::format("drop publication {}", quoted_name(name)); });
  const bool keeps = pgbench_scale != 0 and pgbench_scale == pgbench_scale_;
  for (Connection* node : {&pub, &sub})
    each(*node,
         fmt::format("select format('%I.%I', schemaname, tablename) from pg_tables where schemaname not in "
                     "('pg_catalog', 'information_schema'){}",
                     keeps ? " and tablename not like 'pgbench\\_%'" : ""),
         [](const std::string& name) { return fmt::format("drop table {}", name); });
  if (pgbench_scale != 0 and not keeps)
    for (ThrowawayServer* server : {pub_.get(), sub_.get()})
      initialise_pgbench(pgbench_scale, *server, workspace_, binaries_);
  pgbench_scale_ = pgbench_scale == 0 and not keeps ? 0 : pgbench_scale;
}

Measured measure(const Scenario& scenario, Pair& pair) {
  require_loads(scenario);
  return Run(scenario, pair).measure();
}

} // namespace replisim::live
