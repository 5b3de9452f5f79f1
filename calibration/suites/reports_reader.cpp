// Reading runs for the checks of user reports.
#include "calibration/suites/reports_catalogue.hpp"

#include <algorithm>
#include <limits>

#include <fmt/format.h>

namespace replisim {

namespace {
constexpr double nothing = std::numeric_limits<double>::quiet_NaN();

double read(const Metrics& metrics, const std::string& name) {
  const auto it = metrics.find(name);
  return it == metrics.end() ? nothing : it->second;
}

/// Index of a timeline column; the number of columns when there is none of that name.
std::size_t column_index(const Timeline& timeline, const std::string& name) {
  const auto it = std::find(timeline.columns.begin(), timeline.columns.end(), name);
  return static_cast<std::size_t>(it - timeline.columns.begin());
}
} // namespace

const RunResult* ReportReader::find(const std::string& run) const {
  const auto it = results_.find(run);
  return it == results_.end() ? nullptr : &it->second;
}

double ReportReader::metric(const std::string& run, const std::string& name) const {
  const RunResult* result = find(run);
  return result == nullptr ? nothing : read(result->metrics, name);
}

double ReportReader::slot(const std::string& run, const std::string& slot, const std::string& name) const {
  const RunResult* result = find(run);
  if (result == nullptr or not result->subscriptions.contains(slot))
    return nothing;
  return read(result->subscriptions.at(slot), name);
}

double ReportReader::outcome_s(const std::string& run, const std::string& kind) const {
  if (const RunResult* result = find(run))
    for (const Outcome& outcome : result->outcomes)
      if (outcome.kind == kind)
        return outcome.t_s;
  return nothing;
}

double ReportReader::outcomes(const std::string& run, const std::string& kind) const {
  const RunResult* result = find(run);
  if (result == nullptr)
    return nothing;
  return static_cast<double>(std::count_if(result->outcomes.begin(), result->outcomes.end(),
                                           [&](const Outcome& outcome) { return outcome.kind == kind; }));
}

double ReportReader::sample(const std::string& run, const std::string& column, double t_s) const {
  double value = nothing;
  if (const RunResult* result = find(run)) {
    const std::size_t at = column_index(result->timeline, column);
    for (const auto& row : result->timeline.rows)
      if (row.front() <= t_s and at < row.size())
        value = row[at];
  }
  return value;
}

double ReportReader::largest(const std::string& run, const std::vector<std::string>& columns, double from_s,
                             double to_s, const std::function<double(const std::vector<double>&)>& f) const {
  const RunResult* result = find(run);
  if (result == nullptr)
    return nothing;
  double most = nothing;
  for (const auto& row : result->timeline.rows) {
    if (row.front() < from_s or row.front() > to_s)
      continue;
    std::vector<double> values;
    for (const auto& column : columns) {
      const std::size_t at = column_index(result->timeline, column);
      values.push_back(at < row.size() ? row[at] : nothing);
    }
    const double value = f(values);
    most = most >= value ? most : value;
  }
  return most;
}

double ReportReader::first_above_s(const std::string& run, const std::string& column, double value) const {
  if (const RunResult* result = find(run)) {
    const std::size_t at = column_index(result->timeline, column);
    for (const auto& row : result->timeline.rows)
      if (at < row.size() and row[at] > value)
        return row.front();
  }
  return nothing;
}

std::vector<std::string> for_consumers(const std::string& prefix, int first, int last,
                                       const std::string& setting) {
  std::vector<std::string> out;
  for (int i = first; i <= last; ++i)
    out.push_back(fmt::format("consumers.{}{:02}.{}", prefix, i, setting));
  return out;
}

const TableSyncResult* ReportReader::table_sync(const std::string& run, const std::string& table) const {
  if (const RunResult* result = find(run))
    for (const TableSyncResult& found : result->upheaval.tables)
      if (found.table == table)
        return &found;
  return nullptr;
}

double ReportReader::sync_says(const std::string& run, const std::string& subscription,
                               const std::string& words) const {
  const RunResult* result = find(run);
  if (result == nullptr or not result->upheaval.sync_words.contains(subscription))
    return nothing;
  return result->upheaval.sync_words.at(subscription).find(words) == std::string::npos ? 0 : 1;
}

} // namespace replisim
