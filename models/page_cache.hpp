// How much of a server's tables its memory holds: which share of page touches reads from the device.
//
// Pages compete for shared buffers and the operating system's cache; what is touched more often per page
// stays. Che's approximation of an LRU cache (H. Che, Y. Tung, Z. Wang, "Hierarchical Web Caching Systems",
// IEEE JSAC 20(7), 2002) gives the hit share of each class of pages that are touched evenly.
#pragma once

#include "models/table.hpp"

#include <map>
#include <vector>

namespace replisim {

inline constexpr Bytes heap_page_bytes = 8192;

/// Pages of one kind, all of them touched equally often, in no order.
struct PageClass {
  double pages = 0;
  double touches_per_s = 0; ///< of the class; only ratios between classes matter
};

/// For each class the share of touches that miss a cache of `cache_pages`: exp(-t x touches per page), with
/// the t at which the expected number of pages held is `cache_pages`. All 0 when everything touched fits.
std::vector<double> miss_shares(const std::vector<PageClass>& classes, double cache_pages);

/// Pages of a table of `rows` rows (a fraction is a part of a page).
double heap_pages(const Table& table, double rows);
/// Leaf pages of its primary-key index, 0 without one, and of all its secondary indexes, whose entries are
/// taken for 16 bytes in no order. Inner pages, one in some hundred, are not counted: they stay in memory.
double key_index_pages(const Table& table, double rows);
double secondary_index_pages(const Table& table, double rows);

/// Whether the primary key's entries arrive in key order.
bool key_is_ascending(const Table& table);

/// Rows per second that a server changes in one table; rows picked at random, or one after the other.
struct TableTouches {
  const Table* table = nullptr;
  double rows = 0; ///< that the table holds, a mean over the run
  double inserted_per_s = 0;
  double updated_per_s = 0, deleted_per_s = 0; ///< picked at random
  double updated_in_order_per_s = 0, deleted_in_order_per_s = 0;
};

/// Of a table: its rows, and the shares of page touches that read from the device.
struct TableResidence {
  double rows = 0;
  double heap_miss = 0;
  double key_miss = 0;
  double secondary_miss = 0;
};

/// By table name, for a server whose pages find `cache_bytes` of memory.
std::map<std::string, TableResidence> table_residence(const std::vector<TableTouches>& touches,
                                                      double cache_bytes);

} // namespace replisim
