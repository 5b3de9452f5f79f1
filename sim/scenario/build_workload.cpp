// The workload from the checked tree: transactions, flows of small ones, WAL of other databases.
#include "sim/scenario/scenario_parts.hpp"

#include "models/base/suggest.hpp"
#include "models/ddl.hpp"
#include "sim/scenario/replay_file.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace replisim {

namespace {

/// The name of the savepoint behind `rolled_back`; no file can use it, because of the blank.
constexpr const char* implicit_savepoint = "rolled back";

/// Adds the steps of one list entry: itself, or what `rolled_back` stands for.
class StepBuilder {
public:
  StepBuilder(const Building& building, bool in_flow) : building_(building), in_flow_(in_flow) {}

  std::vector<TransactionStep> take() { return std::move(steps_); }

  void add(const Fields& fields, const std::string& path) {
    static constexpr std::string_view verbs[] = {"insert",      "update",  "delete", "savepoint",
                                                 "rollback_to", "release", "pause"};
    std::vector<std::string_view> found;
    bool usable = true;
    for (const std::string_view verb : verbs) {
      if (fields.node().find(verb) != nullptr)
        found.push_back(verb);
      usable = usable and fields.usable(verb);
    }
    if (found.size() != 1) {
      if (found.empty() and not has_bad_key(fields))
        problem(fields.node().at, path,
                "says nothing to do; a step is one of insert, update, delete, savepoint, rollback_to, "
                "release and "
                "pause");
      else if (not found.empty())
        problem(fields.node().at, path,
                fmt::format("{} stand in one step; each is a step of its own", fmt::join(found, " and ")));
      return;
    }
    const std::string_view verb = found.front();
    if (in_flow_ and not fits_flow(fields, path))
      return;
    if (verb == "pause")
      add_pause(fields, path);
    else if (verb == "savepoint" or verb == "rollback_to" or verb == "release")
      add_savepoint(fields, verb, path);
    else
      add_statement(fields, verb, path, usable);
  }

private:
  void problem(const Position& at, const std::string& path, const std::string& message) const {
    building_.problems.add(at, path, message);
  }

  static bool has_bad_key(const Fields& fields) {
    const auto& entries = fields.node().entries;
    return std::any_of(entries.begin(), entries.end(), [](const MapEntry& entry) { return entry.value.bad; });
  }

  void refuse(const Fields& fields, std::initializer_list<std::string_view> keys, std::string_view verb,
              const std::string& path) const {
    for (const std::string_view key : keys)
      if (fields.node().find(key) != nullptr)
        problem(fields.at(key), path + "." + std::string(key),
                fmt::format("`{}` does not go with {}", key, verb));
  }

  /// A flow's transactions are statements and nothing else.
  bool fits_flow(const Fields& fields, const std::string& path) const {
    bool fits = true;
    for (const std::string_view key : {"savepoint", "rollback_to", "release", "pause", "rolled_back"}) {
      if (fields.node().find(key) == nullptr)
        continue;
      fits = false;
      problem(fields.at(key), path + "." + std::string(key),
              fmt::format("`{}` does not stand in a flow: its transactions are statements and a commit; a "
                          "workload without `rate` can hold it",
                          key));
    }
    return fits;
  }

  void add_pause(const Fields& fields, const std::string& path) {
    refuse(fields, {"rows", "set", "rolled_back"}, "pause", path);
    if (fields.given("pause") != nullptr)
      steps_.emplace_back(PauseStep{fields.number("pause")});
  }

  void add_savepoint(const Fields& fields, std::string_view verb, const std::string& path) {
    refuse(fields, {"rows", "set", "rolled_back"}, verb, path);
    if (fields.given(verb) == nullptr)
      return;
    const std::string name = fields.text(verb);
    if (name.find(' ') != std::string::npos)
      problem(fields.at(verb), path + "." + std::string(verb),
              fmt::format("'{}': a savepoint's name holds no blanks", name));
    if (verb == "savepoint") {
      open_.push_back(name);
      steps_.emplace_back(SavepointStep{name});
      return;
    }
    const auto known = std::find(open_.rbegin(), open_.rend(), name);
    if (known == open_.rend()) {
      problem(fields.at(verb), path + "." + std::string(verb),
              open_.empty() ? fmt::format("unknown savepoint '{}'; no savepoint is open here", name)
                            : fmt::format("unknown savepoint '{}'{}", name, suggestion(name, open_)));
      return;
    }
    open_.erase(known.base(), open_.end()); // the savepoint itself stays
    if (verb == "rollback_to") {
      steps_.emplace_back(RollbackToStep{name});
      return;
    }
    open_.pop_back();
    steps_.emplace_back(ReleaseStep{name});
  }

  void add_statement(const Fields& fields, std::string_view verb, const std::string& path, bool usable) {
    if (verb != "update")
      refuse(fields, {"set"}, verb, path);
    const bool mistyped = has_bad_key(fields);
    if (fields.node().find("rows") == nullptr and not mistyped)
      problem(fields.node().at, path + ".rows",
              fmt::format("`rows` is missing: how many rows the {} changes", verb));
    StatementStep step;
    step.operation =
        verb == "insert" ? Operation::Insert : (verb == "update" ? Operation::Update : Operation::Delete);
    step.table = fields.text(verb);
    step.rows = fields.integer("rows");
    step.speculative = fields.flag("on_conflict");
    if (verb != "insert")
      refuse(fields, {"on_conflict"}, verb, path);
    const auto table = building_.scenario.tables.find(step.table);
    if (verb == "update" and usable and table != building_.scenario.tables.end())
      step.assignments = assignments_of(fields, table->second, path, building_.problems);
    split(step, fields.number("rolled_back"));
  }

  /// `rolled_back: 20%`: four fifths of the rows, a savepoint, the last fifth, back to the savepoint.
  void split(const StatementStep& step, double share) {
    const auto undone = static_cast<Rows>(std::llround(static_cast<double>(step.rows) * share));
    StatementStep part = step;
    part.rows = step.rows - undone;
    if (part.rows > 0 or undone == 0)
      steps_.emplace_back(part);
    if (undone == 0)
      return;
    part.rows = undone;
    steps_.emplace_back(SavepointStep{implicit_savepoint});
    steps_.emplace_back(part);
    steps_.emplace_back(RollbackToStep{implicit_savepoint});
  }

  const Building& building_;
  bool in_flow_;
  std::vector<TransactionStep> steps_;
  std::vector<std::string> open_; ///< savepoints that can be rolled back to
};

} // namespace

std::vector<Assignment> assignments_of(const Fields& fields, const Table& table, const std::string& path,
                                       Problems& problems) {
  std::vector<Assignment> out;
  const Node* set = fields.given("set");
  if (set == nullptr or table.columns.empty())
    return out;
  for (const MapEntry& entry : set->entries) {
    const std::string entry_path = path + ".set." + entry.key;
    const int column = find_column(table, entry.key, entry.at, entry_path, problems);
    std::string problem_text;
    if (column < 0 or entry.value.bad)
      continue;
    const auto value = parse_column_value(entry.value.text, problem_text);
    require_integer_column(table.columns[static_cast<std::size_t>(column)], *value, entry.value.at,
                           entry_path, problems);
    if (std::find(table.primary_key.begin(), table.primary_key.end(), column) != table.primary_key.end())
      problems.add(entry.at, entry_path, "changing a column of the primary key is not part of this version");
    out.push_back({column, *value});
  }
  return out;
}

namespace {

std::vector<TransactionStep> steps_of(const Building& building, const Fields& fields, const std::string& path,
                                      bool in_flow) {
  StepBuilder builder(building, in_flow);
  if (const Node* steps = fields.given("transaction"))
    for (std::size_t i = 0; i < steps->items.size(); ++i)
      if (not steps->items[i].bad)
        builder.add(Fields(steps->items[i], object_of("step")), fmt::format("{}.transaction[{}]", path, i));
  return builder.take();
}

/// `every` without `times`: as many runs as begin before the end of the run.
std::int64_t run_count(const Building& building, const NamedFields& entry) {
  const auto& [name, path, fields] = entry;
  const double until_s = building.scenario.observe.until_s;
  if (fields.node().find("times") != nullptr or fields.given("every") == nullptr or until_s == 0)
    return std::max<std::int64_t>(1, fields.integer("times"));
  // Distances such as 0.1 s are no binary fractions: a run exactly at the end is none.
  constexpr double rounding = 1e-9;
  const double runs = std::ceil((until_s - fields.number("at")) / fields.number("every") * (1 - rounding));
  const double most = object_of("load").find("times")->maximum;
  if (runs > most)
    building.problems.add(fields.at("every"), path + ".every",
                          fmt::format("{} runs would begin before the end of the run, {} are allowed; small "
                                      "transactions that come so often are a flow (`rate`)",
                                      format_count(static_cast<std::int64_t>(runs)),
                                      format_count(static_cast<std::int64_t>(most))));
  return std::max<std::int64_t>(1, static_cast<std::int64_t>(runs));
}

void add_batch(Building& building, const NamedFields& entry) {
  const auto& [name, path, fields] = entry;
  BatchLoad batch;
  batch.name = name;
  batch.server = fields.text("server");
  batch.at_s = fields.number("at");
  batch.every_s = fields.number("every");
  batch.times = run_count(building, entry);
  batch.rolls_back = fields.text("ends") == "rollback";
  batch.sessions = static_cast<int>(fields.integer("sessions"));
  if (fields.given("prepared_for") != nullptr)
    batch.prepared_for_s = fields.number("prepared_for");
  batch.transaction = steps_of(building, fields, path, false);
  building.scenario.batches.push_back(std::move(batch));
}

/// The points in order of time, with the one at the beginning where the file leaves it out.
std::vector<CurvePoint> curve_of(const Fields& fields) {
  std::vector<CurvePoint> out;
  const Node* points = fields.given("curve");
  if (points == nullptr)
    return out;
  for (const Node& item : points->items) {
    const Fields point(item, object_of("curve_point"));
    if (out.empty() and point.number("at") > 0)
      out.push_back({0, 1});
    out.push_back({point.number("at"), point.number("factor")});
  }
  return out;
}

void add_flow(Building& building, const NamedFields& entry) {
  const auto& [name, path, fields] = entry;
  FlowLoad flow;
  flow.name = name;
  flow.server = fields.text("server");
  flow.rate_per_s = fields.number("rate");
  flow.poisson = fields.text("arrivals") == "poisson";
  flow.from_s = fields.number("from");
  flow.until_s = fields.number("until");
  flow.curve_period_s = fields.number("curve_period");
  flow.curve = curve_of(fields);
  for (const TransactionStep& step : steps_of(building, fields, path, true))
    flow.transaction.push_back(std::get<StatementStep>(step));
  building.scenario.flows.push_back(std::move(flow));
}

void add_replay(Building& building, const NamedFields& entry) {
  const auto& [name, path, fields] = entry;
  if (fields.given("replay") == nullptr)
    return;
  const Fields replay = fields.child("replay");
  if (not replay.usable("file") or not replay.usable("speed"))
    return;
  ReplayLoad load;
  load.name = name;
  load.server = fields.text("server");
  try {
    read_replay(replay_path(entry), building.scenario.tables, replay.number("speed"), load);
  } catch (const ScenarioError& error) {
    building.problems.add_found(replay.at("file"), error.diagnostics());
    return;
  } catch (const UsageError& error) {
    building.problems.add(replay.at("file"), path + ".replay.file", error.what());
    return;
  }
  building.scenario.replays.push_back(std::move(load));
}

void add_other_wal(Building& building, const NamedFields& entry) {
  const auto& [name, path, fields] = entry;
  building.scenario.other_wal.push_back({name, fields.text("server"), fields.number("other_wal"),
                                         fields.number("from"), fields.number("until")});
}

void add_ddl(Building& building, const NamedFields& entry) {
  const auto& [name, path, fields] = entry;
  DdlLoad load;
  load.name = name;
  load.server = fields.text("server");
  if (const DdlFacts* facts = find_ddl(fields.text("ddl")))
    load.kind = facts->kind;
  load.table = fields.text("table");
  load.publication = fields.text("publication");
  load.other_database = fields.flag("other_database");
  load.relations = fields.integer("relations");
  load.open_s = fields.number("open");
  load.rate_per_s = fields.number("rate");
  load.poisson = fields.text("arrivals") == "poisson";
  load.from_s = fields.number("from");
  load.until_s = fields.number("until");
  load.at_s = fields.number("at");
  load.every_s = fields.number("every");
  load.times = run_count(building, entry);
  building.scenario.ddl.push_back(std::move(load));
}

} // namespace

std::filesystem::path replay_path(const NamedFields& entry) {
  const Fields replay = entry.fields.child("replay");
  const Position& at = replay.at("file");
  // An override is seen from the working directory.
  const bool in_file = at.line > 0 and at.file != nullptr;
  const std::filesystem::path folder = in_file ? std::filesystem::path(*at.file).parent_path() : "";
  return (folder / replay.text("file")).lexically_normal();
}

LoadKind load_kind(const Fields& fields) {
  if (fields.node().find("ddl") != nullptr)
    return LoadKind::Ddl;
  if (fields.node().find("replay") != nullptr)
    return LoadKind::Replay;
  if (fields.node().find("other_wal") != nullptr)
    return LoadKind::OtherWal;
  if (fields.node().find("clients") != nullptr)
    return LoadKind::Clients;
  return fields.node().find("rate") != nullptr ? LoadKind::Flow : LoadKind::Batch;
}

void build_workload(Building& building) {
  for (const NamedFields& entry : named_entries(building.root, "workload")) {
    switch (load_kind(entry.fields)) {
    case LoadKind::Batch:
      add_batch(building, entry);
      break;
    case LoadKind::Flow:
      add_flow(building, entry);
      break;
    case LoadKind::OtherWal:
      add_other_wal(building, entry);
      break;
    case LoadKind::Ddl:
      add_ddl(building, entry);
      break;
    case LoadKind::Replay:
      add_replay(building, entry);
      break;
    case LoadKind::Clients:
      build_clients(building, entry);
      break;
    }
  }
}

} // namespace replisim
