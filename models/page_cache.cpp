#include "models/page_cache.hpp"

#include "models/btree.hpp"

#include <cmath>

namespace replisim {

namespace {
constexpr double random_leaf_fill = 0.693; ///< ln 2: leaves that split in the middle (Yao, 1978)
constexpr double ascending_leaf_fill = 0.9;
constexpr Bytes secondary_entry_bytes = 16;

double leaf_pages(Bytes entry_bytes, bool ascending, double rows) {
  IndexShape shape;
  shape.entry_bytes = entry_bytes;
  const double full_pages = rows / static_cast<double>(ascending_leaf_entries(shape));
  return ascending ? full_pages : full_pages * ascending_leaf_fill / random_leaf_fill;
}

/// Pages held after time `t` in which nothing was evicted.
double held(const std::vector<PageClass>& classes, double t) {
  double pages = 0;
  for (const auto& c : classes)
    if (c.pages > 0)
      pages += c.pages * -std::expm1(-t * c.touches_per_s / c.pages);
  return pages;
}
} // namespace

std::vector<double> miss_shares(const std::vector<PageClass>& classes, double cache_pages) {
  double touched = 0;
  for (const auto& c : classes)
    touched += c.touches_per_s > 0 ? c.pages : 0;
  std::vector<double> misses(classes.size(), 0);
  if (touched <= cache_pages)
    return misses;
  double low = 0, high = 1;
  while (held(classes, high) < cache_pages and high < 1e30)
    high *= 2;
  constexpr int bisections = 200; // to the last bit
  for (int i = 0; i < bisections; ++i) {
    const double middle = (low + high) / 2;
    (held(classes, middle) < cache_pages ? low : high) = middle;
  }
  for (std::size_t i = 0; i < classes.size(); ++i)
    if (classes[i].pages > 0 and classes[i].touches_per_s > 0)
      misses[i] = std::exp(-low * classes[i].touches_per_s / classes[i].pages);
  return misses;
}

double heap_pages(const Table& table, double rows) { return rows / rows_per_heap_page(table); }

bool key_is_ascending(const Table& table) {
  return table.primary_key.size() == 1 and
         table.columns[static_cast<std::size_t>(table.primary_key.front())].value.kind ==
             ColumnValue::Kind::Sequence;
}

double key_index_pages(const Table& table, double rows) {
  constexpr Bytes header_bytes = 8, alignment = 8;
  if (table.primary_key.empty())
    return 0;
  const Bytes data = (key_data_bytes(table) + alignment - 1) / alignment * alignment;
  return leaf_pages(header_bytes + data, key_is_ascending(table), rows);
}

double secondary_index_pages(const Table& table, double rows) {
  return table.secondary_indexes * leaf_pages(secondary_entry_bytes, false, rows);
}

namespace {
/// Rows touched in order share their pages with their neighbours.
double pages_per_row_in_order(double pages, double rows) { return rows > 0 ? pages / rows : 0; }

void add_classes(const TableTouches& t, std::vector<PageClass>& classes) {
  const double heap = heap_pages(*t.table, t.rows), key = key_index_pages(*t.table, t.rows);
  const double picked = t.updated_per_s + t.deleted_per_s;
  const double in_order = t.updated_in_order_per_s + t.deleted_in_order_per_s;
  const double random_key = key_is_ascending(*t.table) ? 0 : t.inserted_per_s + in_order;
  const double ordered_key = key_is_ascending(*t.table) ? in_order : 0;
  const double entries =
      t.inserted_per_s + (1 - t.table->hot_updates) * (t.updated_per_s + t.updated_in_order_per_s);
  classes.push_back({heap, picked + in_order * pages_per_row_in_order(heap, t.rows)});
  classes.push_back({key, picked + random_key + ordered_key * pages_per_row_in_order(key, t.rows)});
  classes.push_back({secondary_index_pages(*t.table, t.rows), entries * t.table->secondary_indexes});
}
} // namespace

std::map<std::string, TableResidence> table_residence(const std::vector<TableTouches>& touches,
                                                      double cache_bytes) {
  std::vector<PageClass> classes;
  for (const auto& t : touches)
    add_classes(t, classes);
  const auto misses = miss_shares(classes, cache_bytes / static_cast<double>(heap_page_bytes));
  std::map<std::string, TableResidence> out;
  for (std::size_t i = 0; i < touches.size(); ++i)
    out[touches[i].table->name] = {touches[i].rows, misses[3 * i], misses[3 * i + 1], misses[3 * i + 2]};
  return out;
}

} // namespace replisim
