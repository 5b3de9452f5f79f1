#include "sim/actors/publishing.hpp"

#include <algorithm>

namespace replisim {

Publishing publishing_of(const Publication& publication, const std::string& table) {
  const auto& tables = publication.tables;
  if (std::find(tables.begin(), tables.end(), table) == tables.end())
    return {};
  const auto filter = publication.row_filters.find(table);
  if (filter == publication.row_filters.end())
    return {true, 1, 0};
  return {true, filter->second.passes, filter->second.cost_s};
}

/// pgoutput filters when it sends: unpublished rows were decoded and buffered in vain, and each row of a
/// filtered table pays for the evaluation, sent or not.
PublicationFilter::Passed PublicationFilter::pass(const std::vector<ChangeRun>& runs) {
  Passed out;
  for (const auto& run : runs) {
    const Publishing rules = publishing_of(publication_, run.table->name);
    Rows sent = rules.published ? run.rows.count : 0;
    if (rules.published and rules.passes < 1) {
      double& remainder = remainders_[run.table->name];
      remainder += static_cast<double>(run.rows.count) * rules.passes;
      sent = std::min(run.rows.count, static_cast<Rows>(remainder + 1e-9));
      remainder -= static_cast<double>(sent);
    }
    out.cpu_s += static_cast<double>(run.rows.count) * rules.filter_cost_s;
    out.filtered += run.rows.count - sent;
    if (sent == 0)
      continue;
    ChangeRun kept = run;
    kept.rows.count = sent;
    out.runs.push_back(kept);
  }
  return out;
}

} // namespace replisim
