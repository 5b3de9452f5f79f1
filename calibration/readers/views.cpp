#include "calibration/readers/views.hpp"

#include "calibration/readers/tables.hpp"

#include "calibration/import/wal_dump.hpp"
#include "calibration/readers/view_derived.hpp"
#include "models/base/suggest.hpp"
#include "models/base/units.hpp"
#include "sim/run/json_reading.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <set>

namespace replisim::readers {

namespace {

constexpr std::array<std::string_view, 7> time_columns = {
    "collected_at", "sampled_at", "now", "clock_timestamp", "snapshot_time", "ts", "time"};

std::string_view trimmed(std::string_view text) {
  const auto first = text.find_first_not_of(" \t");
  return first == std::string_view::npos ? std::string_view()
                                         : text.substr(first, text.find_last_not_of(" \t") - first + 1);
}

/// The time of psql's \watch: "Mon Nov 30 13:56:26 2026 (every 1s)", a title in front of it or not.
std::optional<TimeUs> watch_time(std::string_view line) {
  const auto every = line.find(" (every ");
  if (every == std::string_view::npos or every < 24)
    return std::nullopt;
  const std::string_view text = line.substr(every - 24, 24);
  static constexpr std::string_view months = "JanFebMarAprMayJunJulAugSepOctNovDec";
  const auto month = months.find(text.substr(4, 3));
  if (month == std::string_view::npos or month % 3 != 0)
    return std::nullopt;
  std::string day(trimmed(text.substr(8, 2)));
  return parse_wal_time(
      fmt::format("{}-{:02}-{:0>2} {}", text.substr(20, 4), month / 3 + 1, day, text.substr(11, 8)));
}

class Snapshots {
public:
  Snapshots(LineInput& input, ReadContext& context) : input_(input), context_(context) {}

  void add(std::string_view line) {
    if (const auto at = watch_time(line)) {
      watched_ = at;
      columns_.clear();
      return;
    }
    if (line.starts_with('{') or line.starts_with('['))
      return json(line);
    if (line.starts_with("-[ RECORD"))
      return begin_record();
    if (in_record_)
      return record_line(line);
    if (line.empty() or line.starts_with('(') or line.find_first_not_of("-+ ") == std::string_view::npos)
      return end_block(line);
    if (begin_block(line))
      return;
    row(line);
  }

  void finish() {
    end_record();
    if (rows_ == 0)
      return input_.report_file("no_rows", "holds no row of a statistics view");
    if (context_.info().time_base == TimeBase::None)
      input_.report_file("no_time",
                         "no row says when it was taken: the values stand alone, and there are no rates; a "
                         "column collected_at, \\watch or calibration/collect.sql gives times");
    derived_.finish();
    rates();
  }

private:
  using Row = ViewRow;

  void begin_record() {
    end_record();
    in_record_ = true;
    columns_.clear();
  }

  void end_record() {
    if (in_record_ and not record_.empty())
      take(record_);
    record_.clear();
    in_record_ = false;
  }

  void record_line(std::string_view line) {
    const auto bar = line.find('|');
    if (bar == std::string_view::npos)
      return end_record();
    record_[std::string(trimmed(line.substr(0, bar)))] = std::string(trimmed(line.substr(bar + 1)));
  }

  /// "(3 rows)": psql counts, so a block that was cut shows.
  void end_block(std::string_view line) {
    const auto stated =
        line.starts_with('(') ? parse_number(line.substr(1, line.find(' ') - 1)) : std::nullopt;
    if (stated and not columns_.empty() and *stated != static_cast<double>(block_rows_))
      input_.report("row_count", fmt::format("psql counted {:.0f} rows, {} stand above: some are missing",
                                             *stated, block_rows_));
    if (line.empty() or line.starts_with('('))
      columns_.clear();
  }

  bool begin_block(std::string_view line) {
    for (const char separator : {'|', ',', ';', '\t'}) {
      if (line.find(separator) == std::string_view::npos)
        continue;
      std::vector<std::string> names = split_cells(line, separator);
      if (view_of(names) == nullptr)
        continue;
      std::set<std::string> seen;
      for (std::string& name : names)
        if (not name.empty() and not seen.insert(name).second) {
          input_.report("repeated_column",
                        fmt::format("column '{}' appears twice; the second one is left out", name));
          name.clear();
        }
      columns_ = std::move(names);
      separator_ = separator;
      block_rows_ = 0;
      return true;
    }
    return false;
  }

  void row(std::string_view line) {
    if (columns_.empty())
      return input_.report(
          "no_view", fmt::format("'{}' belongs to no statistics view; it was left out", line.substr(0, 60)));
    const std::vector<std::string> cells = split_cells(line, separator_);
    if (cells.size() != columns_.size())
      return input_.report("cell_count",
                           fmt::format("the row has {} cells, the header {} columns; it was left out{}",
                                       cells.size(), columns_.size(),
                                       separator_ == ',' and cells.size() > columns_.size()
                                           ? " (decimal commas in a file with commas between cells?)"
                                           : ""));
    Row values;
    for (std::size_t i = 0; i < cells.size(); ++i)
      if (not columns_[i].empty())
        values[columns_[i]] = cells[i];
    ++block_rows_;
    take(values);
  }

  void json(std::string_view line) {
    const auto parsed = parse_json(line);
    if (parsed.is_discarded())
      return input_.report("bad_json", "the line begins like JSON and is none, or is cut; it was left out");
    if (parsed.is_array())
      for (const auto& each : parsed)
        json_row(each, "");
    else if (parsed.contains("view") and parsed["view"] == "facts")
      return; // settings and tables, for `replisim scenario --from`
    else if (parsed.contains("row") and parsed["row"].is_object())
      json_row(parsed["row"], parsed.contains("collected_at") and parsed["collected_at"].is_string()
                                  ? parsed["collected_at"].get<std::string>()
                                  : "");
    else
      json_row(parsed, "");
  }

  void json_row(const nlohmann::json& object, const std::string& collected_at) {
    if (not object.is_object())
      return input_.report("bad_json", "a row is no object; it was left out");
    Row values;
    for (const auto& [name, value] : object.items())
      values[name] = value.is_null() ? "" : (value.is_string() ? value.get<std::string>() : value.dump());
    if (not collected_at.empty())
      values["collected_at"] = collected_at;
    if (values.contains("server_version_num")) {
      const auto at = time_of(values);
      derived_.server(values, at, input_.line_number());
      if (at)
        store({ViewColumn::Role::Lsn, "wal_lsn", {}, 1}, values["wal_lsn"], {}, at);
      ++rows_;
      return;
    }
    take(values);
  }

  std::optional<TimeUs> time_of(const Row& values) {
    for (const std::string_view name : time_columns)
      if (const auto cell = values.find(name); cell != values.end() and not cell->second.empty()) {
        if (const auto at = parse_view_time(cell->second))
          return at;
        input_.report("no_time",
                      fmt::format("{}: '{}' is no time such as 2026-11-30 15:17:57+00", name, cell->second));
      }
    return watched_;
  }

  void take(const Row& values) {
    std::vector<std::string> names;
    for (const auto& [name, value] : values)
      names.push_back(name);
    const ViewKind* view = view_of(names);
    if (view == nullptr)
      return input_.report("no_view",
                           fmt::format("the columns ({}) are of no statistics view that is read; the row was "
                                       "left out",
                                       fmt::format("{}", fmt::join(names, ", ")).substr(0, 120)));
    ++rows_;
    if (context_.info().format.empty())
      context_.info().format = std::string(view->name);
    compare_columns(*view, names);
    const auto at = time_of(values);
    if (at)
      context_.info().see(*at);
    if (at)
      context_.info().time_base = TimeBase::Wall;
    Labels labels;
    for (const ViewColumn& column : view->columns)
      if (const auto cell = values.find(column.name);
          column.role == ViewColumn::Role::Label and cell != values.end() and not cell->second.empty())
        labels[label_name(column.name)] = cell->second;
    derived_.row(*view, values, labels, at, input_.line_number());
    if (view->name == "pg_locks")
      return; // single rows mean nothing
    for (const ViewColumn& column : view->columns)
      if (const auto cell = values.find(column.name); cell != values.end() and not cell->second.empty() and
                                                      column.role != ViewColumn::Role::Label and
                                                      column.role != ViewColumn::Role::Plain)
        store(column, cell->second, labels, at);
  }

  static std::string label_name(std::string_view column) {
    if (column == "slot_name")
      return "slot";
    return column == "subname" ? "subscription" : std::string(column);
  }

  /// Says once a view which columns nobody knows.
  void compare_columns(const ViewKind& view, const std::vector<std::string>& names) {
    for (const std::string& name : names) {
      const bool is_time = std::find(time_columns.begin(), time_columns.end(), name) != time_columns.end();
      if (is_time or view.find(name) != nullptr or view.name == "pg_stat_database" or
          not unknown_.insert(std::string(view.name) + "." + name).second)
        continue;
      std::vector<std::string> known;
      for (const ViewColumn& column : view.columns)
        known.emplace_back(column.name);
      const std::string near = nearest_name(name, known);
      input_.report("unknown_column",
                    fmt::format("{} of 14 to 19 has no column '{}'; it is left out{}", view.name, name,
                                near.empty() ? "" : fmt::format(" (did you mean '{}'?)", near)));
    }
  }

  std::optional<double> value_of(const ViewColumn& column, const std::string& cell) {
    if (column.role == ViewColumn::Role::Lsn) {
      if (const auto lsn = wal_lsn(cell))
        return static_cast<double>(lsn->value);
      input_.report("no_lsn",
                    fmt::format("{}: '{}' is no WAL position such as 0/52C5490", column.name, cell));
      return std::nullopt;
    }
    if (column.role == ViewColumn::Role::Interval) {
      if (const auto seconds = parse_interval(cell))
        return seconds;
      input_.report("no_interval",
                    fmt::format("{}: '{}' is no interval such as 00:00:01.5", column.name, cell));
      return std::nullopt;
    }
    if (const auto number = parse_number(cell))
      return *number * column.unit;
    std::string with_point = cell;
    std::replace(with_point.begin(), with_point.end(), ',', '.');
    if (const auto number = parse_number(with_point);
        number and std::count(cell.begin(), cell.end(), ',') == 1) {
      input_.report("decimal_comma", fmt::format("{}: '{}' was read as {}", column.name, cell, with_point));
      return *number * column.unit;
    }
    input_.report("no_number", fmt::format("{}: '{}' is no number; it was left out", column.name, cell));
    return std::nullopt;
  }

  void store(const ViewColumn& column, const std::string& cell, const Labels& labels,
             std::optional<TimeUs> at) {
    if (cell.empty())
      return;
    const auto value = value_of(column, cell);
    if (not value)
      return;
    const std::string metric(column.metric.empty() ? column.name : column.metric);
    const std::uint64_t line = input_.line_number();
    if (not at) {
      context_.observation.figures.push_back(
          {metric, *value, {}, labels, "one snapshot", context_.place(line, line)});
      return;
    }
    // A counter is a counter whatever its series; positions grow as well, so that they have a rate.
    const bool counts = column.role == ViewColumn::Role::Counter or column.role == ViewColumn::Role::Lsn;
    auto& series = context_.observation.series(metric, context_.source, labels, counts);
    if (series.count() > 0 and *at < series.last().at_us)
      return input_.report(
          "clock_back", fmt::format("{}: the row is older than the one before it; it was left out", metric));
    if (column.role == ViewColumn::Role::Counter and series.count() > 0 and *value < series.last().value)
      input_.report("counter_reset",
                    fmt::format("{} falls from {:.0f} to {:.0f}: statistics were reset, or the server was "
                                "started again",
                                metric, series.last().value, *value));
    series.add({*at, *value, line});
  }

  /// Two snapshots with times make a rate.
  void rates() {
    for (const auto& [key, series] : context_.observation.all_series())
      if (series.source() == context_.source and series.is_counter() and series.count() > 1)
        if (const auto rate = rate_per_s(series.first(), series.last()))
          context_.observation.figures.push_back({series.metric() + "_per_s",
                                                  *rate,
                                                  {},
                                                  series.labels(),
                                                  "between the first and the last snapshot",
                                                  context_.place(series.first().line, series.last().line)});
  }

  LineInput& input_;
  ReadContext& context_;
  std::vector<std::string> columns_; ///< of the block in hand
  char separator_ = ',';
  std::uint64_t block_rows_ = 0, rows_ = 0;
  bool in_record_ = false;
  Row record_;
  std::optional<TimeUs> watched_;
  std::set<std::string> unknown_;
  ViewDerivations derived_{context_};
};

class ViewsReader final : public Reader {
public:
  std::string_view name() const override { return "views"; }
  std::string_view reads() const override { return "snapshots of statistics views (CSV, JSON, psql's text)"; }

  Match recognises(const FileHead& head) const override {
    std::vector<std::string> record;
    for (const std::string_view line : head.lines(60)) {
      if (line.starts_with("{\"collected_at\""))
        return Match::Certain;
      for (const char separator : {'|', ',', ';', '\t'})
        if (line.find(separator) != std::string_view::npos and
            view_of(split_cells(line, separator)) != nullptr)
          return Match::Certain;
      if (line.starts_with('{') or line.starts_with("[{")) {
        const auto parsed = parse_json(line);
        const auto& object = parsed.is_array() and not parsed.empty() ? parsed.front() : parsed;
        std::vector<std::string> names;
        if (object.is_object())
          for (const auto& [key, value] : object.items())
            names.push_back(key);
        if (view_of(names) != nullptr)
          return Match::Certain;
      }
      if (const auto bar = line.find('|'); bar != std::string_view::npos)
        record.emplace_back(trimmed(line.substr(0, bar)));
    }
    return view_of(record) != nullptr ? Match::Certain : Match::No;
  }

  void read(LineInput& input, ReadContext& context) const override {
    Snapshots snapshots(input, context);
    std::string_view line;
    while (input.next(line))
      snapshots.add(line);
    snapshots.finish();
  }
};

} // namespace

std::optional<TimeUs> parse_view_time(std::string_view text) {
  std::string plain(text.substr(0, 10));
  if (text.size() < 19 or (text[10] != ' ' and text[10] != 'T'))
    return std::nullopt;
  plain += ' ';
  const auto zone_at = text.find_first_of("+-Z ", 19);
  plain += text.substr(11, zone_at == std::string_view::npos ? zone_at : zone_at - 11);
  const auto local = parse_wal_time(plain);
  if (not local)
    return std::nullopt;
  TimeUs offset_s = 0;
  if (zone_at != std::string_view::npos and (text[zone_at] == '+' or text[zone_at] == '-')) {
    const auto hours = parse_number(text.substr(zone_at + 1, 2));
    const auto colon = text.find(':', zone_at);
    const auto minutes =
        colon == std::string_view::npos ? std::optional(0.0) : parse_number(text.substr(colon + 1, 2));
    if (not hours or not minutes)
      return std::nullopt;
    offset_s = static_cast<TimeUs>(*hours * 3600 + *minutes * 60) * (text[zone_at] == '-' ? -1 : 1);
  }
  return *local - offset_s * 1'000'000;
}

std::unique_ptr<Reader> make_views_reader() { return std::make_unique<ViewsReader>(); }

} // namespace replisim::readers
