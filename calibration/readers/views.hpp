// Snapshots of statistics views: CSV, JSON, psql's aligned and expanded text, and what
// calibration/collect.sql gathers. Which view it is follows from the columns.
#pragma once

#include "calibration/readers/reader.hpp"

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace replisim::readers {

std::unique_ptr<Reader> make_views_reader();

/// What a column of a view is.
struct ViewColumn {
  enum class Role { Counter, Gauge, Lsn, Interval, Label, Plain } role = Role::Plain;
  std::string_view name;
  std::string_view metric; ///< empty: the column's name
  double unit = 1;         ///< base units in one of the column's
};

struct ViewKind {
  std::string_view name;
  std::vector<std::string_view> marks; ///< columns that no other view has all of
  std::vector<ViewColumn> columns;     ///< of all versions
  const ViewColumn* find(std::string_view column) const;
};

/// The view whose marks are all among `columns`; null when there is none.
const ViewKind* view_of(const std::vector<std::string>& columns);

/// "2026-11-30 15:17:57.722546+00", also with T and with minutes in the zone, in microseconds of UTC.
std::optional<TimeUs> parse_view_time(std::string_view text);

/// "00:00:00.001234", "1 day 02:03:04" in seconds.
std::optional<double> parse_interval(std::string_view text);

} // namespace replisim::readers
