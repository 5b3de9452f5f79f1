// What a publication does to decoded rows: which of them pgoutput sends, and what asking costs.
#pragma once

#include "models/flow_shape.hpp"
#include "models/reorder_buffer.hpp"
#include "sim/scenario/scenario.hpp"

namespace replisim {

/// What `publication` does to a table's rows.
Publishing publishing_of(const Publication& publication, const std::string& table);

/// Filters the rows of one decoding session. Rows that pass are spread evenly.
class PublicationFilter {
public:
  /// `binary`: values travel in binary form.
  PublicationFilter(const Publication& publication, const std::map<std::string, Table>& tables, bool binary);

  /// The tables as they travel: published columns, form of the values.
  const std::map<std::string, Table>& tables() const { return tables_; }

  struct Passed {
    std::vector<ChangeRun> runs;
    Rows filtered = 0;
    double cpu_s = 0; ///< evaluation of row filters, for each row of a filtered table
  };
  Passed pass(const std::vector<ChangeRun>& runs);

private:
  const Publication& publication_;
  std::map<std::string, Table> tables_;
  std::map<std::string, double> remainders_; ///< rows a row filter passes, not yet whole ones
};

} // namespace replisim
