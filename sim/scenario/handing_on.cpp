#include "sim/scenario/handing_on.hpp"

#include <algorithm>
#include <deque>
#include <set>

namespace replisim {

namespace {

bool publishes(const Scenario& scenario, const std::string& name, const std::string& server,
               const std::string& table) {
  const auto publication = scenario.publications.find(name);
  if (publication == scenario.publications.end() or publication->second.server != server)
    return false;
  const auto& tables = publication->second.tables;
  return std::find(tables.begin(), tables.end(), table) != tables.end();
}

/// Follows what `made_on` changes in `table`, its own subscribers first.
void follow(const Scenario& scenario, const std::string& table, const std::string& made_on,
            std::vector<DoubleWay>& found) {
  std::set<std::string> reached = {made_on};
  std::deque<std::string> next = {made_on};
  for (; not next.empty(); next.pop_front()) {
    const std::string here = next.front();
    for (const auto& [name, subscription] : scenario.subscriptions) {
      if ((here != made_on and subscription.own_changes_only) or subscription.server == here or
          not publishes(scenario, subscription.publication, here, table))
        continue;
      if (reached.insert(subscription.server).second)
        next.push_back(subscription.server);
      else if (here != made_on) // two subscriptions to the server that made it are their owner's affair
        found.push_back({name, table, made_on, subscription.server});
    }
  }
}

} // namespace

std::vector<std::string> slots_that_hand_on(const Scenario& scenario, const Subscription& subscription) {
  const auto received = scenario.publications.find(subscription.publication);
  std::vector<std::string> out;
  if (received == scenario.publications.end())
    return out;
  const auto shares = [&](const std::string& publication) {
    const auto& tables = received->second.tables;
    return std::any_of(tables.begin(), tables.end(), [&](const std::string& table) {
      return publishes(scenario, publication, subscription.server, table);
    });
  };
  for (const auto& [name, other] : scenario.subscriptions)
    if (not other.own_changes_only and shares(other.publication))
      out.push_back(name);
  for (const auto& [name, consumer] : scenario.consumers)
    if (shares(consumer.publication))
      out.push_back(name);
  for (const auto& [name, calls] : scenario.decode)
    if (shares(calls.publication))
      out.push_back(name);
  return out;
}

std::vector<DoubleWay> double_ways(const Scenario& scenario) {
  std::vector<DoubleWay> found;
  for (const auto& [server, description] : scenario.servers)
    for (const auto& [table, definition] : scenario.tables)
      follow(scenario, table, server, found);
  return found;
}

} // namespace replisim
