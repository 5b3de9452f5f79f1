#include "calibration/readers/table_columns.hpp"

#include "models/base/errors.hpp"
#include "models/base/suggest.hpp"
#include "models/base/units.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <fstream>
#include <optional>
#include <sstream>
#include <utility>

namespace replisim::readers {

namespace {

using Role = TableColumn::Role;

struct Unit {
  std::string_view name;
  double factor;
};

constexpr std::array<Unit, 11> units = {{{"s", 1},
                                         {"ms", 1e-3},
                                         {"us", 1e-6},
                                         {"ns", 1e-9},
                                         {"min", 60},
                                         {"h", 3600},
                                         {"B", 1},
                                         {"kB", 1024},
                                         {"MB", 1048576},
                                         {"GB", 1073741824},
                                         {"TB", 1099511627776}}};

std::optional<double> factor_of(std::string_view unit) {
  for (const Unit& known : units)
    if (known.name == unit)
      return known.factor;
  const auto number = parse_number(unit);
  return number and *number > 0 ? number : std::nullopt;
}

std::string unit_list() {
  std::string list;
  for (const Unit& unit : units)
    list += fmt::format("{}, ", unit.name);
  return list + "or a factor such as 1e6";
}

/// Counts that bear no unit in their name.
constexpr std::array<std::string_view, 19> counts = {"tps",
                                                     "apply_tps",
                                                     "rows",
                                                     "changes",
                                                     "messages",
                                                     "transactions",
                                                     "txns",
                                                     "total_txns",
                                                     "spill_txns",
                                                     "spill_count",
                                                     "stream_txns",
                                                     "stream_count",
                                                     "wal_records",
                                                     "wal_fpi",
                                                     "peeks",
                                                     "probes",
                                                     "transactions_failed",
                                                     "committed_transactions",
                                                     "committed_changes"};

/// Endings of times and rates, and what the metric's name then ends in.
struct Ending {
  std::string_view text;
  std::string_view base;
  double factor;
};
constexpr std::array<Ending, 11> endings = {{{"_per_s", "_per_s", 1},
                                             {"_bytes_per_change", "_bytes_per_change", 1},
                                             {"_us_per_change", "_s_per_change", 1e-6},
                                             {"_pct", "_pct", 1},
                                             {"_cores", "_cores", 1},
                                             {"_bytes", "_bytes", 1},
                                             {"_ms", "_s", 1e-3},
                                             {"_us", "_s", 1e-6},
                                             {"_ns", "_s", 1e-9},
                                             {"_min", "_s", 60},
                                             {"_s", "_s", 1}}};
constexpr std::array<std::string_view, 6> unclear = {"_kb", "_mb", "_gb", "_tb", "_MB", "_GB"};

class MapReader {
public:
  explicit MapReader(std::string file) : file_(std::move(file)) {}

  void take(std::string_view text) {
    ++line_;
    std::istringstream words(std::string(text.substr(0, text.find('#'))));
    std::string column, equals, role, unit, rest;
    if (not(words >> column))
      return;
    if (not(words >> equals >> role) or equals != "=")
      return fail(fmt::format("found '{}'; a line is COLUMN = METRIC [UNIT], COLUMN = label [NAME], "
                              "COLUMN = time [UNIT] or COLUMN = -",
                              text));
    words >> unit;
    if (words >> rest)
      return fail(fmt::format("{}: '{}' is one word too many", column, rest));
    const auto made = column_of(column, role, unit);
    if (made and not map_.emplace(column, *made).second)
      fail(fmt::format("column '{}' stands here for the second time", column));
  }

  ColumnMap finish() {
    if (map_.empty() and mistakes_.empty())
      fail("names no column");
    if (not mistakes_.empty())
      throw ScenarioError(std::move(mistakes_));
    return std::move(map_);
  }

private:
  void fail(std::string message) { mistakes_.push_back({file_, line_, 1, {}, std::move(message)}); }

  std::optional<TableColumn> column_of(const std::string& column, const std::string& role,
                                       const std::string& unit) {
    if (role == "-")
      return TableColumn{Role::Ignored, column, 1};
    if (role == "label")
      return TableColumn{Role::Label, unit.empty() ? column : unit, 1};
    if (role == "time" and unit == "wall")
      return TableColumn{Role::Wall, column, 1};
    const auto factor = unit.empty() ? std::optional(1.0) : factor_of(unit);
    if (not factor) {
      fail(fmt::format("{}: '{}' is no unit; allowed are {}{}", column, unit, unit_list(),
                       role == "time" ? ", and wall" : ""));
      return std::nullopt;
    }
    return TableColumn{role == "time" ? Role::SinceStart : Role::Metric, role == "time" ? column : role,
                       *factor};
  }

  std::string file_;
  int line_ = 0;
  ColumnMap map_;
  std::vector<Diagnostic> mistakes_;
};

} // namespace

ColumnMap read_column_map(const std::filesystem::path& file) {
  std::error_code error;
  std::ifstream in;
  if (not std::filesystem::is_directory(file, error))
    in.open(file);
  if (not in.is_open())
    throw UsageError(fmt::format("the column map '{}' cannot be read", file.string()));
  MapReader reader(file.string());
  std::string line;
  while (std::getline(in, line))
    reader.take(line);
  return reader.finish();
}

TableColumn column_by_name(std::string_view name) {
  if (std::find(counts.begin(), counts.end(), name) != counts.end())
    return {Role::Metric, std::string(name), 1};
  // Settings in kB and MB are PostgreSQL's, and tell rows apart.
  if (name.find("work_mem") != std::string_view::npos)
    return {Role::Label, std::string(name), 1};
  for (const std::string_view ending : unclear)
    if (name.ends_with(ending) or name.ends_with(fmt::format("{}_per_s", ending)) or
        name == fmt::format("{}_per_s", ending.substr(1)))
      return {Role::Unclear, std::string(name), 1};
  for (const Ending& ending : endings)
    if (name.size() > ending.text.size() and name.ends_with(ending.text))
      return {Role::Metric,
              fmt::format("{}{}", name.substr(0, name.size() - ending.text.size()), ending.base),
              ending.factor};
  return {Role::Label, std::string(name), 1};
}

} // namespace replisim::readers
