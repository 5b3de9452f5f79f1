// What does not fit together on the way to a commit on the subscriber: synchronous standbys, errors.
#include "models/sync_standbys.hpp"
#include "sim/scenario/scenario_parts.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>

namespace replisim {

namespace {

constexpr int first_major_with_disable_on_error = 15;
constexpr int first_major_with_two_phase = 15;

void check_standbys(Building& building) {
  const Scenario& scenario = building.scenario;
  for (const auto& [name, path, fields] : named_entries(building.root, "servers")) {
    const Node* settings = fields.given("settings");
    const Node* names = settings == nullptr ? nullptr : settings->find("synchronous_standby_names");
    if (names == nullptr or names->bad)
      continue;
    std::string problem;
    const auto rule = parse_sync_standbys(names->text, problem);
    if (not problem.empty())
      building.problems.add(names->at, path + ".settings.synchronous_standby_names", problem);
    if (not rule)
      continue;
    const bool served = std::any_of(
        scenario.subscriptions.begin(), scenario.subscriptions.end(), [&, server = name](const auto& entry) {
          const auto publication = scenario.publications.find(entry.second.publication);
          return publication != scenario.publications.end() and publication->second.server == server and
                 rule->lists(entry.first);
        });
    if (not served)
      building.problems.add(
          names->at, path + ".settings.synchronous_standby_names",
          fmt::format("no subscription of {} is named there: its commits would wait for ever", name));
    const bool flows =
        std::any_of(scenario.flows.begin(), scenario.flows.end(),
                    [&, server = name](const FlowLoad& flow) { return flow.server == server; });
    if (flows)
      building.scenario.warnings.push_back(fmt::format(
          "flows of {} come at their rate: their commits do not wait for synchronous_standby_names", name));
  }
}

void check_errors(Building& building) {
  const Scenario& scenario = building.scenario;
  for (const auto& [name, path, fields] : named_entries(building.root, "subscriptions")) {
    const Subscription& subscription = scenario.subscriptions.at(name);
    const auto server = scenario.servers.find(subscription.server);
    if (server == scenario.servers.end())
      continue;
    if (subscription.disable_on_error and server->second.version.major < first_major_with_disable_on_error)
      building.problems.add(fields.at("disable_on_error"), path + ".disable_on_error",
                            fmt::format("disable_on_error exists from PostgreSQL {} on; {} is version {}",
                                        first_major_with_disable_on_error, server->first,
                                        to_string(server->second.version)));
    for (std::size_t i = 0; i < subscription.conflicts.size(); ++i)
      if (subscription.conflicts[i].resolved_s <= 0 and not subscription.disable_on_error and
          scenario.observe.until_s <= 0)
        building.problems.add(
            fields.at("conflicts"), fmt::format("{}.conflicts[{}]", path, i),
            fmt::format("nobody removes row {} of {}, so that not everything is ever applied; give "
                        "`resolved_at`, `disable_on_error: on`, or a duration as `observe.until`",
                        subscription.conflicts[i].row, subscription.conflicts[i].table));
  }
}

void check_two_phase(Building& building) {
  const Scenario& scenario = building.scenario;
  for (const auto& [name, path, fields] : named_entries(building.root, "subscriptions")) {
    const Subscription& subscription = scenario.subscriptions.at(name);
    const auto publication = scenario.publications.find(subscription.publication);
    if (not subscription.two_phase or publication == scenario.publications.end())
      continue;
    if (subscription.initial_sync)
      building.problems.add(
          fields.at("two_phase"), path + ".two_phase",
          "a server keeps two_phase pending until all tables are READY, which is not modelled: "
          "leave out `initial_sync` or `two_phase`");
    for (const std::string& side : {publication->second.server, subscription.server}) {
      const auto server = scenario.servers.find(side);
      if (server != scenario.servers.end() and server->second.version.major < first_major_with_two_phase)
        building.problems.add(fields.at("two_phase"), path + ".two_phase",
                              fmt::format("on needs PostgreSQL {} or later on both sides; {} is version {}",
                                          first_major_with_two_phase, side,
                                          to_string(server->second.version)));
    }
  }
}

/// PREPARE TRANSACTION is an error when there is no room: the load could not do what it says.
void check_prepared_loads(Building& building) {
  std::map<std::string, int> prepared; // sessions by server
  for (const auto& [name, path, fields] : named_entries(building.root, "workload")) {
    if (fields.given("prepared_for") == nullptr)
      continue;
    const auto server = building.scenario.servers.find(fields.text("server"));
    if (server == building.scenario.servers.end())
      continue;
    const double most = server->second.settings.number("max_prepared_transactions");
    int& sessions = prepared[server->first];
    sessions += static_cast<int>(fields.integer("sessions"));
    if (sessions > most)
      building.problems.add(
          fields.at("prepared_for"), path + ".prepared_for",
          fmt::format(
              "up to {} transactions may be prepared on {} at once, but its max_prepared_transactions is "
              "{:.0f}: PREPARE TRANSACTION would fail (allowed: at least {})",
              sessions, server->first, most, sessions));
  }
}

} // namespace

void check_apply_contradictions(Building& building) {
  check_two_phase(building);
  check_prepared_loads(building);
  check_standbys(building);
  check_errors(building);
}

} // namespace replisim
