// A scenario's tables, statements and settings as SQL: what the simulator reckons with, for real servers.
#pragma once

#include "models/session.hpp"
#include "models/settings.hpp"
#include "models/workload.hpp"
#include "sim/scenario/scenario.hpp"

#include <map>
#include <string>
#include <vector>

namespace replisim::live {

/// Whether pgbench makes this table itself.
bool is_pgbench_table(const std::string& name);

/// CREATE TABLE with key, indexes, triggers and replica identity. Throws UsageError for what the lab cannot
/// make.
std::string create_table_sql(const Table& table);

/// INSERT of rows first, first + 1, ... with values of the widths that the columns state.
std::string insert_sql(const Table& table, RowRange rows);

/// Rows of the tables as a run goes on: which ones are there.
class RowBook {
public:
  explicit RowBook(const Scenario& scenario);
  /// The statement, and what it does to the book.
  std::string statement(const StatementStep& step);
  /// ROLLBACK TO and ROLLBACK take the book back.
  std::map<std::string, RowRange> state() const { return rows_; }
  void restore(std::map<std::string, RowRange> state) { rows_ = std::move(state); }

private:
  const Table& table(const std::string& name) const;
  const Scenario& scenario_;
  std::map<std::string, RowRange> rows_; ///< present: [first, first + count)
};

/// One step of a subscriber's session; `row` is the first row it takes. Empty for a pause.
std::string session_sql(const SessionStep& step, const Table& table, Rows row);

/// What a catalog change of the scenario is in SQL, run number `run` of it.
std::string ddl_sql(const DdlLoad& load, const Scenario& scenario, std::int64_t run);

/// A setting as `ALTER SYSTEM` takes it: "64kB", "250ms", "on".
std::string setting_text(const GucDescriptor& guc, const GucValue& value);

} // namespace replisim::live
