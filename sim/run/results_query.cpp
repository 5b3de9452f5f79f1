#include "sim/run/results_query.hpp"

#include "models/base/errors.hpp"
#include "models/base/suggest.hpp"
#include "models/base/units.hpp"
#include "sim/run/json_reading.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>

namespace replisim {

namespace {

/// A part of an SQL condition and the values of its parameters.
struct Condition {
  std::string sql;
  std::vector<std::string> texts;
  std::optional<double> number;
};

const std::vector<std::string>& run_fields() {
  static const std::vector<std::string> names = {"point",  "replication", "seed",
                                                 "status", "reason",      "bottleneck"};
  return names;
}

std::string trimmed(const std::string& text) {
  const auto first = text.find_first_not_of(' ');
  return first == std::string::npos ? "" : text.substr(first, text.find_last_not_of(' ') - first + 1);
}

struct Filter {
  std::string name;
  std::string operation;
  std::string value;
};

Filter parse_filter(const std::string& text) {
  static constexpr std::array operations = {"<=", ">=", "!=", "<", ">", "="};
  const auto at = text.find_first_of("<>=!");
  for (const std::string operation : operations) {
    if (at == std::string::npos or text.compare(at, operation.size(), operation) != 0)
      continue;
    Filter out{trimmed(text.substr(0, at)), operation, trimmed(text.substr(at + operation.size()))};
    if (not out.name.empty() and not out.value.empty())
      return out;
  }
  throw UsageError(
      fmt::format("--where '{}': expected NAME OP VALUE with < <= > >= = or !=, as in 'total_s < 30'", text));
}

/// The number a label or a value stands for; nothing when it is no quantity.
std::optional<double> quantity(const std::string& text) {
  if (const auto number = parse_number(text))
    return number;
  for (const auto dimension :
       {Dimension::Size, Dimension::Duration, Dimension::Percent, Dimension::ByteRate, Dimension::Frequency})
    if (const auto parsed = parse_quantity(text, dimension); parsed.ok)
      return parsed.value;
  return std::nullopt;
}

std::string compared(const std::string& operation) { return operation == "=" ? "IS" : operation; }

Condition run_condition(const Filter& filter) {
  const bool number = filter.name == "point" or filter.name == "replication";
  if (not number and filter.operation != "=" and filter.operation != "!=")
    throw UsageError(fmt::format("'{}' is text: it compares with = and != only", filter.name));
  Condition out;
  out.sql = fmt::format("run.{} {} ?", filter.name,
                        filter.operation == "!=" ? "IS NOT" : compared(filter.operation));
  if (not number) {
    out.texts = {filter.value};
  } else if (out.number = parse_number(filter.value); not out.number) {
    throw UsageError(fmt::format("'{}' is not a number", filter.value));
  }
  return out;
}

Condition metric_condition(const Filter& filter) {
  const auto number = quantity(filter.value);
  if (not number)
    throw UsageError(fmt::format("'{}' is no number to compare {} with", filter.value, filter.name));
  return {fmt::format("(SELECT value FROM value WHERE value.run = run.run AND metric = "
                      "(SELECT id FROM metric WHERE name = ?)) {} ?",
                      filter.operation),
          {filter.name},
          number};
}

/// Labels that satisfy the filter: there are few, and SQL knows no units.
Condition label_condition(ResultsFile& file, const Filter& filter, std::size_t position) {
  Condition out;
  const bool as_text = filter.operation == "=" or filter.operation == "!=";
  const auto wanted = quantity(filter.value);
  if (not as_text and not wanted)
    throw UsageError(fmt::format("'{}' is no quantity to compare {} with", filter.value, filter.name));
  SqlStatement labels(file.database(),
                      "SELECT DISTINCT label FROM setting WHERE position = ? ORDER BY label");
  labels.bind(1, static_cast<std::int64_t>(position));
  while (labels.step()) {
    const std::string label = labels.text(0);
    const auto found = quantity(label);
    const bool holds = filter.operation == "="    ? label == filter.value
                       : filter.operation == "!=" ? label != filter.value
                       : not found                ? false
                       : filter.operation == "<"  ? *found < *wanted
                       : filter.operation == "<=" ? *found <= *wanted
                       : filter.operation == ">"  ? *found > *wanted
                                                  : *found >= *wanted;
    if (holds)
      out.texts.push_back(label);
  }
  out.sql = fmt::format("(SELECT label FROM setting WHERE setting.point = run.point AND position = {}) IN "
                        "(SELECT value FROM json_each(?))",
                        position);
  out.texts = {nlohmann::json(out.texts).dump()};
  return out;
}

Condition condition_of(ResultsFile& file, const std::string& text) {
  const Filter filter = parse_filter(text);
  if (std::find(run_fields().begin(), run_fields().end(), filter.name) != run_fields().end())
    return run_condition(filter);
  const auto& columns = file.identity().columns;
  const auto column = std::find(columns.begin(), columns.end(), filter.name);
  if (column != columns.end())
    return label_condition(file, filter, static_cast<std::size_t>(column - columns.begin()));
  auto known = metric_names(file);
  if (std::find(known.begin(), known.end(), filter.name) != known.end())
    return metric_condition(filter);
  known.insert(known.end(), columns.begin(), columns.end());
  known.insert(known.end(), run_fields().begin(), run_fields().end());
  throw UsageError(fmt::format("--where '{}': there is no metric or column '{}'{}", text, filter.name,
                               suggestion(filter.name, known)));
}

struct Selection {
  std::string where; ///< with the word itself
  std::vector<Condition> conditions;

  /// Binds from `index` on; returns the next one.
  int bind(SqlStatement& statement, int index) const {
    for (const auto& condition : conditions) {
      for (const auto& text : condition.texts)
        statement.bind(index++, text);
      if (condition.number)
        statement.bind(index++, *condition.number);
    }
    return index;
  }
};

Selection selection_of(ResultsFile& file, const ResultsQuery& query) {
  Selection out;
  std::vector<std::string> parts;
  for (const auto& text : query.where)
    out.conditions.push_back(condition_of(file, text));
  for (const auto& condition : out.conditions)
    parts.push_back(condition.sql);
  if (query.failed_only)
    parts.emplace_back("run.status = 'failed'");
  if (not parts.empty())
    out.where = fmt::format(" WHERE {}", fmt::join(parts, " AND "));
  return out;
}

/// Fills what has tables of its own.
class Details {
public:
  explicit Details(ResultsFile& file)
      : settings_(file.database(), "SELECT label FROM setting WHERE point = ? ORDER BY position"),
        values_(file.database(), "SELECT name, value FROM value JOIN metric ON id = metric WHERE run = ?") {}

  void fill(StoredRun& run) {
    settings_.bind(1, static_cast<std::int64_t>(run.point));
    while (settings_.step())
      run.labels.push_back(settings_.text(0));
    settings_.reset();
    values_.bind(1, static_cast<std::int64_t>(run.run));
    while (values_.step())
      run.metrics[values_.text(0)] = values_.number(1);
    values_.reset();
  }

private:
  SqlStatement settings_;
  SqlStatement values_;
};

constexpr const char* run_columns = "SELECT run, point, replication, seed, status, reason, bottleneck, "
                                    "scenario_hash, fingerprint, warnings FROM run";

StoredRun run_from(const SqlStatement& row) {
  StoredRun out;
  out.run = static_cast<std::uint64_t>(row.integer(0));
  out.point = static_cast<std::uint64_t>(row.integer(1));
  out.replication = static_cast<int>(row.integer(2));
  out.seed = row.text(3);
  out.failed = row.text(4) == "failed";
  out.reason = row.text(5);
  out.bottleneck = row.text(6);
  out.scenario_hash = row.text(7);
  out.fingerprint = row.text(8);
  if (not row.is_null(9))
    for (const auto& warning : parse_json(row.text(9)))
      if (warning.is_string())
        out.warnings.push_back(warning.get<std::string>());
  return out;
}

std::string order_of(ResultsFile& file, const ResultsQuery& query) {
  if (query.sort.empty())
    return " ORDER BY run";
  const bool descending = query.sort.front() == '-';
  const std::string name = query.sort.substr(descending ? 1 : 0);
  const auto known = metric_names(file);
  if (std::find(known.begin(), known.end(), name) == known.end())
    throw UsageError(fmt::format("--sort: there is no metric '{}'{}", name, suggestion(name, known)));
  return fmt::format(" ORDER BY (SELECT value FROM value WHERE value.run = run.run AND metric = "
                     "(SELECT id FROM metric WHERE name = ?)) {} NULLS LAST, run",
                     descending ? "DESC" : "ASC");
}

} // namespace

std::vector<std::string> metric_names(ResultsFile& file) {
  std::vector<std::string> out;
  SqlStatement select(file.database(), "SELECT name FROM metric ORDER BY name");
  while (select.step())
    out.push_back(select.text(0));
  return out;
}

void for_each_run(ResultsFile& file, const ResultsQuery& query,
                  const std::function<void(const StoredRun&)>& take) {
  const Selection selection = selection_of(file, query);
  std::string sql = run_columns + selection.where + order_of(file, query);
  if (query.limit > 0)
    sql += fmt::format(" LIMIT {}", query.limit);
  SqlStatement select(file.database(), sql);
  const int next = selection.bind(select, 1);
  if (not query.sort.empty())
    select.bind(next, query.sort.substr(query.sort.front() == '-' ? 1 : 0));
  Details details(file);
  while (select.step()) {
    StoredRun run = run_from(select);
    details.fill(run);
    take(run);
  }
}

std::uint64_t count_runs(ResultsFile& file, const ResultsQuery& query) {
  const Selection selection = selection_of(file, query);
  SqlStatement select(file.database(), "SELECT count(*) FROM run" + selection.where);
  selection.bind(select, 1);
  return select.step() ? static_cast<std::uint64_t>(select.integer(0)) : 0;
}

std::vector<StoredRun> runs_of_point(ResultsFile& file, std::uint64_t point) {
  std::vector<StoredRun> out;
  for_each_run(file, {{fmt::format("point = {}", point)}, {}, 0, false},
               [&](const StoredRun& run) { out.push_back(run); });
  return out;
}

std::vector<MetricSummary> summarise_runs(ResultsFile& file, const ResultsQuery& query,
                                          const std::vector<std::string>& only, const std::string& by) {
  const auto& columns = file.identity().columns;
  const auto column = std::find(columns.begin(), columns.end(), by);
  if (not by.empty() and column == columns.end())
    throw UsageError(fmt::format("--by: there is no column '{}'{}", by, suggestion(by, columns)));
  const auto known = metric_names(file);
  for (const auto& name : only)
    if (std::find(known.begin(), known.end(), name) == known.end())
      throw UsageError(fmt::format("--metric: there is no metric '{}'{}", name, suggestion(name, known)));
  const Selection selection = selection_of(file, query);
  const std::string group =
      by.empty()
          ? "''"
          : fmt::format("(SELECT label FROM setting WHERE setting.point = run.point AND position = {})",
                        column - columns.begin());
  // The order of groups is that of their first points.
  SqlStatement select(
      file.database(),
      fmt::format("SELECT {}, count(value.value), min(value.value), avg(value.value), "
                  "max(value.value), min(run.point) FROM run JOIN value ON value.run = run.run "
                  "AND value.metric = (SELECT id FROM metric WHERE name = ?){} GROUP BY 1 ORDER BY 6",
                  group, selection.where));
  std::vector<MetricSummary> out;
  for (const auto& name : only.empty() ? known : only) {
    select.bind(1, name);
    selection.bind(select, 2);
    while (select.step())
      if (select.integer(1) > 0)
        out.push_back({name, select.text(0), static_cast<std::uint64_t>(select.integer(1)), select.number(2),
                       select.number(3), select.number(4)});
    select.reset();
  }
  return out;
}

} // namespace replisim
