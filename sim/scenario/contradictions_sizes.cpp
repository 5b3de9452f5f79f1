// What does not fit into a table of PostgreSQL: rows at the start, and the versions one transaction makes.
#include "sim/scenario/scenario_parts.hpp"

#include "models/base/units.hpp"
#include "models/page_cache.hpp"
#include "models/table.hpp"

#include <fmt/format.h>

namespace replisim {

namespace {

/// InvalidBlockNumber, 2^32 - 1, is no page (storage/block.h; "relation size" and "rows per table" of the
/// documentation's appendix PostgreSQL Limits).
constexpr double most_pages = 4294967295.0;

/// Of all copies of the table together.
double most_rows(const Table& table) {
  return most_pages * rows_per_heap_page(table) * static_cast<double>(table.copies);
}

std::string too_many(double rows, const Table& table, const std::string& what) {
  return fmt::format("{:.0f} {} do not fit into {}: PostgreSQL keeps a table in at most {:.0f} pages of {}, "
                     "which hold {:.0f} of its rows",
                     rows, what, table.name, most_pages, format_bytes(static_cast<double>(heap_page_bytes)),
                     most_rows(table));
}

/// The step that makes a version for each of its rows, and its table; nothing for others and mistaken ones.
const Table* versions_of(const Fields& step, const std::map<std::string, Table>& tables) {
  for (const char* verb : {"insert", "update"})
    if (step.given(verb) != nullptr and step.given("rows") != nullptr)
      if (const auto table = tables.find(step.text(verb)); table != tables.end())
        return &table->second;
  return nullptr;
}

} // namespace

void check_sizes(Building& building) {
  const auto& tables = building.scenario.tables;
  const auto is_sure = [&](const Table& table) {
    const Node* node = find_entry(building.root, "tables", table.name);
    return node != nullptr and not node->bad and Fields(*node, object_of("table")).usable("columns") and
           not table.columns.empty();
  };
  for (const auto& [name, table] : tables)
    if (is_sure(table) and static_cast<double>(table.initial_rows) > most_rows(table))
      building.problems.add(find_entry(building.root, "tables", name)->find("rows")->at,
                            "tables." + name + ".rows",
                            too_many(static_cast<double>(table.initial_rows), table, "rows"));
  for (const NamedFields& entry : named_entries(building.root, "workload")) {
    const Node* steps = entry.fields.given("transaction");
    if (steps == nullptr or load_kind(entry.fields) != LoadKind::Batch)
      continue;
    std::map<std::string, double> versions; // nothing of a transaction that is under way is vacuumed
    for (std::size_t i = 0; i < steps->items.size(); ++i) {
      if (steps->items[i].bad)
        break;
      const Fields step(steps->items[i], object_of("step"));
      const Table* table = versions_of(step, tables);
      if (table == nullptr or not is_sure(*table))
        continue;
      double& made = versions.try_emplace(table->name, table->initial_rows).first->second;
      const double before = made;
      made += static_cast<double>(step.integer("rows"));
      if (before <= most_rows(*table) and made > most_rows(*table))
        building.problems.add(step.at("rows"), fmt::format("{}.transaction[{}].rows", entry.path, i),
                              too_many(made, *table, "row versions, with those that are there before it,"));
    }
  }
}

} // namespace replisim
