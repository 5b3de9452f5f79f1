// What does not fit together in the workload: fields of another kind, loads without an end, rows that are
// not there.
#include "sim/scenario/scenario_parts.hpp"

#include "models/base/units.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <optional>
#include <queue>
#include <set>
#include <tuple>

namespace replisim {

namespace {

/// What an entry of one kind may say, besides `server`.
struct Kind {
  LoadKind kind;
  std::string_view name;
  std::string_view mark; ///< what makes it one
  std::vector<std::string_view> fields;
};

const std::array<Kind, 6>& kinds() {
  static const std::array<Kind, 6> all = {
      Kind{LoadKind::Batch,
           "a transaction at a given time",
           "it has none of `rate`, `clients`, `other_wal`, `replay` and `ddl`",
           {"transaction", "at", "every", "times", "ends", "prepared_for", "sessions"}},
      Kind{LoadKind::Flow,
           "a flow of small transactions",
           "it has a `rate`",
           {"transaction", "rate", "arrivals", "from", "until", "curve", "curve_period"}},
      Kind{
          LoadKind::OtherWal, "WAL of other databases", "it has `other_wal`", {"other_wal", "from", "until"}},
      Kind{LoadKind::Replay, "a replay", "it has a `replay`", {"replay"}},
      Kind{LoadKind::Ddl,
           "a statement that changes the catalog",
           "it has `ddl`",
           {"ddl", "table", "publication", "relations", "open", "other_database", "at", "every", "times",
            "rate", "arrivals", "from", "until"}},
      Kind{LoadKind::Clients,
           "clients in a closed loop",
           "it has `clients`",
           {"clients", "threads", "host", "think_time", "rate", "mix", "scale", "transactions", "from",
            "until"}}};
  return all;
}

bool holds(const Kind& kind, std::string_view field) {
  return std::find(kind.fields.begin(), kind.fields.end(), field) != kind.fields.end();
}

/// Rows that one statement of a run needs, given what earlier statements of the run added and removed.
struct Need {
  std::string table;
  Rows required = 0; ///< when the run begins
  Rows changed = 0;
  std::string verb;
  std::string path;
  Position at;
};

/// What one run of a batch does to the number of rows.
struct RunPlan {
  std::vector<Need> needs;
  std::map<std::string, Rows> change;
};

class WorkloadCheck {
public:
  explicit WorkloadCheck(Building& building)
      : building_(building), root_(building.root), scenario_(building.scenario),
        problems_(building.problems) {}

  void check() {
    const std::vector<NamedFields> entries = named_entries(root_, "workload");
    for (const NamedFields& entry : entries)
      check_entry(entry);
    check_rows(entries);
  }

private:
  void check_entry(const NamedFields& entry) {
    check_kind(entry);
    switch (load_kind(entry.fields)) {
    case LoadKind::Batch:
      check_runs(entry);
      break;
    case LoadKind::Flow:
      check_span(entry);
      check_curve(entry);
      break;
    case LoadKind::OtherWal:
      check_span(entry);
      break;
    case LoadKind::Ddl:
      if (entry.fields.node().find("rate") != nullptr)
        check_span(entry);
      else
        check_runs(entry);
      break;
    case LoadKind::Replay:
      break;
    case LoadKind::Clients:
      check_span(entry);
      break;
    }
    if (not entry.fields.usable("server") or not check_publisher(entry))
      return;
    if (load_kind(entry.fields) == LoadKind::Replay)
      check_replay(building_, entry);
    if (const Node* steps = entry.fields.given("transaction"))
      for (std::size_t i = 0; i < steps->items.size(); ++i)
        check_published(steps->items[i], fmt::format("{}.transaction[{}]", entry.path, i),
                        entry.fields.text("server"));
    check_client_statements(entry);
  }

  void check_client_statements(const NamedFields& entry) {
    const Node* transactions = entry.fields.given("transactions");
    if (transactions == nullptr or load_kind(entry.fields) != LoadKind::Clients)
      return;
    for (std::size_t i = 0; i < transactions->items.size(); ++i) {
      const Node* statements = transactions->items[i].find("statements");
      for (std::size_t k = 0; statements != nullptr and k < statements->items.size(); ++k)
        check_published(statements->items[k],
                        fmt::format("{}.transactions[{}].statements[{}]", entry.path, i, k),
                        entry.fields.text("server"), "statement");
    }
  }

  void check_kind(const NamedFields& entry) {
    const Node& node = entry.fields.node();
    const ObjectDescriptor& object = object_of("load");
    const bool mistyped = std::any_of(node.entries.begin(), node.entries.end(), [&](const MapEntry& field) {
      return object.find(field.key) == nullptr;
    });
    if (mistyped)
      return; // the mistyped key may be what makes it another kind
    const LoadKind is = load_kind(entry.fields);
    const Kind& own =
        *std::find_if(kinds().begin(), kinds().end(), [&](const Kind& k) { return k.kind == is; });
    for (const MapEntry& field : node.entries) {
      if (field.key == "server" or holds(own, field.key))
        continue;
      std::vector<std::string_view> owners;
      for (const Kind& kind : kinds())
        if (holds(kind, field.key))
          owners.push_back(kind.name);
      problems_.add(field.at, entry.path + "." + field.key,
                    fmt::format("`{}` belongs to {}; this entry is {}, as {}", field.key,
                                fmt::join(owners, " and to "), own.name, own.mark));
    }
    if (is == LoadKind::OtherWal or is == LoadKind::Ddl or is == LoadKind::Replay or is == LoadKind::Clients)
      return;
    const Node* steps = node.find("transaction");
    if (steps == nullptr and is == LoadKind::Flow)
      problems_.add(node.at, entry.path + ".transaction",
                    "`transaction` is missing: the statements of one transaction of the flow");
    else if (steps == nullptr)
      problems_.add(
          node.at, entry.path,
          "says nothing to do; an entry has a `transaction`, a flow of small ones has a `rate` besides, "
          "clients in a closed loop have `clients` and a `mix`, WAL of other databases is `other_wal`, "
          "a statement that changes the catalog is `ddl`, "
          "transactions from a file are a `replay`");
    else if (not steps->bad and steps->items.empty())
      problems_.add(steps->at, entry.path + ".transaction", "is empty; at least one step is needed");
  }

  void check_runs(const NamedFields& entry) {
    const auto& [name, path, fields] = entry;
    const Node* every = fields.node().find("every");
    const Node* times = fields.node().find("times");
    const bool sound = fields.usable("every") and fields.usable("times");
    if (sound and every == nullptr and fields.integer("times") > 1)
      problems_.add(times->at, path + ".times",
                    "more than one run needs `every`, the distance of their starts");
    if (sound and every != nullptr and times != nullptr and fields.integer("times") == 1)
      problems_.add(every->at, path + ".every", "one run has no distance from the next; raise `times`");
    if (every != nullptr and times == nullptr and not run_has_end(root_))
      problems_.add(every->at, path + ".every",
                    "it repeats without end; give it `times`, or `observe.until` a duration");
    warn_if_late(entry, "at");
  }

  void check_span(const NamedFields& entry) {
    const auto& [name, path, fields] = entry;
    const Node* until = fields.given("until");
    if (until != nullptr and fields.usable("from") and fields.number("until") <= fields.number("from"))
      problems_.add(until->at, path + ".until",
                    fmt::format("{} is not after `from`, {}", until->text, fields.text("from")));
    if (fields.node().find("until") == nullptr and not run_has_end(root_))
      problems_.add(fields.node().at, path,
                    "it goes on without end; give it `until`, or `observe.until` a duration");
    warn_if_late(entry, "from");
  }

  void warn_if_late(const NamedFields& entry, std::string_view start) {
    const double end_s = scenario_.observe.until_s;
    if (end_s > 0 and entry.fields.number(start) >= end_s)
      scenario_.warnings.push_back(fmt::format("{} begins at {}, the run ends at {}: it never runs",
                                               entry.path, format_duration(entry.fields.number(start)),
                                               format_duration(end_s)));
  }

  void check_curve(const NamedFields& entry) {
    const auto& [name, path, fields] = entry;
    const Node* points = fields.given("curve");
    const Node* period = fields.given("curve_period");
    if (fields.node().find("curve") == nullptr and period != nullptr)
      problems_.add(period->at, path + ".curve_period", "there is no `curve` to repeat");
    if (points == nullptr)
      return;
    double last_s = -1;
    std::string last;
    for (std::size_t i = 0; i < points->items.size(); ++i) {
      if (points->items[i].bad)
        return;
      const Fields point(points->items[i], object_of("curve_point"));
      if (not point.usable("at"))
        return;
      if (point.number("at") <= last_s)
        problems_.add(
            point.at("at"), fmt::format("{}.curve[{}].at", path, i),
            fmt::format("the points stand in order of time; {} comes after {}", point.text("at"), last));
      last_s = point.number("at");
      last = point.text("at");
    }
    if (period != nullptr and fields.number("curve_period") <= last_s)
      problems_.add(
          period->at, path + ".curve_period",
          fmt::format("the curve starts again after {}, before its last point at {}", period->text, last));
  }

  bool check_publisher(const NamedFields& entry) {
    const std::string server = entry.fields.text("server");
    const auto& publications = scenario_.publications;
    const bool publishes = std::any_of(publications.begin(), publications.end(),
                                       [&](const auto& p) { return p.second.server == server; });
    const auto nodes = named_entries(root_, "publications");
    const bool unsure = std::any_of(nodes.begin(), nodes.end(),
                                    [](const NamedFields& p) { return not p.fields.usable("server"); });
    if (publishes or unsure or root_.find("publications") == nullptr or runs_on_subscriber(entry))
      return publishes;
    problems_.add(
        entry.fields.at("server"), entry.path + ".server",
        fmt::format("no publication is on {}: nothing of this workload would be replicated", server));
    return false;
  }

  /// Sessions of a subscriber beside its apply workers: a flow, or clients in a closed loop.
  bool runs_on_subscriber(const NamedFields& entry) const {
    const LoadKind kind = load_kind(entry.fields);
    if (kind != LoadKind::Flow and kind != LoadKind::Clients)
      return false;
    const auto& subscriptions = scenario_.subscriptions;
    return std::any_of(subscriptions.begin(), subscriptions.end(), [&](const auto& subscription) {
      return subscription.second.server == entry.fields.text("server");
    });
  }

  /// The statement of a step: insert, update, delete; empty for other steps and where it is mistaken.
  static std::string verb_of(const Fields& step) {
    for (const char* verb : {"insert", "update", "delete"})
      if (step.given(verb) != nullptr)
        return verb;
    return {};
  }

  void check_published(const Node& node, const std::string& path, const std::string& server,
                       std::string_view object = "step") {
    if (node.bad)
      return;
    const Fields step(node, object_of(object));
    const std::string verb = verb_of(step);
    const std::string table_name = verb.empty() ? "" : step.text(verb);
    const Node* table = find_entry(root_, "tables", table_name);
    if (table == nullptr)
      return;
    const auto publishes = [&](const auto& entry) {
      const auto& tables = entry.second.tables;
      return entry.second.server == server and
             std::find(tables.begin(), tables.end(), table_name) != tables.end();
    };
    const auto& publications = scenario_.publications;
    const auto published = std::find_if(publications.begin(), publications.end(), publishes);
    if (published != publications.end())
      check_identity(step, path, verb, *table, published->first);
    else if (publications_are_sure())
      scenario_.warnings.push_back(fmt::format("{}: no publication of {} holds {}; its changes are decoded "
                                               "and buffered like all others, but never sent",
                                               path, server, table_name));
  }

  bool publications_are_sure() const {
    const auto nodes = named_entries(root_, "publications");
    return std::all_of(nodes.begin(), nodes.end(), [](const NamedFields& entry) {
      return entry.fields.usable("tables") and
             names_in(entry.fields, "tables").size() == entry.fields.given("tables")->items.size();
    });
  }

  void check_identity(const Fields& step, const std::string& path, const std::string& verb, const Node& node,
                      const std::string& publication) {
    const Fields fields(node, object_of("table"));
    const Table& table = scenario_.tables.at(step.text(verb));
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
                                verb, table.name, publication));
  }

  /// Rows of each table as the runs of all batches follow each other. Flows change the same rows again and
  /// again, and what they insert is not counted: tables they insert into are left alone.
  void check_rows(const std::vector<NamedFields>& entries) {
    using Start = std::tuple<double, std::size_t, std::int64_t>; // time, batch, run
    std::priority_queue<Start, std::vector<Start>, std::greater<>> starts;
    std::vector<std::optional<RunPlan>> plans;
    for (const BatchLoad& batch : scenario_.batches) {
      const auto entry = std::find_if(entries.begin(), entries.end(),
                                      [&](const NamedFields& e) { return e.name == batch.name; });
      starts.emplace(batch.at_s, plans.size(), 0);
      plans.push_back(plan_of(*entry, batch));
    }
    std::map<std::string, Rows> rows;
    for (const auto& [name, table] : scenario_.tables)
      rows[name] = table.initial_rows;
    const std::set<std::string> uncounted = uncounted_tables();
    while (not starts.empty()) {
      const auto [at_s, index, run] = starts.top();
      starts.pop();
      const BatchLoad& batch = scenario_.batches[index];
      if (not plans[index] or not run_fits(*plans[index], batch, run, rows, uncounted))
        return; // the counts that follow would be wrong
      for (const auto& [table, change] : plans[index]->change)
        rows[table] += change;
      const double next_s = batch.at_s + static_cast<double>(run + 1) * batch.every_s;
      const double end_s = scenario_.observe.until_s;
      if (batch.every_s > 0 and run + 1 < batch.times and (end_s == 0 or next_s < end_s))
        starts.emplace(next_s, index, run + 1);
    }
  }

  std::set<std::string> uncounted_tables() const {
    std::set<std::string> out;
    for (const FlowLoad& flow : scenario_.flows)
      for (const StatementStep& step : flow.transaction)
        if (step.operation == Operation::Insert)
          out.insert(step.table);
    for (const ReplayLoad& replay : scenario_.replays)
      for (const auto& steps : replay.distinct)
        for (const TransactionStep& step : steps)
          if (const auto* statement = std::get_if<StatementStep>(&step))
            out.insert(statement->table);
    for (const ClientLoad& load : scenario_.clients)
      for (const ClientScript& script : load.scripts)
        for (const StatementStep& step : script.flow.transaction)
          if (step.operation != Operation::Update)
            out.insert(step.table);
    return out;
  }

  bool run_fits(const RunPlan& plan, const BatchLoad& batch, std::int64_t run,
                const std::map<std::string, Rows>& rows, const std::set<std::string>& uncounted) {
    for (const Need& need : plan.needs) {
      const Rows present = rows.at(need.table);
      if (present >= need.required or uncounted.contains(need.table))
        continue;
      const std::string which = batch.times == 1 ? "" : fmt::format(" of run {} of {}", run + 1, batch.times);
      problems_.add(
          need.at, need.path,
          fmt::format("{} of {} rows, but {} holds {} at that point{} (`tables.{}.rows` says how many "
                      "there are at the start)",
                      need.verb, format_count(need.changed), need.table,
                      format_count(present + need.changed - need.required), which, need.table));
      return false;
    }
    return true;
  }

  /// Nothing when a step holds a mistake.
  std::optional<RunPlan> plan_of(const NamedFields& entry, const BatchLoad& batch) const {
    RunPlan plan;
    const Node* steps = entry.fields.given("transaction");
    if (steps == nullptr)
      return std::nullopt;
    std::map<std::string, std::map<std::string, Rows>> savepoints;
    for (std::size_t i = 0; i < steps->items.size(); ++i) {
      if (steps->items[i].bad)
        return std::nullopt;
      const Fields step(steps->items[i], object_of("step"));
      if (step.given("pause") != nullptr or step.given("release") != nullptr)
        continue;
      if (step.given("savepoint") != nullptr) {
        savepoints[step.text("savepoint")] = plan.change;
      } else if (step.given("rollback_to") != nullptr) {
        const auto known = savepoints.find(step.text("rollback_to"));
        if (known == savepoints.end())
          return std::nullopt;
        plan.change = known->second;
      } else if (not add_statement(plan, step, fmt::format("{}.transaction[{}]", entry.path, i),
                                   batch.sessions)) {
        return std::nullopt;
      }
    }
    if (batch.rolls_back)
      plan.change.clear();
    return plan;
  }

  bool add_statement(RunPlan& plan, const Fields& step, const std::string& path, Rows sessions) const {
    const std::string verb = verb_of(step);
    if (verb.empty() or step.given("rows") == nullptr or not step.usable("rolled_back"))
      return false;
    const std::string table = step.text(verb);
    const Node* node = find_entry(root_, "tables", table);
    if (node == nullptr or not Fields(*node, object_of("table")).usable("rows"))
      return false;
    const Rows changed = step.integer("rows") * sessions;
    const auto kept = changed - std::llround(static_cast<double>(changed) * step.number("rolled_back"));
    Rows& change = plan.change[table];
    if (verb != "insert")
      plan.needs.push_back({table, changed - change, changed, verb, path + ".rows", step.at("rows")});
    if (verb == "insert")
      change += kept;
    if (verb == "delete")
      change -= kept;
    return true;
  }

  Building& building_;
  const Node& root_;
  Scenario& scenario_;
  Problems& problems_;
};

} // namespace

void check_workload(Building& building) {
  WorkloadCheck(building).check();
  check_clients(building);
}

} // namespace replisim
