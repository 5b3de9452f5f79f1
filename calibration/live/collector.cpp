#include "calibration/live/collector.hpp"

#include "calibration/live/clock.hpp"
#include "calibration/live/collect_sql.hpp"
#include "calibration/live/connection.hpp"
#include "calibration/live/machine_probe.hpp"
#include "calibration/live/process_cpu.hpp"
#include "models/base/errors.hpp"
#include "sim/report/files.hpp"
#include "sim/run/fork_pool.hpp"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <fstream>
#include <map>
#include <memory>
#include <optional>
#include <sstream>
#include <utility>
#include <vector>

#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

namespace replisim::live {

namespace fs = std::filesystem;

namespace {

constexpr int oldest_version = 140000;
constexpr double between_facts_s = 60;

double own_cpu_s() {
  rusage usage{};
  ::getrusage(RUSAGE_SELF, &usage);
  const auto seconds = [](const timeval& t) {
    return static_cast<double>(t.tv_sec) + static_cast<double>(t.tv_usec) * 1e-6;
  };
  return seconds(usage.ru_utime) + seconds(usage.ru_stime);
}

pid_t parent_of(pid_t pid) {
  std::ifstream file(fmt::format("/proc/{}/stat", pid));
  std::string text;
  std::getline(file, text);
  const std::size_t end = text.rfind(')');
  if (end == std::string::npos)
    return 0;
  std::istringstream words(text.substr(end + 1));
  std::string state;
  pid_t parent = 0;
  words >> state >> parent;
  return parent;
}

/// One of the two servers.
class Node {
public:
  Node(std::string role, std::string conninfo) : role_(std::move(role)), conninfo_(std::move(conninfo)) {
    connect();
  }

  void connect() {
    session_ = std::make_unique<Connection>(conninfo_, role_, "replisim collect");
    const int version = session_->server_version();
    if (version < oldest_version)
      throw UsageError(
          fmt::format("the {} is PostgreSQL {}.{}: collect needs 14 or later; its logs and WAL can be read "
                      "by `replisim observe` and `replisim import`",
                      role_, version / 10000, version % 10000));
    session_->run(
        "set default_transaction_read_only = on; set statement_timeout = '30s'; set lock_timeout = '2s'; "
        "set timezone = 'UTC'; set jit = off");
    find_processes();
  }

  void require_rights() {
    if (session_->text("select pg_has_role(current_user, 'pg_monitor', 'usage')") != "t") {
      const std::string user = session_->text("select current_user");
      throw UsageError(
          fmt::format("user {} may not read the statistics of the {}; as a superuser there: grant "
                      "pg_monitor to {}",
                      user, role_, quoted_name(user)));
    }
  }

  Connection& session() { return *session_; }
  bool is_local() const { return cpu_ != nullptr; }
  std::map<std::string, double> cpu() { return cpu_ ? cpu_->sample() : std::map<std::string, double>(); }
  /// Whether its data lies on the device of `folder`, as far as we may see that: a postmaster's working
  /// directory is its data directory.
  bool keeps_data_beside(const fs::path& folder) const {
    struct stat data {
    }, here{};
    return is_local() and ::stat(fmt::format("/proc/{}/cwd", postmaster_).c_str(), &data) == 0 and
           ::stat(folder.c_str(), &here) == 0 and data.st_dev == here.st_dev;
  }
  /// CPU seconds that our sessions there have taken so far.
  double session_cpu_s() {
    if (cpu_)
      cpu_->sample();
    return cpu_ ? cpu_->excluded_s() : 0;
  }
  const std::string& role() const { return role_; }

private:
  /// Whether the server's processes are those of this host: our own backend shows under its pid, with our
  /// name.
  void find_processes() {
    const pid_t backend = session_->backend_pid();
    const std::string title = process_title(backend);
    const std::string database = session_->text("select current_database()");
    if (not title.starts_with("postgres: ") or title.find(database) == std::string::npos or
        process_cpu_s(backend) < 0)
      return;
    const pid_t postmaster = parent_of(backend);
    if (cpu_ == nullptr or postmaster != postmaster_)
      cpu_ = std::make_unique<ServerCpu>(postmaster);
    postmaster_ = postmaster;
    cpu_->exclude(backend);
  }

  std::string role_;
  std::string conninfo_;
  std::unique_ptr<Connection> session_;
  std::unique_ptr<ServerCpu> cpu_;
  pid_t postmaster_ = 0;
};

class Output {
public:
  explicit Output(fs::path file) : file_(std::move(file)), stream_(file_, std::ios::binary) { check(); }
  void write(const std::string& text) {
    stream_ << text;
    stream_.flush();
    bytes_ += text.size();
    check();
  }
  std::uint64_t bytes() const { return bytes_; }

private:
  void check() const {
    if (not stream_)
      throw UsageError(
          fmt::format("{} cannot be written: {}; free some of that disk, or choose another place with "
                      "--out",
                      file_.string(), errno != 0 ? std::strerror(errno) : "no reason given"));
  }
  fs::path file_;
  std::ofstream stream_;
  std::uint64_t bytes_ = 0;
};

class Collector {
public:
  explicit Collector(const CollectOptions& options)
      : options_(options), pub_("publisher", options.publisher), sub_("subscriber", options.subscriber) {
    pub_.require_rights();
    sub_.require_rights();
    require_logical();
    make_folder();
    const auto file = [&](const char* ending) {
      return options.out / fmt::format("{}.{}", options.name, ending);
    };
    pub_views_ = std::make_unique<Output>(file("pub.views"));
    sub_views_ = std::make_unique<Output>(file("sub.views"));
    timeline_ = std::make_unique<Output>(file("timeline.csv"));
    std::string lines;
    const QueryResult tables = pub_.session().query(tables_sql());
    for (std::size_t i = 0; i < tables.size(); ++i)
      lines += tables.text(i, 0) + "\n";
    tables_ = std::make_unique<Output>(options.out / "tables.txt");
    tables_->write(lines);
  }

  CollectSummary run() {
    const double begin_s = now_s();
    const double own_before_s = own_cpu_s();
    const double pub_before_s = pub_.session_cpu_s();
    const double sub_before_s = sub_.session_cpu_s();
    double next_s = begin_s;
    double facts_s = begin_s - between_facts_s;
    while (not is_over(begin_s)) {
      try {
        if (now_s() - facts_s >= between_facts_s) {
          facts();
          facts_s = now_s();
        }
        sample(now_s() - begin_s);
        ++summary_.samples;
        next_s = std::max(next_s + options_.interval_s, now_s());
        wait_s(std::max(0.0, std::min(next_s, end_s(begin_s)) - now_s()));
      } catch (const Interrupted&) {
        summary_.interrupted = true;
      } catch (const ConnectionLost& error) {
        reconnect(error.what(), begin_s);
      }
    }
    finish(begin_s);
    summary_.seconds = std::max(now_s() - begin_s, 1e-3);
    summary_.own_cores = (own_cpu_s() - own_before_s) / summary_.seconds;
    if (pub_.is_local())
      summary_.publisher_cores = (pub_.session_cpu_s() - pub_before_s) / summary_.seconds;
    if (sub_.is_local())
      summary_.subscriber_cores = (sub_.session_cpu_s() - sub_before_s) / summary_.seconds;
    summary_.bytes = pub_views_->bytes() + sub_views_->bytes() + timeline_->bytes() + tables_->bytes();
    return summary_;
  }

private:
  double end_s(double begin_s) const {
    return options_.duration_s > 0 ? begin_s + options_.duration_s : begin_s + 1e9;
  }
  bool is_over(double begin_s) {
    summary_.interrupted = summary_.interrupted or InterruptScope::interrupted();
    return summary_.interrupted or now_s() >= end_s(begin_s);
  }

  void require_logical() {
    const std::string level = pub_.session().text("select current_setting('wal_level')");
    constexpr int on_demand_since = 190000;
    if (level != "logical" and pub_.session().server_version() < on_demand_since)
      throw UsageError(
          fmt::format("the publisher has wal_level = {}: nothing can be replicated logically from it; set "
                      "wal_level = logical there (alter system set wal_level = logical) and restart it",
                      level));
    if (sub_.session().number(
            "select count(*) from pg_subscription where subdbid = (select oid from pg_database where "
            "datname = current_database())") == 0)
      throw UsageError(
          "the subscriber's database has no subscription; name the database that has one with dbname=... "
          "(select subname, datname from pg_subscription join pg_database on pg_database.oid = subdbid)");
  }

  void make_folder() const {
    std::error_code error;
    if (fs::exists(options_.out, error) and not fs::is_empty(options_.out, error))
      throw UsageError(fmt::format("{} is there already and not empty; choose another folder with --out",
                                   options_.out.string()));
    require_folder(options_.out);
  }

  static void append_views(Node& node, Output& output) {
    const QueryResult rows = node.session().query(views_sql(node.session().server_version()));
    std::string text;
    for (std::size_t i = 0; i < rows.size(); ++i)
      text += rows.text(i, 0) + "\n";
    output.write(text);
  }

  void append_facts(Node& node, Output& output) const {
    auto facts = nlohmann::json::parse(node.session().text(facts_sql(node.session().server_version())));
    facts["local"] = node.is_local();
    if (node.is_local()) {
      facts["cpus"] = available_cpus();
      facts["memory_bytes"] =
          static_cast<double>(::sysconf(_SC_PHYS_PAGES)) * static_cast<double>(::sysconf(_SC_PAGESIZE));
      facts["cpu_s"] = node.cpu();
    }
    constexpr int flushes = 21; // a few milliseconds a minute
    if (node.keeps_data_beside(options_.out))
      facts["flush_s"] = flush_latency_s(options_.out, flushes, "--out");
    output.write(fmt::format("{{\"collected_at\":\"facts\",\"view\":\"facts\",\"row\":{}}}\n", facts.dump()));
  }

  void facts() {
    append_facts(pub_, *pub_views_);
    append_facts(sub_, *sub_views_);
  }

  void sample(double t_s) {
    append_views(pub_, *pub_views_);
    append_views(sub_, *sub_views_);
    const QueryResult lsn =
        pub_.session().query("select pg_wal_lsn_diff(pg_current_wal_lsn(), '0/0')::bigint, "
                             "pg_wal_lsn_diff(min(sent_lsn), '0/0')::bigint, "
                             "pg_wal_lsn_diff(min(flush_lsn), '0/0')::bigint, "
                             "pg_wal_lsn_diff(min(replay_lsn), '0/0')::bigint from "
                             "pg_stat_get_wal_senders()");
    const QueryResult locks =
        sub_.session().query("select count(*) filter (where l.mode = 'RowExclusiveLock' and l.granted and "
                             "l.relation >= 16384), count(*) "
                             "filter (where not l.granted) from pg_locks l where l.pid in (select s.pid from "
                             "pg_stat_get_subscription(null) "
                             "s where s.pid is not null)");
    std::map<std::string, double> cpu;
    for (const auto& [kind, seconds] : pub_.cpu())
      cpu[fmt::format("cpu_pub.{}_s", kind)] = seconds;
    for (const auto& [kind, seconds] : sub_.cpu())
      cpu[fmt::format("cpu_sub.{}_s", kind)] = seconds;
    if (not std::exchange(has_header_, true))
      begin_timeline();
    std::string row = fmt::format("{:.3f},{},{},{},{},{},{}", t_s, lsn.text(0, 0), lsn.text(0, 1),
                                  lsn.text(0, 2), lsn.text(0, 3), locks.text(0, 0), locks.text(0, 1));
    for (const std::string& column : columns_) {
      const auto found = cpu.find(column);
      row += found == cpu.end() ? "," : fmt::format(",{:.4f}", found->second);
    }
    timeline_->write(row + "\n");
  }

  /// The columns must be known beforehand: classes that show up later have their place.
  void begin_timeline() {
    for (const auto& [node, kinds] :
         {std::pair(&pub_, std::vector{"backend", "walsender", "walwriter", "checkpointer",
                                       "background_writer", "autovacuum_worker"}),
          std::pair(&sub_, std::vector{"backend", "apply_worker", "parallel_apply_worker", "walwriter",
                                       "checkpointer", "background_writer", "autovacuum_worker"})})
      if (node->is_local())
        for (const char* kind : kinds)
          columns_.push_back(fmt::format("cpu_{}.{}_s", node == &pub_ ? "pub" : "sub", kind));
    std::string header = "t_s,wal_lsn,sent_lsn,flush_lsn,replay_lsn,sub_row_excl_locks,sub_lock_waits";
    for (const std::string& column : columns_)
      header += fmt::format(",{}", column);
    timeline_->write(header + "\n");
  }

  void reconnect(const std::string& why, double begin_s) {
    if (options_.say)
      options_.say(fmt::format("{}; trying again", why));
    while (not is_over(begin_s)) {
      try {
        wait_s(std::max(0.5, std::min(options_.interval_s, 5.0)));
        pub_.connect();
        sub_.connect();
        ++summary_.reconnects;
        return;
      } catch (const ConnectionLost&) {
        continue;
      } catch (const StatementFailed&) {
        continue; // it is starting up, or shutting down
      } catch (const Interrupted&) {
        summary_.interrupted = true;
        return;
      }
    }
  }

  /// The last look, Ctrl-C or not.
  void finish(double begin_s) {
    for (Node* node : {&pub_, &sub_})
      node->session().heed_interrupts(false);
    try {
      sample(now_s() - begin_s);
      ++summary_.samples;
      facts();
    } catch (const ConnectionLost& error) {
      if (options_.say)
        options_.say(fmt::format("the last look failed: {}", error.what()));
    }
  }

  const CollectOptions& options_;
  Node pub_;
  Node sub_;
  std::unique_ptr<Output> pub_views_, sub_views_, timeline_, tables_;
  std::vector<std::string> columns_; ///< of CPU seconds
  bool has_header_ = false;
  CollectSummary summary_;
};

} // namespace

CollectSummary collect(const CollectOptions& options) {
  require_conninfo(options.publisher, "--publisher");
  require_conninfo(options.subscriber, "--subscriber");
  return Collector(options).run();
}

} // namespace replisim::live
