// What does not fit together about clients in a closed loop: mixes without statements, connections, routes.
#include "sim/scenario/scenario_parts.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace replisim {

namespace {

class ClientCheck {
public:
  explicit ClientCheck(Building& building)
      : root_(building.root), scenario_(building.scenario), problems_(building.problems) {}

  void check() {
    for (const NamedFields& entry : named_entries(root_, "workload"))
      if (load_kind(entry.fields) == LoadKind::Clients)
        check_mix(entry);
    check_connections();
  }

private:
  /// Either one of pgbench's mixes or transactions of one's own, none of them empty.
  void check_mix(const NamedFields& entry) {
    const auto& [name, path, fields] = entry;
    const Node* mix = fields.node().find("mix");
    const Node* own = fields.node().find("transactions");
    if (mix == nullptr and own == nullptr)
      problems_.add(fields.node().at, path,
                    fmt::format("the clients have nothing to do; `mix` is one of {}, or `transactions` holds "
                                "statements of your own",
                                fmt::join(object_of("load").find("mix")->allowed, ", ")));
    if (mix != nullptr and own != nullptr)
      problems_.add(own->at, path + ".transactions",
                    "`mix` and `transactions` stand in one entry; clients run one of the two");
    if (fields.node().find("scale") != nullptr and mix == nullptr)
      problems_.add(fields.at("scale"), path + ".scale",
                    "`scale` sizes the tables of a `mix`; there is none");
    if (own == nullptr or own->bad)
      return;
    if (own->items.empty())
      problems_.add(own->at, path + ".transactions", "is empty: a mix without statements");
    for (std::size_t i = 0; i < own->items.size(); ++i) {
      const Node* statements = own->items[i].find("statements");
      if (own->items[i].bad or (statements != nullptr and (statements->bad or not statements->items.empty())))
        continue;
      problems_.add(statements == nullptr ? own->items[i].at : statements->at,
                    fmt::format("{}.transactions[{}].statements", path, i),
                    "there are none: a transaction of a mix needs at least one statement");
    }
  }

  /// PostgreSQL turns the surplus away ("sorry, too many clients already").
  void check_connections() {
    std::map<std::string, std::int64_t> clients;
    for (const ClientLoad& load : scenario_.clients)
      clients[load.server] += load.clients;
    for (const ClientLoad& load : scenario_.clients) {
      check_route(load);
      const auto server = scenario_.servers.find(load.server);
      if (server == scenario_.servers.end() or clients[load.server] == 0)
        continue;
      const double most = server->second.settings.number("max_connections");
      const std::int64_t wanted = clients[load.server];
      clients[load.server] = 0;
      if (static_cast<double>(wanted) <= most)
        continue;
      const Node* entry = find_entry(root_, "workload", load.name);
      problems_.add(
          entry->find("clients")->at, "workload." + load.name + ".clients",
          fmt::format("{} clients on {}, whose max_connections is {}: the server refuses the others; "
                      "raise `servers.{}.settings.max_connections` or have fewer clients",
                      wanted, load.server, most, load.server));
    }
  }

  /// The client program reaches its server.
  void check_route(const ClientLoad& load) {
    const auto server = scenario_.servers.find(load.server);
    if (server == scenario_.servers.end() or load.host.empty() or load.host == server->second.host or
        not scenario_.hosts.contains(load.host))
      return;
    const std::string& there = server->second.host;
    const bool linked = std::any_of(scenario_.links.begin(), scenario_.links.end(), [&](const Link& link) {
      return (link.from == load.host and link.to == there) or (link.to == load.host and link.from == there);
    });
    if (linked)
      return;
    const Node* entry = find_entry(root_, "workload", load.name);
    problems_.add(entry->find("host")->at, "workload." + load.name + ".host",
                  fmt::format("the clients run on {} and {} on {}, but no link joins the hosts", load.host,
                              load.server, there));
  }

  const Node& root_;
  Scenario& scenario_;
  Problems& problems_;
};

} // namespace

void check_clients(Building& building) { ClientCheck(building).check(); }

} // namespace replisim
