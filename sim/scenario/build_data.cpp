// Tables, publications, subscriptions and consumers from the checked tree.
#include "sim/scenario/scenario_parts.hpp"

#include "models/base/suggest.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace replisim {

namespace {

std::vector<std::string> column_names(const Table& table) {
  std::vector<std::string> out;
  for (const Column& column : table.columns)
    out.push_back(column.name);
  return out;
}

} // namespace

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

TriggerEnabled enabled_of(const std::string& word) {
  if (word == "always")
    return TriggerEnabled::Always;
  return word == "replica" ? TriggerEnabled::Replica : TriggerEnabled::Origin;
}

/// What the version on which the subscription was created chooses when nothing is said, as far as the
/// publisher can follow: an upgrade leaves the options of subscriptions as they are.
Streaming default_streaming(const Scenario& scenario, const Subscription& subscription,
                            const Fields& fields) {
  const auto subscriber = scenario.servers.find(subscription.server);
  const auto publication = scenario.publications.find(subscription.publication);
  if (subscriber == scenario.servers.end() or publication == scenario.publications.end())
    return Streaming::Off;
  const auto publisher = scenario.servers.find(publication->second.server);
  if (publisher == scenario.servers.end())
    return Streaming::Off;
  Version created_on = subscriber->second.version;
  std::string problem;
  if (fields.given("created_on") != nullptr)
    parse_version(fields.text("created_on"), created_on, problem);
  if (not traits_of(created_on).parallel_is_default_streaming)
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

/// WHERE clauses of a publication; each must be of a table that it holds.
std::map<std::string, RowFilter> row_filters(const Fields& publication, const std::string& path,
                                             Problems& problems) {
  std::map<std::string, RowFilter> out;
  const Node* filters = publication.given("row_filters");
  if (filters == nullptr)
    return out;
  const auto tables = names_in(publication, "tables");
  for (const MapEntry& entry : filters->entries) {
    if (entry.value.bad or not entry.value.is_map())
      continue;
    const bool published = std::find(tables.begin(), tables.end(), entry.key) != tables.end();
    if (not published and publication.usable("tables"))
      problems.add(entry.at, path + ".row_filters." + entry.key,
                   fmt::format("the publication does not hold table '{}'{}", entry.key,
                               suggestion(entry.key, tables)));
    const Fields filter(entry.value, object_of("row_filter"));
    out[entry.key] = {filter.number("passes"), filter.number("cost")};
  }
  return out;
}

std::vector<ApplyConflict> conflicts_of(const Fields& subscription) {
  std::vector<ApplyConflict> out;
  if (const Node* list = subscription.given("conflicts"))
    for (const Node& item : list->items) {
      if (item.bad or not item.is_map())
        continue;
      const Fields conflict(item, object_of("conflict"));
      out.push_back({conflict.text("table"), conflict.integer("row"), conflict.number("resolved_at")});
    }
  return out;
}

Consumer::Confirms confirms_of(const std::string& word) {
  if (word == "interval")
    return Consumer::Confirms::Interval;
  return word == "never" ? Consumer::Confirms::Never : Consumer::Confirms::EachCommit;
}

Consumer consumer_from(const std::string& name, const Fields& fields) {
  Consumer consumer;
  consumer.name = name;
  consumer.publication = fields.text("publication");
  consumer.host = fields.text("host");
  consumer.cost_per_change_s = fields.number("cost_per_change");
  consumer.buffer_bytes = fields.integer("buffer");
  consumer.streaming = streaming_of(fields.text("streaming"));
  consumer.confirms = confirms_of(fields.text("confirms"));
  consumer.confirm_interval_s = fields.number("confirm_interval");
  consumer.feedback_in_transaction = fields.flag("feedback_in_transaction");
  consumer.confirms_keepalives = fields.flag("confirms_keepalives");
  consumer.reconnect_delay_s = fields.number("reconnect_delay");
  consumer.connected_from_s = fields.number("connected_from");
  consumer.connected_until_s = fields.number("connected_until");
  consumer.connects_every_s = fields.number("connects_every");
  return consumer;
}

/// Words separated by commas.
std::vector<std::string> words_of(const std::string& text) {
  std::vector<std::string> words;
  std::string word;
  for (const char c : text + ",") {
    if (c == ',') {
      if (not word.empty())
        words.push_back(word);
      word.clear();
    } else if (c != ' ') {
      word += c;
    }
  }
  return words;
}

void read_column_lists(Building& building, const Fields& fields, const std::string& path,
                       Publication& publication) {
  const Node* lists = fields.given("column_lists");
  if (lists == nullptr)
    return;
  for (const MapEntry& entry : lists->entries) {
    if (entry.value.bad or not entry.value.is_map())
      continue;
    const std::string at = path + ".column_lists." + entry.key;
    const auto& tables = publication.tables;
    const auto table = building.scenario.tables.find(entry.key);
    if (std::find(tables.begin(), tables.end(), entry.key) == tables.end()) {
      if (fields.usable("tables"))
        building.problems.add(entry.at, at,
                              fmt::format("the publication does not hold table '{}'{}", entry.key,
                                          suggestion(entry.key, tables)));
      continue;
    }
    if (table == building.scenario.tables.end())
      continue;
    for (const std::string& word : words_of(Fields(entry.value, object_of("column_list")).text("columns"))) {
      const int column = find_column(table->second, word, entry.value.at, at, building.problems);
      if (column >= 0)
        publication.column_lists[entry.key].push_back(column);
    }
  }
}

void read_publish(Building& building, const Fields& fields, const std::string& path,
                  Publication& publication) {
  if (fields.given("publish") == nullptr)
    return;
  publication.inserts = publication.updates = publication.deletes = false;
  static const std::vector<std::string> known = {"insert", "update", "delete", "truncate"};
  for (const std::string& word : words_of(fields.text("publish"))) {
    if (std::find(known.begin(), known.end(), word) == known.end())
      building.problems.add(
          fields.at("publish"), path + ".publish",
          fmt::format("'{}' is none of insert, update, delete, truncate{}", word, suggestion(word, known)));
    publication.inserts = publication.inserts or word == "insert";
    publication.updates = publication.updates or word == "update";
    publication.deletes = publication.deletes or word == "delete";
  }
}

} // namespace

void build_tables(Building& building) {
  for (const auto& [name, path, fields] : named_entries(building.root, "tables")) {
    Table table;
    table.name = name;
    table.schema = fields.text("schema");
    table.secondary_indexes = static_cast<int>(fields.integer("secondary_indexes"));
    table.hot_updates = fields.number("hot_updates");
    table.replica_identity = identity_of(fields.text("replica_identity"));
    table.initial_rows = fields.integer("rows");
    table.triggers = static_cast<int>(fields.integer("triggers"));
    table.trigger_cost_s = fields.number("trigger_cost");
    table.triggers_enabled = enabled_of(fields.text("triggers_enabled"));
    table.foreign_keys = static_cast<int>(fields.integer("foreign_keys"));
    table.foreign_keys_enabled = enabled_of(fields.text("foreign_keys_enabled"));
    table.copies = fields.integer("copies");
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
  for (const auto& [name, path, fields] : named_entries(building.root, "publications")) {
    Publication publication;
    publication.name = name;
    publication.server = fields.text("server");
    publication.tables = names_in(fields, "tables");
    publication.row_filters = row_filters(fields, path, building.problems);
    read_column_lists(building, fields, path, publication);
    read_publish(building, fields, path, publication);
    scenario.publications[name] = std::move(publication);
  }
  for (const auto& [name, path, fields] : named_entries(building.root, "subscriptions")) {
    Subscription subscription;
    subscription.name = name;
    subscription.server = fields.text("server");
    subscription.publication = fields.text("publication");
    subscription.binary = fields.flag("binary");
    subscription.retain_dead_tuples = fields.flag("retain_dead_tuples");
    subscription.max_retention_s = fields.number("max_retention_duration");
    subscription.own_changes_only = fields.text("origin") == "none";
    subscription.disable_on_error = fields.flag("disable_on_error");
    subscription.two_phase = fields.flag("two_phase");
    subscription.conflicts = conflicts_of(fields);
    subscription.initial_sync = initial_sync_of(fields);
    subscription.commits_wait_for_flush = fields.text("synchronous_commit") != "off";
    subscription.streaming = fields.given("streaming") == nullptr
                                 ? default_streaming(scenario, subscription, fields)
                                 : streaming_of(fields.text("streaming"));
    scenario.subscriptions[name] = std::move(subscription);
  }
  for (const auto& [name, path, fields] : named_entries(building.root, "consumers"))
    scenario.consumers[name] = consumer_from(name, fields);
  for (const auto& [name, path, fields] : named_entries(building.root, "decode"))
    scenario.decode[name] = {name,
                             fields.text("publication"),
                             fields.text("function") != "get",
                             fields.given("at") == nullptr ? -1 : fields.number("at"),
                             fields.number("every"),
                             fields.integer("times")};
}

} // namespace replisim
