#include "sim/scenario/builtin_mixes.hpp"

#include "models/base/check.hpp"

#include <charconv>
#include <initializer_list>
#include <utility>

namespace replisim {

namespace {

using Columns = std::initializer_list<std::pair<const char*, const char*>>;

Node scalar(std::string text, const Position& at) {
  Node node;
  node.kind = Node::Kind::Scalar;
  node.text = std::move(text);
  node.at = at;
  return node;
}

Node map_at(const Position& at) {
  Node node;
  node.kind = Node::Kind::Map;
  node.at = at;
  return node;
}

Node table_node(const Columns& columns, const std::string& key, std::int64_t rows, const Position& at) {
  Node list = map_at(at);
  for (const auto& [name, type] : columns) {
    Node column = map_at(at);
    column.put("type", scalar(type, at), at);
    list.put(name, std::move(column), at);
  }
  Node table = map_at(at);
  table.put("columns", std::move(list), at);
  Node keys;
  keys.kind = Node::Kind::List;
  keys.at = at;
  if (not key.empty())
    keys.items.push_back(scalar(key, at));
  table.put("primary_key", std::move(keys), at);
  table.put("rows", scalar(std::to_string(rows), at), at);
  return table;
}

/// The scale as written; 1 where it is left out or mistaken, which the check reports.
std::int64_t scale_of(const Node& load) {
  const Node* scale = load.find("scale");
  std::string digits;
  for (const char c : scale != nullptr and scale->is_scalar() ? scale->text : "")
    if (c != '_')
      digits += c;
  std::int64_t value = 1;
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), value);
  constexpr std::int64_t most = 1'000'000;
  return error == std::errc() and end == digits.data() + digits.size() and value >= 1 and value <= most
             ? value
             : 1;
}

void add_tables(Node& tables, std::int64_t scale, const Position& at) {
  const auto add = [&](const char* name, Node table) {
    if (tables.find(name) == nullptr)
      tables.put(name, std::move(table), at);
  };
  add("pgbench_accounts",
      table_node({{"aid", "int4"}, {"bid", "int4"}, {"abalance", "int4"}, {"filler", "text(84)"}}, "aid",
                 100'000 * scale, at));
  add("pgbench_tellers",
      table_node({{"tid", "int4"}, {"bid", "int4"}, {"tbalance", "int4"}}, "tid", 10 * scale, at));
  add("pgbench_branches", table_node({{"bid", "int4"}, {"bbalance", "int4"}}, "bid", scale, at));
  add("pgbench_history",
      table_node(
          {{"tid", "int4"}, {"bid", "int4"}, {"aid", "int4"}, {"delta", "int4"}, {"mtime", "timestamp"}}, "",
          0, at));
}

ClientStatement change(Operation operation, const char* table) {
  return {table, StatementStep{operation, table, 1, {}}, 0};
}

} // namespace

void add_builtin_tables(Node& scenario) {
  const Node* workload = scenario.find("workload");
  if (workload == nullptr or not workload->is_map())
    return;
  const Node loads = *workload; // `scenario` may move its entries
  for (const MapEntry& load : loads.entries) {
    const Node* mix = load.value.is_map() ? load.value.find("mix") : nullptr;
    if (mix == nullptr or not mix->is_scalar() or load.value.find("clients") == nullptr)
      continue;
    if (scenario.find("tables") == nullptr or scenario.find("tables")->kind == Node::Kind::Null)
      scenario.put("tables", map_at(mix->at), mix->at);
    if (Node* tables = scenario.find("tables"); tables->is_map())
      add_tables(*tables, scale_of(load.value), mix->at);
  }
}

std::vector<ClientStatement> builtin_statements(std::string_view mix) {
  const ClientStatement select = {"pgbench_accounts", {}, 0};
  const ClientStatement account = change(Operation::Update, "pgbench_accounts");
  const ClientStatement history = change(Operation::Insert, "pgbench_history");
  if (mix == "tpcb-like")
    return {account, select, change(Operation::Update, "pgbench_tellers"),
            change(Operation::Update, "pgbench_branches"), history};
  if (mix == "simple-update")
    return {account, select, history};
  REPLISIM_REQUIRE(mix == "select-only", "mix {}", mix);
  return {select};
}

} // namespace replisim
