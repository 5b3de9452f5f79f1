// What does not fit together: mistakes that no single field of a scenario shows.
#include "sim/scenario/scenario_parts.hpp"

#include "models/base/units.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <set>

namespace replisim {

namespace {

/// A row that PostgreSQL would compress or store out of line (TOAST_TUPLE_THRESHOLD of an 8 kB page).

class Contradictions {
public:
  explicit Contradictions(Building& building)
      : root_(building.root), scenario_(building.scenario), problems_(building.problems) {}

  void check() {
    check_settings();
    check_row_filters();
    check_column_lists();
    for (const NamedFields& entry : named_entries(root_, "subscriptions"))
      check_subscription(entry);
    for (const NamedFields& entry : named_entries(root_, "consumers"))
      check_consumer(entry);
    check_slots();
  }

private:
  /// The server's description, when host and version can be relied on.
  const Server* sound_server(const std::string& name) const {
    const Node* node = find_entry(root_, "servers", name);
    if (node == nullptr)
      return nullptr;
    const Fields fields(*node, object_of("server"));
    return fields.usable("host") and fields.usable("version") ? &scenario_.servers.at(name) : nullptr;
  }

  const Publication* sound_publication(const std::string& name) const {
    const Node* node = find_entry(root_, "publications", name);
    if (node == nullptr)
      return nullptr;
    const Fields fields(*node, object_of("publication"));
    return fields.usable("server") and fields.usable("tables") ? &scenario_.publications.at(name) : nullptr;
  }

  void check_settings() {
    std::set<std::string> idle;
    for (const auto& [name, path, fields] : named_entries(root_, "servers")) {
      const Node* settings = fields.given("settings");
      if (settings == nullptr or sound_server(name) == nullptr)
        continue;
      for (const MapEntry& entry : settings->entries) {
        if (entry.value.bad)
          continue;
        const GucDescriptor& guc = *find_guc(entry.key);
        check_setting_version(guc, entry, path + ".settings." + entry.key, scenario_.servers.at(name));
        if (not guc.modelled and guc.name != "wal_level")
          idle.insert(entry.key);
      }
    }
    if (not idle.empty())
      scenario_.warnings.push_back(
          fmt::format("settings without effect on the simulation: {}", fmt::join(idle, ", ")));
    for (const auto& [name, path, fields] : named_entries(root_, "publications"))
      if (sound_server(fields.text("server")) != nullptr)
        check_wal_level(fields.text("server"));
  }

  void check_setting_version(const GucDescriptor& guc, const MapEntry& entry, const std::string& path,
                             const Server& server) {
    const int major = server.version.major;
    if (major < guc.since_major)
      problems_.add(entry.at, path,
                    fmt::format("{} exists from PostgreSQL {} on; {} is version {}", guc.name,
                                guc.since_major, server.name, to_string(server.version)));
    if (major > guc.until_major)
      problems_.add(entry.at, path,
                    fmt::format("{} existed up to PostgreSQL {}; {} is version {}", guc.name, guc.until_major,
                                server.name, to_string(server.version)));
  }

  void check_wal_level(const std::string& server) {
    const Node* settings = find_entry(root_, "servers", server)->find("settings");
    const Node* level = settings == nullptr ? nullptr : settings->find("wal_level");
    if (level != nullptr and not level->bad and level->text != "logical")
      problems_.add(
          level->at, "servers." + server + ".settings.wal_level",
          fmt::format("{} has a publication, which needs wal_level logical, not {}", server, level->text));
  }

  void check_subscription(const NamedFields& entry) {
    const auto& [name, path, fields] = entry;
    if (not fields.usable("server") or not fields.usable("publication"))
      return;
    const Subscription& subscription = scenario_.subscriptions.at(name);
    const Server* subscriber = sound_server(subscription.server);
    const Publication* publication = sound_publication(subscription.publication);
    const Server* publisher = publication == nullptr ? nullptr : sound_server(publication->server);
    if (subscriber == nullptr or publisher == nullptr)
      return;
    if (subscriber == publisher) {
      problems_.add(fields.at("publication"), path + ".publication",
                    fmt::format("publication {} is on {} too; a server cannot subscribe to itself here",
                                publication->name, subscriber->name));
      return;
    }
    check_streaming(fields, path, subscription, *publisher, *subscriber);
    check_retention(fields, path, *publisher, *subscriber);
    if (fields.flag("binary") and (subscriber->version.major < 14 or publisher->version.major < 14))
      problems_.add(fields.at("binary"), path + ".binary",
                    fmt::format("binary exists from PostgreSQL 14 on; {} is version {} and {} is version {}",
                                publisher->name, to_string(publisher->version), subscriber->name,
                                to_string(subscriber->version)));
    check_link(fields, path, *publisher, subscriber->name, subscriber->host);
  }

  void check_retention(const Fields& fields, const std::string& path, const Server& publisher,
                       const Server& subscriber) {
    constexpr int first_major = 19;
    const Node* longest = fields.given("max_retention_duration");
    if (not fields.flag("retain_dead_tuples")) {
      if (longest != nullptr and fields.number("max_retention_duration") > 0)
        scenario_.warnings.push_back(
            fmt::format("{}.max_retention_duration has no effect without `retain_dead_tuples: on`", path));
      return;
    }
    const Position& at = fields.at("retain_dead_tuples");
    if (subscriber.version.major < first_major or publisher.version.major < first_major) {
      problems_.add(
          at, path + ".retain_dead_tuples",
          fmt::format("on needs PostgreSQL 19 or later on both sides; {} is version {}, {} is version {}",
                      subscriber.name, to_string(subscriber.version), publisher.name,
                      to_string(publisher.version)));
      return;
    }
    check_own_slot(subscriber, at, path);
    const Node* settings = find_entry(root_, "servers", subscriber.name)->find("settings");
    const Node* commit_times = settings == nullptr ? nullptr : settings->find("track_commit_timestamp");
    if (commit_times == nullptr or commit_times->bad or
        not subscriber.settings.flag("track_commit_timestamp"))
      scenario_.warnings.push_back(fmt::format(
          "{}.retain_dead_tuples: dead rows are kept, but without track_commit_timestamp on {} no "
          "conflict is detected with them",
          path, subscriber.name));
  }

  /// Slot pg_conflict_detection is one of the subscriber's own; from 19 on wal_level replica will do.
  void check_own_slot(const Server& subscriber, const Position& at, const std::string& path) {
    if (subscriber.settings.number("max_replication_slots") < 1)
      problems_.add(at, path + ".retain_dead_tuples",
                    fmt::format("on needs a replication slot on {}, pg_conflict_detection; "
                                "servers.{}.settings.max_replication_slots is 0",
                                subscriber.name, subscriber.name));
    if (subscriber.settings.text("wal_level") == "minimal")
      problems_.add(
          at, path + ".retain_dead_tuples",
          fmt::format("on needs a replication slot on {}, which its wal_level minimal does not allow",
                      subscriber.name));
  }

  void check_streaming(const Fields& fields, const std::string& path, const Subscription& subscription,
                       const Server& publisher, const Server& subscriber) {
    if (fields.given("streaming") == nullptr or subscription.streaming == Streaming::Off)
      return;
    const bool parallel = subscription.streaming == Streaming::Parallel;
    for (const Server* server : {&publisher, &subscriber}) {
      const VersionTraits traits = traits_of(server->version);
      if (parallel ? traits.parallel_apply_available : traits.streaming_available)
        continue;
      const char* advice = parallel and traits.streaming_available ? "off and on" : "off";
      problems_.add(fields.at("streaming"), path + ".streaming",
                    fmt::format("{} needs PostgreSQL {} on both sides; {} is version {} (possible: {})",
                                to_string(subscription.streaming), parallel ? 16 : 14, server->name,
                                to_string(server->version), advice));
      return;
    }
  }

  /// `reader` is a name for messages.
  void check_link(const Fields& fields, const std::string& path, const Server& publisher,
                  const std::string& reader, const std::string& reader_host) {
    const Node* links = root_.find("links");
    if (publisher.host == reader_host or (links != nullptr and links->bad))
      return;
    const auto has_mistake = [](const Node& link) {
      const Node* between = link.bad ? nullptr : Fields(link, object_of("link")).given("between");
      return between == nullptr or std::any_of(between->items.begin(), between->items.end(),
                                               [](const Node& end) { return end.bad; });
    };
    if (links != nullptr and std::any_of(links->items.begin(), links->items.end(), has_mistake))
      return;
    const auto joins = [&](const Link& link) {
      return (link.from == publisher.host and link.to == reader_host) or
             (link.from == reader_host and link.to == publisher.host);
    };
    if (std::none_of(scenario_.links.begin(), scenario_.links.end(), joins))
      problems_.add(fields.node().at, path,
                    fmt::format("{} on host {} and {} on host {} replicate, but no link joins the hosts; add "
                                "one to `links`",
                                publisher.name, publisher.host, reader, reader_host));
  }

  void check_row_filters() {
    for (const auto& [name, path, fields] : named_entries(root_, "publications")) {
      const Server* server = sound_server(fields.text("server"));
      if (server != nullptr and server->version.major < 15 and
          not scenario_.publications.at(name).row_filters.empty())
        problems_.add(fields.at("row_filters"), path + ".row_filters",
                      fmt::format("row filters exist from PostgreSQL 15 on; {} is version {}", server->name,
                                  to_string(server->version)));
    }
  }

  void check_column_lists() {
    for (const auto& [name, path, fields] : named_entries(root_, "publications")) {
      const Publication& publication = scenario_.publications.at(name);
      const Server* server = sound_server(fields.text("server"));
      if (server != nullptr and server->version.major < 15 and not publication.column_lists.empty())
        problems_.add(fields.at("column_lists"), path + ".column_lists",
                      fmt::format("column lists exist from PostgreSQL 15 on; {} is version {}", server->name,
                                  to_string(server->version)));
      for (const auto& [table_name, columns] : publication.column_lists) {
        const auto table = scenario_.tables.find(table_name);
        const auto covered = [&, &listed = columns](int key) {
          return std::find(listed.begin(), listed.end(), key) != listed.end();
        };
        if (table == scenario_.tables.end() or (not publication.updates and not publication.deletes))
          continue;
        const auto& key = table->second.primary_key;
        if (not std::all_of(key.begin(), key.end(), covered))
          scenario_.warnings.push_back(fmt::format(
              "{}.column_lists.{} does not cover the replica identity: a real server would refuse "
              "UPDATE and DELETE of {}",
              path, table_name, table_name));
      }
    }
  }

  void check_consumer(const NamedFields& entry) {
    const auto& [name, path, fields] = entry;
    if (find_entry(root_, "subscriptions", name) != nullptr)
      problems_.add(fields.node().at, path,
                    fmt::format("a subscription is named {} too; each has a slot of that name", name));
    check_confirming(fields, path);
    check_connecting(entry);
    if (not fields.usable("host") or not fields.usable("publication"))
      return;
    const Publication* publication = sound_publication(fields.text("publication"));
    const Server* publisher = publication == nullptr ? nullptr : sound_server(publication->server);
    if (publisher == nullptr)
      return;
    if (fields.text("streaming") == "on" and not traits_of(publisher->version).streaming_available)
      problems_.add(fields.at("streaming"), path + ".streaming",
                    fmt::format("on needs a publisher of PostgreSQL 14 or later; {} is version {}",
                                publisher->name, to_string(publisher->version)));
    check_link(fields, path, *publisher, name, fields.text("host"));
  }

  void check_confirming(const Fields& fields, const std::string& path) {
    const bool by_interval = fields.text("confirms") == "interval";
    const bool has_interval = fields.node().find("confirm_interval") != nullptr;
    if (not fields.usable("confirms") or by_interval == has_interval)
      return;
    if (by_interval)
      problems_.add(fields.at("confirms"), path + ".confirm_interval",
                    "`confirm_interval` is missing: how often it confirms, with `confirms: interval`");
    else
      problems_.add(
          fields.at("confirm_interval"), path + ".confirm_interval",
          fmt::format("goes with `confirms: interval` only; here `confirms` is {}", fields.text("confirms")));
  }

  void check_connecting(const NamedFields& entry) {
    const auto& [name, path, fields] = entry;
    if (fields.node().find("connects_every") != nullptr) {
      for (const char* key : {"connected_from", "connected_until"})
        if (fields.node().find(key) != nullptr)
          problems_.add(fields.at(key), path + "." + key,
                        fmt::format("`{}` does not go with `connects_every`: a consumer is connected for one "
                                    "span of time or by a timetable",
                                    key));
      return;
    }
    const Node* until = fields.given("connected_until");
    if (until == nullptr)
      return;
    if (fields.number("connected_until") <= fields.number("connected_from"))
      problems_.add(
          until->at, path + ".connected_until",
          fmt::format("{} is not after `connected_from`, {}", until->text, fields.text("connected_from")));
    if (not run_has_end(root_))
      problems_.add(until->at, path + ".connected_until",
                    fmt::format("{} may never catch up once it reads no more, so the run would not end; give "
                                "`observe.until` a duration",
                                name));
  }

  void check_slots() {
    std::set<std::string> publishers; // with a slot
    const auto add = [&](const std::string& publication) {
      const auto known = scenario_.publications.find(publication);
      publishers.insert(known == scenario_.publications.end() ? "" : known->second.server);
    };
    for (const auto& [name, subscription] : scenario_.subscriptions)
      add(subscription.publication);
    for (const auto& [name, consumer] : scenario_.consumers)
      add(consumer.publication);
    for (const auto& [name, calls] : scenario_.decode)
      add(calls.publication);
    if (publishers.empty())
      scenario_.warnings.push_back(
          "nobody reads: there are neither subscriptions nor consumers, so nothing is "
          "decoded and nothing is sent");
    check_slot_limits();
    for (const auto& [name, server] : scenario_.servers)
      if (server.initial_retained_wal_bytes > 0 and not publishers.contains(name))
        scenario_.warnings.push_back(
            fmt::format("servers.{}.retained_wal has no effect: no slot is on {}", name, name));
  }

  /// More slots than a real server would create, or serve at a time.
  void check_slot_limits() {
    std::map<std::string, int> slots;
    const auto count = [&](const std::string& publication) {
      if (const auto known = scenario_.publications.find(publication); known != scenario_.publications.end())
        ++slots[known->second.server];
    };
    for (const auto& [name, subscription] : scenario_.subscriptions)
      count(subscription.publication);
    for (const auto& [name, consumer] : scenario_.consumers)
      count(consumer.publication);
    for (const auto& [name, number] : slots)
      if (const auto server = scenario_.servers.find(name); server != scenario_.servers.end())
        for (const char* limit : {"max_replication_slots", "max_wal_senders"})
          if (server->second.settings.number(limit) < number)
            scenario_.warnings.push_back(fmt::format(
                "servers.{}.settings.{} is {}, and {} slots are read: a real server would refuse the "
                "last ones",
                name, limit, server->second.settings.number(limit), number));
  }

  const Node& root_;
  Scenario& scenario_;
  Problems& problems_;
};

} // namespace

bool run_has_end(const Node& root) {
  const Node* observe = root.find("observe");
  if (observe == nullptr or observe->bad)
    return observe != nullptr;
  const Fields fields(*observe, object_of("observe"));
  return not fields.usable("until") or fields.number("until") > 0;
}

void check_contradictions(Building& building) {
  Contradictions(building).check();
  check_chains(building);
  check_workload(building);
  check_sizes(building);
  check_catalog_changes(building);
}

} // namespace replisim
