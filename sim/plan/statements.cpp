#include "sim/plan/statements.hpp"

#include "models/base/units.hpp"
#include "models/settings.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cmath>

namespace replisim {

namespace {

/// Settings that only a start of the server takes over (context postmaster).
constexpr std::array<std::string_view, 18> need_restart = {"archive_mode",
                                                           "autovacuum_max_workers",
                                                           "huge_pages",
                                                           "listen_addresses",
                                                           "max_active_replication_origins",
                                                           "max_connections",
                                                           "max_files_per_process",
                                                           "max_locks_per_transaction",
                                                           "max_logical_replication_workers",
                                                           "max_prepared_transactions",
                                                           "max_replication_slots",
                                                           "max_wal_senders",
                                                           "max_worker_processes",
                                                           "port",
                                                           "shared_buffers",
                                                           "track_commit_timestamp",
                                                           "wal_buffers",
                                                           "wal_level"};

struct SideEffect {
  std::string_view setting;
  std::string_view reason;
  std::string_view effects;
};

constexpr std::array<SideEffect, 10> side_effects = {
    {{"logical_decoding_work_mem",
      "transactions beyond it are spilled to disk or streamed; within it they are not",
      "each walsender may take so much memory; with streaming, larger values mean fewer and larger chunks"},
     {"max_wal_size", "fewer checkpoints, so fewer full-page images in the WAL that slots read",
      "pg_wal grows to about this size, and recovery after a crash takes longer"},
     {"max_slot_wal_keep_size", "a limit on the WAL that slots hold back",
      "a slot that lies further behind is lost, and its subscription has to be made anew"},
     {"wal_sender_timeout", "receivers that are silent while they work are not cut off",
      "a receiver that is gone is noticed as late"},
     {"synchronous_commit", "what commits wait for",
      "off: a crash may lose the last commits, never their consistency"},
     {"max_parallel_apply_workers_per_subscription", "as many streamed transactions are applied at once",
      "each worker is a process of its own, taken from max_logical_replication_workers"},
     {"wal_compression", "smaller full-page images", "CPU of every backend that writes one"},
     {"checkpoint_timeout", "fewer checkpoints, so fewer full-page images in the WAL that slots read",
      "recovery after a crash takes longer"},
     {"shared_buffers", "more of the tables is found in memory",
      "memory is taken at the start of the server"},
     {"deadlock_timeout", "how long a wait for a lock lasts before somebody looks for a deadlock", ""}}};

std::string setting_text(const GucDescriptor& guc, const GucValue& value) {
  constexpr double kilobyte = 1024;
  switch (guc.type) {
  case GucType::Bool:
    return value.number != 0 ? "on" : "off";
  case GucType::Enum:
  case GucType::Text:
    return value.text;
  case GucType::Size:
    if (value.number < 0)
      return "-1";
    for (const auto& [unit, bytes] :
         {std::pair("GB", kilobyte * kilobyte * kilobyte), std::pair("MB", kilobyte * kilobyte)})
      if (value.number >= bytes and std::fmod(value.number, bytes) == 0)
        return fmt::format("{:.0f}{}", value.number / bytes, unit);
    return fmt::format("{:.0f}kB", value.number / kilobyte);
  case GucType::Duration:
    if (value.number < 0)
      return "-1";
    return std::fmod(value.number, 1) == 0 ? fmt::format("{:.0f}s", value.number)
                                           : fmt::format("{:.0f}ms", value.number * 1000);
  case GucType::Integer:
    return fmt::format("{:.0f}", value.number);
  case GucType::Real:
    break;
  }
  return fmt::format("{:g}", value.number);
}

/// The value in force, its default where nobody set it.
GucValue value_of(const Settings& settings, const GucDescriptor& guc) {
  const auto& set = settings.explicitly_set();
  if (const auto found = set.find(guc.name); found != set.end())
    return found->second;
  if (guc.type == GucType::Enum or guc.type == GucType::Text)
    return {0, settings.text(guc.name)};
  return {settings.number(guc.name), {}};
}

std::string quoted(const std::string& text) {
  std::string out = "'";
  for (const char c : text)
    out += c == '\'' ? std::string("''") : std::string(1, c);
  return out + "'";
}

/// Words that a table or subscription may be called, but not without quotes.
constexpr std::array<std::string_view, 20> reserved = {
    "all",   "analyze", "and",    "any",   "check", "column", "do",     "end",  "from", "grant",
    "group", "limit",   "offset", "order", "table", "to",     "unique", "user", "when", "where"};

/// A name as SQL takes it.
std::string identifier(const std::string& name) {
  const bool word = std::find(reserved.begin(), reserved.end(), name) != reserved.end();
  const bool plain = std::all_of(name.begin(), name.end(), [](char c) {
    return (c >= 'a' and c <= 'z') or (c >= '0' and c <= '9') or c == '_';
  });
  if (plain and not word and not name.empty() and (name[0] < '0' or name[0] > '9'))
    return name;
  std::string out = "\"";
  for (const char c : name)
    out += c == '"' ? std::string("\"\"") : std::string(1, c);
  return out + "\"";
}

std::string identifiers(const std::vector<std::string>& names) {
  std::vector<std::string> out;
  for (const auto& name : names)
    out.push_back(identifier(name));
  return fmt::format("{}", fmt::join(out, ", "));
}

class Differences {
public:
  Differences(const Scenario& from, const Scenario& to) : from_(from), to_(to) {}

  std::vector<Statement> run(const std::vector<std::pair<std::string, std::string>>& changes) {
    for (const auto& [path, value] : changes)
      note(path, value);
    for (const auto& [name, server] : to_.servers)
      if (from_.servers.contains(name))
        settings(from_.servers.at(name), server);
    for (const auto& [name, table] : to_.tables)
      if (from_.tables.contains(name))
        identity(name, from_.tables.at(name), table);
    for (const auto& [name, publication] : to_.publications)
      publish(publication);
    for (const auto& [name, subscription] : to_.subscriptions)
      if (from_.subscriptions.contains(name))
        subscribe(from_.subscriptions.at(name), subscription);
      else
        create(subscription);
    return std::move(out_);
  }

private:
  void add(const std::string& server, std::string sql, std::string reason, std::string effects = "") {
    out_.push_back({server, std::move(sql), std::move(reason), std::move(effects)});
  }

  /// What no statement does.
  void note(const std::string& path, const std::string& value) {
    if (path.starts_with("hosts.")) {
      const std::string host = path.substr(6, path.find_first_of(".[", 6) - 6);
      std::vector<std::string> servers;
      for (const auto& [name, server] : to_.servers)
        if (server.host == host)
          servers.push_back(name);
      add(servers.empty() ? host : servers.front(), "",
          fmt::format("move server {} to another machine: {} = {}", fmt::join(servers, ", "), path, value),
          "the server is away while it moves, and slots hold back WAL meanwhile");
    } else if (path.starts_with("workload.")) {
      add("application", "", fmt::format("the application does it otherwise: {} = {}", path, value));
    } else if (path.starts_with("links") or path.starts_with("sessions.") or path.starts_with("consumers.") or
               path.find("row_filters") != std::string::npos or
               path.find("secondary_indexes") != std::string::npos or
               path.find("triggers") != std::string::npos or path.find("column_lists") != std::string::npos or
               path.find("foreign_keys") != std::string::npos) {
      add("cluster", "", fmt::format("to be done by hand: {} = {}", path, value));
    }
  }

  void settings(const Server& from, const Server& to) {
    bool any = false, restart = false;
    for (const GucDescriptor& guc : guc_table()) {
      const auto before = setting_text(guc, value_of(from.settings, guc));
      const auto after = setting_text(guc, value_of(to.settings, guc));
      if (before == after)
        continue;
      any = true;
      const bool waits = std::find(need_restart.begin(), need_restart.end(), guc.name) != need_restart.end();
      restart = restart or waits;
      const auto known = std::find_if(side_effects.begin(), side_effects.end(),
                                      [&](const SideEffect& effect) { return effect.setting == guc.name; });
      std::string reason(known == side_effects.end() ? guc.sentence : known->reason);
      if (reason.ends_with('.'))
        reason.pop_back();
      std::string effects(known == side_effects.end() ? "" : known->effects);
      if (waits)
        effects += (effects.empty() ? "" : "; ") + std::string("takes a restart of the server");
      add(to.name, fmt::format("ALTER SYSTEM SET {} = {};", guc.name, quoted(after)),
          fmt::format("{} (now {})", reason, before), effects);
    }
    if (any)
      add(to.name, "SELECT pg_reload_conf();",
          restart ? "takes over what needs no restart" : "takes the settings over, without a restart");
  }

  void identity(const std::string& name, const Table& from, const Table& to) {
    if (from.replica_identity == to.replica_identity)
      return;
    const bool full = to.replica_identity == ReplicaIdentity::Full;
    const char* word = full                                              ? "FULL"
                       : to.replica_identity == ReplicaIdentity::Nothing ? "NOTHING"
                                                                         : "DEFAULT";
    for (const auto& [publication, entry] : to_.publications)
      if (std::find(entry.tables.begin(), entry.tables.end(), name) != entry.tables.end()) {
        add(entry.server, fmt::format("ALTER TABLE {} REPLICA IDENTITY {};", identifier(name), word),
            "what an UPDATE or DELETE carries to find the old row",
            full ? "whole old rows in the WAL; a short ACCESS EXCLUSIVE lock on the table"
                 : "a short ACCESS EXCLUSIVE lock on the table");
        return;
      }
  }

  void publish(const Publication& to) {
    if (not from_.publications.contains(to.name)) {
      add(to.server,
          fmt::format("CREATE PUBLICATION {} FOR TABLE {};", identifier(to.name), identifiers(to.tables)),
          "the tables of another subscription");
      return;
    }
    const Publication& from = from_.publications.at(to.name);
    if (from.tables != to.tables and to.row_filters.empty() and to.column_lists.empty())
      add(to.server,
          fmt::format("ALTER PUBLICATION {} SET TABLE {};", identifier(to.name), identifiers(to.tables)),
          "it keeps a part of its tables",
          "changes of the others are no longer sent through it: do it while nobody writes to them and the "
          "subscription has caught up");
    std::vector<std::string> operations;
    for (const auto& [published, word] :
         {std::pair(to.inserts, "insert"), std::pair(to.updates, "update"), std::pair(to.deletes, "delete")})
      if (published)
        operations.emplace_back(word);
    if (from.inserts != to.inserts or from.updates != to.updates or from.deletes != to.deletes)
      add(to.server,
          fmt::format("ALTER PUBLICATION {} SET (publish = '{}');", identifier(to.name),
                      fmt::join(operations, ", ")),
          "which operations are sent", "the subscriber no longer follows the others");
  }

  void alter(const Subscription& to, const std::string& option, const std::string& reason,
             const std::string& effects) {
    add(to.server, fmt::format("ALTER SUBSCRIPTION {} SET ({});", identifier(to.name), option), reason,
        effects);
  }

  void subscribe(const Subscription& from, const Subscription& to) {
    if (from.streaming != to.streaming)
      stream(to);
    if (from.binary != to.binary)
      alter(to, fmt::format("binary = {}", to.binary ? "on" : "off"), "how values travel",
            to.binary ? "both sides need the same column types" : "");
    if (from.commits_wait_for_flush != to.commits_wait_for_flush)
      alter(to, fmt::format("synchronous_commit = {}", to.commits_wait_for_flush ? "on" : "off"),
            "whether the apply worker waits for its own flushes",
            to.commits_wait_for_flush ? "apply pays a flush for each transaction" : "");
    if (from.disable_on_error != to.disable_on_error)
      alter(to, fmt::format("disable_on_error = {}", to.disable_on_error ? "on" : "off"),
            "what an apply error does",
            to.disable_on_error ? "somebody has to notice and enable it again; WAL is held back meanwhile"
                                : "");
    if (from.retain_dead_tuples != to.retain_dead_tuples) {
      add(to.server, fmt::format("ALTER SUBSCRIPTION {} DISABLE;", identifier(to.name)),
          "the next option can only be changed while it is disabled", "WAL is held back meanwhile");
      alter(to, fmt::format("retain_dead_tuples = {}", to.retain_dead_tuples ? "on" : "off"),
            "dead rows for conflict detection",
            to.retain_dead_tuples ? "vacuum on the subscriber is held back" : "");
      add(to.server, fmt::format("ALTER SUBSCRIPTION {} ENABLE;", identifier(to.name)), "apply goes on");
    }
  }

  void stream(const Subscription& to) {
    switch (to.streaming) {
    case Streaming::Off:
      alter(to, "streaming = off", "large transactions are sent when they have committed",
            "what logical_decoding_work_mem does not hold is spilled to the publisher's disk; locks on the "
            "subscriber are held only while a transaction is applied");
      break;
    case Streaming::On:
      alter(to, "streaming = on", "large transactions are sent while they run",
            "they wait in files on the subscriber's disk and are applied after their commit");
      break;
    case Streaming::Parallel:
      alter(to, "streaming = parallel", "large transactions are applied while they run",
            "their locks on the subscriber are held from the first chunk to the commit, as long as the "
            "publisher's "
            "transaction lasts, and vacuum is held back as long; workers come from "
            "max_logical_replication_workers");
      break;
    }
  }

  void create(const Subscription& to) {
    const Publication& publication = to_.publications.at(to.publication);
    const char* streaming = to.streaming == Streaming::Parallel ? "parallel"
                            : to.streaming == Streaming::On     ? "on"
                                                                : "off";
    std::string options = fmt::format("connect = false, slot_name = {}", quoted(to.name));
    const Version& version = to_.servers.at(to.server).version;
    if (version.major >= 14)
      options += fmt::format(", streaming = {}", streaming);
    add(publication.server,
        fmt::format("SELECT pg_create_logical_replication_slot({}, 'pgoutput');", quoted(to.name)),
        "the slot of the new subscription, made at the moment from which on it gets these tables",
        "holds back WAL until the subscription reads it");
    add(to.server,
        fmt::format("CREATE SUBSCRIPTION {} CONNECTION {} PUBLICATION {} WITH ({});", identifier(to.name),
                    quoted("host=" + to_.servers.at(publication.server).host + " dbname=postgres"),
                    identifier(to.publication), options),
        "one more apply worker, for a part of the tables",
        "transactions that touch tables of two subscriptions are no longer applied as one; a slot, a "
        "walsender that "
        "decodes all WAL once more, and a worker are taken. Put your own connection in, then enable and "
        "refresh "
        "it (copy_data = false)");
  }

  const Scenario& from_;
  const Scenario& to_;
  std::vector<Statement> out_;
};

} // namespace

std::vector<Statement> statements_between(const Scenario& from, const Scenario& to,
                                          const std::vector<std::pair<std::string, std::string>>& changes) {
  return Differences(from, to).run(changes);
}

} // namespace replisim
