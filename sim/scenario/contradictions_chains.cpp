// What does not fit together about servers that receive changes and hand them on.
#include "sim/scenario/handing_on.hpp"
#include "sim/scenario/scenario_parts.hpp"

#include <fmt/format.h>

#include <set>

namespace replisim {

namespace {

class ChainCheck {
public:
  explicit ChainCheck(Building& building)
      : root_(building.root), scenario_(building.scenario), problems_(building.problems) {}

  void check() {
    for (const NamedFields& entry : named_entries(root_, "subscriptions"))
      if (entry.fields.usable("server") and entry.fields.usable("publication")) {
        check_origin(entry);
        check_handed_on(entry);
      }
    check_double_ways();
  }

private:
  /// `origin: none`, from 16 on.
  void check_origin(const NamedFields& entry) {
    constexpr int first_major = 16;
    if (entry.fields.text("origin") != "none")
      return;
    const auto server = scenario_.servers.find(entry.fields.text("server"));
    if (server != scenario_.servers.end() and server->second.version.major < first_major and
        server->second.version.major > 0)
      problems_.add(entry.fields.at("origin"), entry.path + ".origin",
                    fmt::format("origin exists from PostgreSQL {} on; {} is version {}", first_major,
                                server->first, to_string(server->second.version)));
  }

  /// What this version does not hand on.
  void check_handed_on(const NamedFields& entry) {
    const Subscription& subscription = scenario_.subscriptions.at(entry.name);
    const auto slots = slots_that_hand_on(scenario_, subscription);
    if (slots.empty())
      return;
    const auto refuse = [&](const char* field, const std::string& what) {
      problems_.add(entry.fields.at(field), entry.path + "." + field,
                    fmt::format("{} receives what slot {} hands on, and {} is not handed on in this version",
                                subscription.server, slots.front(), what));
    };
    if (subscription.two_phase)
      refuse("two_phase", "a prepared transaction");
    if (subscription.initial_sync)
      refuse("initial_sync", "an initial synchronisation");
    if (const auto publication = scenario_.publications.find(subscription.publication);
        publication != scenario_.publications.end() and not publication->second.row_filters.empty())
      refuse("publication", "part of a table, as a row filter lets it through,");
    for (const std::string& slot : slots)
      if (const auto next = scenario_.subscriptions.find(slot);
          next != scenario_.subscriptions.end() and next->second.initial_sync)
        problems_.add(find_entry(root_, "subscriptions", slot)->find("initial_sync")->at,
                      fmt::format("subscriptions.{}.initial_sync", slot),
                      fmt::format("{} hands on what it receives, which an initial synchronisation does not "
                                  "see in this version",
                                  subscription.server));
  }

  void check_double_ways() {
    std::set<std::string> told;
    for (const DoubleWay& way : double_ways(scenario_)) {
      if (not told.insert(way.subscription).second)
        continue;
      const Node* entry = find_entry(root_, "subscriptions", way.subscription);
      const Fields fields(*entry, object_of("subscription"));
      const bool back = way.server == way.made_on;
      problems_.add(
          fields.at("publication"), fmt::format("subscriptions.{}.publication", way.subscription),
          fmt::format(
              "changes of {} in {} would come {} {}{}; with `origin: none` only changes of {}'s own "
              "clients are asked for",
              way.made_on, way.table, back ? "back to" : "twice to", way.server,
              back ? ", and go round for ever" : "",
              scenario_.publications.at(scenario_.subscriptions.at(way.subscription).publication).server));
    }
  }

  const Node& root_;
  Scenario& scenario_;
  Problems& problems_;
};

} // namespace

void check_chains(Building& building) { ChainCheck(building).check(); }

} // namespace replisim
