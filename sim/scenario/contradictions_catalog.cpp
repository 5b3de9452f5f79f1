// What does not fit together in statements that change the catalog, in sessions that run side by side, and in
// decoding through SQL.
#include "models/ddl.hpp"
#include "sim/scenario/scenario_parts.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>

namespace replisim {

namespace {

constexpr std::array<std::string_view, 3> at_times = {"at", "every", "times"};
constexpr std::array<std::string_view, 3> at_a_rate = {"arrivals", "from", "until"};

class CatalogCheck {
public:
  explicit CatalogCheck(Building& building)
      : root_(building.root), scenario_(building.scenario), problems_(building.problems) {}

  void check() {
    for (const NamedFields& entry : named_entries(root_, "workload")) {
      if (load_kind(entry.fields) == LoadKind::Ddl and entry.fields.usable("ddl"))
        check_ddl(entry);
      if (load_kind(entry.fields) == LoadKind::Batch and entry.fields.integer("sessions") > 1)
        check_sessions(entry);
    }
    for (const NamedFields& entry : named_entries(root_, "decode"))
      check_decode(entry);
  }

private:
  void check_ddl(const NamedFields& entry) {
    const auto& [name, path, fields] = entry;
    const DdlFacts* facts = find_ddl(fields.text("ddl"));
    const bool by_rate = fields.node().find("rate") != nullptr;
    for (const std::string_view key : by_rate ? at_times : at_a_rate)
      if (fields.node().find(key) != nullptr)
        problem(fields, path, key,
                fmt::format("`{}` does not go with {}: the statement comes at given times (`at`, `every`, "
                            "`times`) or at a rate (`rate`, `arrivals`, `from`, `until`)",
                            key, by_rate ? "`rate`" : "given times"));
    const bool of_publication =
        facts->scope == DdlScope::Membership or facts->scope == DdlScope::PublicationRow or
        facts->scope == DdlScope::PublicationName or facts->scope == DdlScope::PublicationOwner;
    const bool names_table = facts->scope == DdlScope::OneTable or facts->scope == DdlScope::Membership;
    if (not names_table and fields.node().find("table") != nullptr)
      problem(fields, path, "table", fmt::format("{} names no table that is decoded", facts->name));
    if (of_publication and fields.node().find("publication") == nullptr)
      problems_.add(fields.node().at, path + ".publication",
                    fmt::format("`publication` is missing: which publication {} changes", facts->name));
    if (not of_publication and fields.node().find("publication") != nullptr)
      problem(fields, path, "publication", fmt::format("{} changes no publication", facts->name));
    if (facts->scope != DdlScope::OneTable and fields.integer("relations") > 1)
      problem(fields, path, "relations", fmt::format("{} goes over one relation", facts->name));
    if (fields.flag("other_database") and (of_publication or fields.node().find("table") != nullptr))
      problem(fields, path, "other_database",
              "tables and publications of a scenario are in the database of its slots");
    check_place(entry);
  }

  /// A publication lies on the server where it is changed.
  void check_place(const NamedFields& entry) {
    const auto publication = scenario_.publications.find(entry.fields.text("publication"));
    if (publication == scenario_.publications.end() or not entry.fields.usable("server") or
        publication->second.server == entry.fields.text("server"))
      return;
    problem(entry.fields, entry.path, "publication",
            fmt::format("{} is on {}, the statement runs on {}", publication->first,
                        publication->second.server, entry.fields.text("server")));
  }

  void check_sessions(const NamedFields& entry) {
    const Node* steps = entry.fields.given("transaction");
    if (steps == nullptr)
      return;
    for (std::size_t i = 0; i < steps->items.size(); ++i)
      for (const char* key : {"savepoint", "rollback_to", "release", "rolled_back"})
        if (steps->items[i].is_map() and steps->items[i].find(key) != nullptr)
          problems_.add(
              steps->items[i].at, fmt::format("{}.transaction[{}].{}", entry.path, i, key),
              fmt::format("`{}` does not stand in a transaction of several `sessions`: their steps are "
                          "statements and pauses",
                          key));
  }

  void check_decode(const NamedFields& entry) {
    const auto& [name, path, fields] = entry;
    for (const auto* map : {"subscriptions", "consumers"})
      if (find_entry(root_, map, name) != nullptr)
        problems_.add(fields.node().at, path,
                      fmt::format("a slot is named after it, and one of {} has the same name", map));
    if (fields.node().find("every") != nullptr and fields.integer("times") == 1 and fields.usable("times"))
      problem(fields, path, "every", "one call has no distance from the next; raise `times`");
    if (fields.given("at") == nullptr and fields.node().find("at") == nullptr and endless_load())
      problems_.add(
          fields.node().at, path + ".at",
          "`at` is missing: part of the workload goes on to the end of the run, so it is never over");
  }

  bool endless_load() const {
    return std::any_of(scenario_.flows.begin(), scenario_.flows.end(),
                       [](const FlowLoad& flow) { return flow.until_s == 0; }) or
           std::any_of(scenario_.ddl.begin(), scenario_.ddl.end(),
                       [](const DdlLoad& load) { return load.rate_per_s > 0 and load.until_s == 0; });
  }

  void problem(const Fields& fields, const std::string& path, std::string_view key,
               const std::string& message) {
    problems_.add(fields.at(key), path + "." + std::string(key), message);
  }

  const Node& root_;
  Scenario& scenario_;
  Problems& problems_;
};

} // namespace

void check_catalog_changes(Building& building) { CatalogCheck(building).check(); }

} // namespace replisim
