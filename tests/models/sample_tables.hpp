// Tables that several model tests share.
#pragma once

#include "models/table.hpp"

#include <string>

namespace replisim::sample {

/// test_tab(a int primary key, b text, c timestamptz, d bigint), a = 1, 2, 3, ..., b an md5 in hex, d = 999.
inline Table test_tab(Rows initial_rows = 0) {
  Table table;
  table.name = std::string("test_tab");
  table.columns = {{"a", ColumnType::Int4, 0, {ColumnValue::Kind::Sequence, 0}},
                   {"b", ColumnType::Text, 32, {}},
                   {"c", ColumnType::Timestamptz, 0, {}},
                   {"d", ColumnType::Int8, 0, {ColumnValue::Kind::Constant, 999}}};
  table.primary_key = {0};
  table.initial_rows = initial_rows;
  return table;
}

/// A table of one column, which is its key.
inline Table one_column(ColumnType type, int width_bytes = 0) {
  Table table;
  table.name = std::string("t");
  table.columns = {{"k", type, width_bytes, {}}};
  table.primary_key = {0};
  return table;
}

} // namespace replisim::sample
