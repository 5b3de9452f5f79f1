// Tables, publications, subscriptions and the workload from the checked tree.
#include "sim/scenario/scenario_parts.hpp"

#include "models/base/suggest.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace replisim {

std::string to_string(Streaming streaming) {
  switch (streaming) {
  case Streaming::Off:
    return "off";
  case Streaming::On:
    return "on";
  case Streaming::Parallel:
    break;
  }
  return "parallel";
}

namespace {

std::vector<std::string> column_names(const Table& table) {
  std::vector<std::string> out;
  for (const Column& column : table.columns)
    out.push_back(column.name);
  return out;
}

/// Position of a column, or -1 with a problem at `at`.
int find_column(const Table& table, const std::string& name, const Position& at, const std::string& path,
                Problems& problems) {
  for (std::size_t i = 0; i < table.columns.size(); ++i)
    if (table.columns[i].name == name)
      return static_cast<int>(i);
  problems.add(
      at, path,
      fmt::format("table {} has no column '{}'{}", table.name, name, suggestion(name, column_names(table))));
  return -1;
}

void require_integer_column(const Column& column, const ColumnValue& value, const Position& at,
                            const std::string& path, Problems& problems) {
  if (value.kind != ColumnValue::Kind::Typical and not is_integer_type(column.type))
    problems.add(
        at, path,
        fmt::format("column {} holds no integers; only `typical` describes its values", column.name));
}

/// True when each column could be read: only then do other mistakes about the table mean something.
bool build_columns(Table& table, const Fields& fields, const std::string& path, Problems& problems) {
  const Node* columns = fields.given("columns");
  if (columns == nullptr)
    return false;
  bool all_read = true;
  for (const MapEntry& entry : columns->entries) {
    Column column;
    column.name = entry.key;
    if (entry.value.is_map() and not entry.value.bad) {
      const Fields description(entry.value, object_of("column"));
      std::string problem;
      if (const auto type = parse_column_type(description.text("type"), problem)) {
        column.type = type->type;
        column.width_bytes = type->width_bytes;
        if (const Node* value = description.given("value")) {
          column.value = *parse_column_value(value->text, problem);
          require_integer_column(column, column.value, value->at, path + ".columns." + entry.key + ".value",
                                 problems);
        }
      } else {
        all_read = false;
      }
    } else {
      all_read = false;
    }
    table.columns.push_back(std::move(column));
  }
  return all_read;
}

void build_primary_key(Table& table, const Fields& fields, const std::string& path, Problems& problems) {
  const Node* key = fields.given("primary_key");
  if (key == nullptr)
    return;
  for (std::size_t i = 0; i < key->items.size(); ++i) {
    const Node& item = key->items[i];
    if (item.bad)
      continue;
    const int column =
        find_column(table, item.text, item.at, fmt::format("{}.primary_key[{}]", path, i), problems);
    if (column < 0)
      continue;
    if (std::find(table.primary_key.begin(), table.primary_key.end(), column) != table.primary_key.end())
      problems.add(item.at, fmt::format("{}.primary_key[{}]", path, i),
                   fmt::format("'{}' is named twice", item.text));
    else
      table.primary_key.push_back(column);
  }
}

/// A key of one integer column counts its rows, unless the file says otherwise.
void apply_sequence_default(Table& table, const Node& columns) {
  if (table.primary_key.size() != 1)
    return;
  Column& key = table.columns[static_cast<std::size_t>(table.primary_key.front())];
  const Node* description = columns.find(key.name);
  if (is_integer_type(key.type) and description != nullptr and description->find("value") == nullptr)
    key.value.kind = ColumnValue::Kind::Sequence;
}

ReplicaIdentity identity_of(const std::string& word) {
  if (word == "full")
    return ReplicaIdentity::Full;
  return word == "nothing" ? ReplicaIdentity::Nothing : ReplicaIdentity::Default;
}

/// What the subscriber's version chooses when nothing is said, as far as the publisher can follow.
Streaming default_streaming(const Scenario& scenario, const Subscription& subscription) {
  const auto subscriber = scenario.servers.find(subscription.server);
  const auto publication = scenario.publications.find(subscription.publication);
  if (subscriber == scenario.servers.end() or publication == scenario.publications.end())
    return Streaming::Off;
  const auto publisher = scenario.servers.find(publication->second.server);
  if (publisher == scenario.servers.end() or
      not traits_of(subscriber->second.version).parallel_is_default_streaming)
    return Streaming::Off;
  const VersionTraits traits = traits_of(publisher->second.version);
  if (traits.parallel_apply_available)
    return Streaming::Parallel;
  return traits.streaming_available ? Streaming::On : Streaming::Off;
}

Streaming streaming_of(const std::string& word) {
  if (word == "parallel")
    return Streaming::Parallel;
  return word == "on" ? Streaming::On : Streaming::Off;
}

/// The name of the savepoint behind `rolled_back`; no file can use it, because of the blank.
constexpr const char* implicit_savepoint = "rolled back";

/// Adds the steps of one list entry: itself, or what `rolled_back` stands for.
class StepBuilder {
public:
  StepBuilder(const Building& building, BatchLoad& batch) : building_(building), batch_(batch) {}

  void add(const Fields& fields, const std::string& path) {
    static constexpr std::string_view verbs[] = {"insert", "update", "delete", "savepoint", "rollback_to"};
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
                "says nothing to do; a step is one of insert, update, delete, savepoint and rollback_to");
      else if (not found.empty())
        problem(fields.node().at, path,
                fmt::format("{} stand in one step; each is a step of its own", fmt::join(found, " and ")));
      return;
    }
    const std::string_view verb = found.front();
    if (verb == "savepoint" or verb == "rollback_to")
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
      batch_.transaction.emplace_back(SavepointStep{name});
      return;
    }
    const auto known = std::find(open_.rbegin(), open_.rend(), name);
    if (known == open_.rend()) {
      problem(fields.at(verb), path + ".rollback_to",
              open_.empty() ? fmt::format("unknown savepoint '{}'; no savepoint is open here", name)
                            : fmt::format("unknown savepoint '{}'{}", name, suggestion(name, open_)));
      return;
    }
    open_.erase(known.base(), open_.end()); // the savepoint itself stays
    batch_.transaction.emplace_back(RollbackToStep{name});
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
    const auto table = building_.scenario.tables.find(step.table);
    if (verb == "update" and usable and table != building_.scenario.tables.end())
      add_assignments(step, fields, table->second, path);
    split(step, fields.number("rolled_back"));
  }

  void add_assignments(StatementStep& step, const Fields& fields, const Table& table,
                       const std::string& path) const {
    const Node* set = fields.given("set");
    if (set == nullptr or table.columns.empty())
      return;
    for (const MapEntry& entry : set->entries) {
      const std::string entry_path = path + ".set." + entry.key;
      const int column = find_column(table, entry.key, entry.at, entry_path, building_.problems);
      std::string problem_text;
      if (column < 0 or entry.value.bad)
        continue;
      const auto value = parse_column_value(entry.value.text, problem_text);
      require_integer_column(table.columns[static_cast<std::size_t>(column)], *value, entry.value.at,
                             entry_path, building_.problems);
      if (std::find(table.primary_key.begin(), table.primary_key.end(), column) != table.primary_key.end())
        problem(entry.at, entry_path, "changing a column of the primary key is not part of this version");
      step.assignments.push_back({column, *value});
    }
  }

  /// `rolled_back: 20%`: four fifths of the rows, a savepoint, the last fifth, back to the savepoint.
  void split(const StatementStep& step, double share) {
    const auto undone = static_cast<Rows>(std::llround(static_cast<double>(step.rows) * share));
    StatementStep part = step;
    part.rows = step.rows - undone;
    if (part.rows > 0 or undone == 0)
      batch_.transaction.emplace_back(part);
    if (undone == 0)
      return;
    part.rows = undone;
    batch_.transaction.emplace_back(SavepointStep{implicit_savepoint});
    batch_.transaction.emplace_back(part);
    batch_.transaction.emplace_back(RollbackToStep{implicit_savepoint});
  }

  const Building& building_;
  BatchLoad& batch_;
  std::vector<std::string> open_; ///< savepoints that can be rolled back to
};

} // namespace

void build_tables(Building& building) {
  for (const auto& [name, path, fields] : named_entries(building.root, "tables")) {
    Table table;
    table.name = name;
    table.schema = fields.text("schema");
    table.secondary_indexes = static_cast<int>(fields.integer("secondary_indexes"));
    table.replica_identity = identity_of(fields.text("replica_identity"));
    table.initial_rows = fields.integer("rows");
    const bool all_read = build_columns(table, fields, path, building.problems);
    if (not table.columns.empty())
      build_primary_key(table, fields, path, building.problems);
    if (all_read)
      apply_sequence_default(table, *fields.given("columns"));
    building.scenario.tables[name] = std::move(table);
  }
}

void build_replication(Building& building) {
  Scenario& scenario = building.scenario;
  for (const auto& [name, path, fields] : named_entries(building.root, "publications"))
    scenario.publications[name] = {name, fields.text("server"), names_in(fields, "tables")};
  for (const auto& [name, path, fields] : named_entries(building.root, "subscriptions")) {
    Subscription subscription;
    subscription.name = name;
    subscription.server = fields.text("server");
    subscription.publication = fields.text("publication");
    subscription.binary = fields.flag("binary");
    subscription.streaming = fields.given("streaming") == nullptr ? default_streaming(scenario, subscription)
                                                                  : streaming_of(fields.text("streaming"));
    scenario.subscriptions[name] = std::move(subscription);
  }
}

void build_workload(Building& building) {
  for (const auto& [name, path, fields] : named_entries(building.root, "workload")) {
    BatchLoad batch;
    batch.name = name;
    batch.server = fields.text("server");
    batch.at_s = fields.number("at");
    if (const Node* steps = fields.given("transaction")) {
      StepBuilder builder(building, batch);
      for (std::size_t i = 0; i < steps->items.size(); ++i)
        if (not steps->items[i].bad)
          builder.add(Fields(steps->items[i], object_of("step")), fmt::format("{}.transaction[{}]", path, i));
    }
    building.scenario.batches.push_back(std::move(batch));
  }
}

} // namespace replisim
