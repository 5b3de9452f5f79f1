// Clients in a closed loop from the checked tree.
#include "sim/scenario/builtin_mixes.hpp"
#include "sim/scenario/scenario_parts.hpp"

#include <fmt/format.h>

namespace replisim {

namespace {

void add_statement(Building& building, ClientScript& script, const Fields& fields, const std::string& path) {
  static constexpr std::string_view verbs[] = {"select", "insert", "update", "delete"};
  std::vector<std::string_view> found;
  for (const std::string_view verb : verbs)
    if (fields.node().find(verb) != nullptr)
      found.push_back(verb);
  if (found.size() != 1) {
    building.problems.add(
        fields.node().at, path,
        found.empty()
            ? std::string("says nothing to do; a statement is one of select, insert, update and delete")
            : fmt::format("{} stand in one statement; each is a statement of its own",
                          fmt::join(found, " and ")));
    return;
  }
  const std::string_view verb = found.front();
  if (verb != "update" and fields.node().find("set") != nullptr)
    building.problems.add(fields.at("set"), path + ".set", fmt::format("`set` does not go with {}", verb));
  ClientStatement statement;
  statement.table = fields.text(verb);
  statement.cpu_s = fields.number("cpu");
  const auto table = building.scenario.tables.find(statement.table);
  if (not fields.usable(verb) or table == building.scenario.tables.end())
    return;
  if (verb != "select") {
    StatementStep step;
    step.operation = verb == "insert"   ? Operation::Insert
                     : verb == "update" ? Operation::Update
                                        : Operation::Delete;
    step.table = statement.table;
    step.rows = fields.integer("rows");
    if (verb == "update")
      step.assignments = assignments_of(fields, table->second, path, building.problems);
    statement.change = step;
  }
  script.statements.push_back(std::move(statement));
}

std::vector<ClientScript> scripts_of(Building& building, const Fields& fields, const std::string& path) {
  std::vector<ClientScript> out;
  if (const Node* mix = fields.given("mix"); mix != nullptr and fields.given("transactions") == nullptr) {
    out.emplace_back();
    out.back().statements = builtin_statements(mix->text);
  }
  const Node* own = fields.given("transactions");
  for (std::size_t i = 0; own != nullptr and i < own->items.size(); ++i) {
    if (own->items[i].bad)
      continue;
    const Fields transaction(own->items[i], object_of("client_transaction"));
    ClientScript script;
    script.weight = transaction.number("weight");
    const Node* statements = transaction.given("statements");
    for (std::size_t k = 0; statements != nullptr and k < statements->items.size(); ++k)
      if (not statements->items[k].bad)
        add_statement(building, script, Fields(statements->items[k], object_of("statement")),
                      fmt::format("{}.transactions[{}].statements[{}]", path, i, k));
    out.push_back(std::move(script));
  }
  return out;
}

} // namespace

void build_clients(Building& building, const NamedFields& entry) {
  const auto& [name, path, fields] = entry;
  ClientLoad load;
  load.name = name;
  load.server = fields.text("server");
  load.host = fields.text("host");
  const auto server = building.scenario.servers.find(load.server);
  if (load.host.empty() and server != building.scenario.servers.end())
    load.host = server->second.host;
  load.clients = static_cast<int>(fields.integer("clients"));
  load.threads =
      fields.given("threads") != nullptr ? static_cast<int>(fields.integer("threads")) : load.clients;
  load.think_s = fields.number("think_time");
  load.rate_per_s = fields.number("rate");
  load.from_s = fields.number("from");
  load.until_s = fields.number("until");
  load.scripts = scripts_of(building, fields, path);
  for (ClientScript& script : load.scripts) {
    script.flow.name = name;
    script.flow.server = load.server;
    for (const ClientStatement& statement : script.statements)
      if (statement.change)
        script.flow.transaction.push_back(*statement.change);
  }
  building.scenario.clients.push_back(std::move(load));
}

} // namespace replisim
