// What does not fit together: mistakes that no single field of a scenario shows.
#include "sim/scenario/scenario_parts.hpp"

#include "models/base/units.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <set>
#include <tuple>

namespace replisim {

namespace {

/// A row that PostgreSQL would compress or store out of line (TOAST_TUPLE_THRESHOLD of an 8 kB page).
constexpr Bytes toast_threshold_bytes = 2032;

class Contradictions {
public:
  explicit Contradictions(Building& building)
      : root_(building.root), scenario_(building.scenario), problems_(building.problems) {}

  void check() {
    check_settings();
    check_tables();
    for (const NamedFields& entry : named_entries(root_, "subscriptions"))
      check_subscription(entry);
    check_chains();
    check_workload();
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

  void check_tables() {
    for (const auto& [name, path, fields] : named_entries(root_, "tables")) {
      const Table& table = scenario_.tables.at(name);
      const Bytes length = tuple_len(table);
      if (fields.usable("columns") and length > toast_threshold_bytes)
        scenario_.warnings.push_back(
            fmt::format("rows of {} take {} bytes; PostgreSQL compresses values of rows above {} bytes or "
                        "stores them out of line, which is not simulated",
                        name, format_count(length), format_count(toast_threshold_bytes)));
    }
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
    if (fields.flag("binary") and (subscriber->version.major < 14 or publisher->version.major < 14))
      problems_.add(fields.at("binary"), path + ".binary",
                    fmt::format("binary exists from PostgreSQL 14 on; {} is version {} and {} is version {}",
                                publisher->name, to_string(publisher->version), subscriber->name,
                                to_string(subscriber->version)));
    else if (fields.flag("binary"))
      scenario_.warnings.push_back(path + ".binary: sizes and costs are computed as for text; binary output "
                                          "saves a walsender some 10 %");
    check_link(fields, path, *publisher, *subscriber);
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

  void check_link(const Fields& fields, const std::string& path, const Server& publisher,
                  const Server& subscriber) {
    const Node* links = root_.find("links");
    if (publisher.host == subscriber.host or (links != nullptr and links->bad))
      return;
    const auto has_mistake = [](const Node& link) {
      const Node* between = link.bad ? nullptr : Fields(link, object_of("link")).given("between");
      return between == nullptr or std::any_of(between->items.begin(), between->items.end(),
                                               [](const Node& end) { return end.bad; });
    };
    if (links != nullptr and std::any_of(links->items.begin(), links->items.end(), has_mistake))
      return;
    const auto joins = [&](const Link& link) {
      return (link.from == publisher.host and link.to == subscriber.host) or
             (link.from == subscriber.host and link.to == publisher.host);
    };
    if (std::none_of(scenario_.links.begin(), scenario_.links.end(), joins))
      problems_.add(fields.node().at, path,
                    fmt::format("{} on host {} and {} on host {} replicate, but no link joins the hosts; add "
                                "one to `links`",
                                publisher.name, publisher.host, subscriber.name, subscriber.host));
  }

  /// A server that publishes what it receives: its applied changes would have to be decoded again.
  void check_chains() {
    std::map<std::string, std::set<std::string>> received; // by server
    for (const auto& [name, subscription] : scenario_.subscriptions)
      if (const auto publication = scenario_.publications.find(subscription.publication);
          publication != scenario_.publications.end())
        received[subscription.server].insert(publication->second.tables.begin(),
                                             publication->second.tables.end());
    for (const auto& [name, path, fields] : named_entries(root_, "subscriptions")) {
      const Publication* publication = sound_publication(fields.text("publication"));
      if (publication == nullptr or publication->server == fields.text("server"))
        continue;
      for (const std::string& table : publication->tables)
        if (received[publication->server].contains(table))
          problems_.add(
              fields.at("publication"), path + ".publication",
              fmt::format("{} publishes {}, which it receives itself; chains of replication are not "
                          "part of this version",
                          publication->server, table));
    }
  }

  /// Rows of each table as the batches run one after the other, in order of time.
  using RowCounts = std::map<std::string, Rows>;

  void check_workload() {
    RowCounts rows;
    for (const auto& [name, table] : scenario_.tables)
      rows[name] = table.initial_rows;
    std::vector<NamedFields> batches = named_entries(root_, "workload");
    std::vector<std::tuple<double, std::string, const NamedFields*>> order;
    for (const NamedFields& batch : batches)
      order.emplace_back(batch.fields.number("at"), batch.name, &batch);
    std::sort(order.begin(), order.end());
    for (const auto& [at, name, batch] : order) {
      if (not batch->fields.usable("server") or not batch->fields.usable("transaction"))
        continue;
      if (check_publisher(*batch) and not check_steps(*batch, rows))
        return; // the counts that follow would be wrong
    }
  }

  bool check_publisher(const NamedFields& batch) {
    const std::string server = batch.fields.text("server");
    const auto& publications = scenario_.publications;
    const bool publishes = std::any_of(publications.begin(), publications.end(),
                                       [&](const auto& entry) { return entry.second.server == server; });
    const auto nodes = named_entries(root_, "publications");
    const bool unsure = std::any_of(nodes.begin(), nodes.end(), [](const NamedFields& entry) {
      return not entry.fields.usable("server");
    });
    if (not publishes and not unsure and root_.find("publications") != nullptr)
      problems_.add(
          batch.fields.at("server"), batch.path + ".server",
          fmt::format("no publication is on {}: nothing of this workload would be replicated", server));
    return publishes;
  }

  /// False when a step holds a mistake, reported here or before.
  bool check_steps(const NamedFields& batch, RowCounts& rows) {
    const Node& steps = *batch.fields.given("transaction");
    std::map<std::string, RowCounts> savepoints;
    for (std::size_t i = 0; i < steps.items.size(); ++i) {
      if (steps.items[i].bad)
        return false;
      const Fields step(steps.items[i], object_of("step"));
      const std::string path = fmt::format("{}.transaction[{}]", batch.path, i);
      if (step.given("savepoint") != nullptr) {
        savepoints[step.text("savepoint")] = rows;
        continue;
      }
      if (step.given("rollback_to") != nullptr) {
        const auto known = savepoints.find(step.text("rollback_to"));
        if (known == savepoints.end())
          return false;
        rows = known->second;
        continue;
      }
      if (not check_statement(step, path, batch.fields.text("server"), rows))
        return false;
    }
    return true;
  }

  bool check_statement(const Fields& step, const std::string& path, const std::string& server,
                       RowCounts& rows) {
    std::string verb;
    for (const char* candidate : {"insert", "update", "delete"})
      if (step.given(candidate) != nullptr)
        verb = candidate;
    if (verb.empty() or step.given("rows") == nullptr or not step.usable("rolled_back"))
      return false;
    const std::string table_name = step.text(verb);
    const Node* node = find_entry(root_, "tables", table_name);
    if (node == nullptr)
      return false;
    check_published(step, path, verb, server);
    const Fields table(*node, object_of("table"));
    if (not table.usable("rows"))
      return false;
    const Rows changed = step.integer("rows");
    const auto kept = changed - std::llround(static_cast<double>(changed) * step.number("rolled_back"));
    Rows& present = rows[table_name];
    if (verb != "insert" and changed > present) {
      problems_.add(
          step.at("rows"), path + ".rows",
          fmt::format("{} of {} rows, but {} holds {} at that point (`tables.{}.rows` says how many "
                      "there are at the start)",
                      verb, format_count(changed), table_name, format_count(present), table_name));
      return false;
    }
    if (verb == "insert")
      present += kept;
    if (verb == "delete")
      present -= kept;
    return true;
  }

  void check_published(const Fields& step, const std::string& path, const std::string& verb,
                       const std::string& server) {
    const std::string table_name = step.text(verb);
    const auto publishes = [&](const auto& entry) {
      const auto& tables = entry.second.tables;
      return entry.second.server == server and
             std::find(tables.begin(), tables.end(), table_name) != tables.end();
    };
    const auto& publications = scenario_.publications;
    const auto nodes = named_entries(root_, "publications");
    const bool unsure = std::any_of(nodes.begin(), nodes.end(), [](const NamedFields& entry) {
      return not entry.fields.usable("tables") or
             names_in(entry.fields, "tables").size() != entry.fields.given("tables")->items.size();
    });
    const auto published = std::find_if(publications.begin(), publications.end(), publishes);
    if (published == publications.end()) {
      if (not unsure)
        scenario_.warnings.push_back(fmt::format("{}: no publication of {} holds {}; its changes are decoded "
                                                 "and buffered like all others, but never sent",
                                                 path, server, table_name));
      return;
    }
    const Node& node = *find_entry(root_, "tables", table_name);
    const Fields fields(node, object_of("table"));
    const Table& table = scenario_.tables.at(table_name);
    if (verb == "insert" or not fields.usable("primary_key") or not fields.usable("replica_identity"))
      return;
    const bool identified =
        table.replica_identity == ReplicaIdentity::Full or
        (table.replica_identity == ReplicaIdentity::Default and node.find("primary_key") != nullptr and
         not node.find("primary_key")->items.empty());
    if (not identified)
      problems_.add(step.at(verb), path + "." + verb,
                    fmt::format("PostgreSQL refuses to {} rows of {}: publication {} publishes it and it has "
                                "no replica identity; give it a primary key or `replica_identity: full`",
                                verb, table_name, published->first));
  }

  const Node& root_;
  Scenario& scenario_;
  Problems& problems_;
};

} // namespace

void check_contradictions(Building& building) { Contradictions(building).check(); }

} // namespace replisim
