// What does not fit together between a replay and the rest of the scenario: tables that no publication holds,
// rows that nothing identifies.
#include "sim/scenario/scenario_parts.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <set>

namespace replisim {

namespace {

using Change = std::pair<std::string, Operation>;

std::set<Change> changes_of(const ReplayLoad& replay) {
  std::set<Change> out;
  for (const auto& steps : replay.distinct)
    for (const TransactionStep& step : steps)
      if (const auto* statement = std::get_if<StatementStep>(&step))
        out.insert({statement->table, statement->operation});
  return out;
}

const Publication* publication_of(const Scenario& scenario, const std::string& server,
                                  const std::string& table) {
  for (const auto& [name, publication] : scenario.publications)
    if (publication.server == server and
        std::find(publication.tables.begin(), publication.tables.end(), table) != publication.tables.end())
      return &publication;
  return nullptr;
}

} // namespace

void check_replay(Building& building, const NamedFields& entry) {
  const auto& replays = building.scenario.replays;
  const auto replay = std::find_if(replays.begin(), replays.end(),
                                   [&](const ReplayLoad& load) { return load.name == entry.name; });
  if (replay == replays.end())
    return; // its mistakes are reported
  std::set<std::string> unpublished;
  for (const auto& [name, operation] : changes_of(*replay)) {
    const Table& table = building.scenario.tables.at(name);
    const Publication* publication = publication_of(building.scenario, replay->server, name);
    if (publication == nullptr) {
      unpublished.insert(name);
      continue;
    }
    const bool identified =
        operation == Operation::Insert or table.replica_identity == ReplicaIdentity::Full or
        (table.replica_identity == ReplicaIdentity::Default and not table.primary_key.empty());
    if (not identified)
      building.problems.add(
          entry.fields.at("replay"), entry.path + ".replay",
          fmt::format("PostgreSQL refuses to {} rows of {}: publication {} publishes it and it "
                      "has no replica identity; give it a primary key or `replica_identity: full`",
                      to_string(operation), name, publication->name));
  }
  if (not unpublished.empty())
    building.scenario.warnings.push_back(fmt::format(
        "{}: no publication of {} holds {}; its changes are decoded and buffered like all others, but "
        "never sent",
        entry.path, replay->server, fmt::join(unpublished, ", ")));
}

} // namespace replisim
