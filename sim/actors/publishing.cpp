#include "sim/actors/publishing.hpp"

#include <algorithm>

namespace replisim {

Publishing publishing_of(const Publication& publication, const std::string& table) {
  const auto& tables = publication.tables;
  if (std::find(tables.begin(), tables.end(), table) == tables.end())
    return {};
  Publishing rules;
  rules.published = true;
  rules.inserts = publication.inserts;
  rules.updates = publication.updates;
  rules.deletes = publication.deletes;
  const auto filter = publication.row_filters.find(table);
  if (filter != publication.row_filters.end()) {
    rules.passes = filter->second.passes;
    rules.filter_cost_s = filter->second.cost_s;
  }
  return rules;
}

PublicationFilter::PublicationFilter(const Publication& publication,
                                     const std::map<std::string, Table>& tables, bool binary)
    : publication_(publication), tables_(tables) {
  for (auto& [name, table] : tables_) {
    table.binary = binary;
    if (const auto list = publication.column_lists.find(name); list != publication.column_lists.end()) {
      table.published_columns.assign(table.columns.size(), false);
      for (const int column : list->second)
        table.published_columns.at(static_cast<std::size_t>(column)) = true;
    }
  }
}

/// pgoutput filters when it sends: unpublished rows were decoded and buffered in vain, and each row of a
/// filtered table pays for the evaluation, sent or not.
PublicationFilter::Passed PublicationFilter::pass(const std::vector<ChangeRun>& runs) {
  Passed out;
  for (const auto& run : runs) {
    const Publishing rules = publishing_of(publication_, run.table->name);
    const bool asked = rules.sends(run.statement->operation);
    Rows sent = asked ? run.rows.count : 0;
    if (asked and rules.passes < 1) {
      double& remainder = remainders_[run.table->name];
      remainder += static_cast<double>(run.rows.count) * rules.passes;
      sent = std::min(run.rows.count, static_cast<Rows>(remainder + 1e-9));
      remainder -= static_cast<double>(sent);
    }
    out.cpu_s += asked ? static_cast<double>(run.rows.count) * rules.filter_cost_s : 0;
    out.filtered += run.rows.count - sent;
    if (sent == 0)
      continue;
    ChangeRun kept = run;
    kept.sent_as = &tables_.at(run.table->name);
    kept.rows.count = sent;
    out.runs.push_back(kept);
  }
  return out;
}

} // namespace replisim
