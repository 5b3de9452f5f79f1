// pgbench's own transactions and the tables they work on.
//
// Counterpart: pgbench.c (builtin_script, DDLs of initCreateTables). Columns that pgbench leaves null (the
// fillers of tellers, branches and history) are left out: they take no room in a row.
#pragma once

#include "models/workload.hpp"
#include "sim/scenario/node.hpp"

#include <string_view>

namespace replisim {

/// Adds pgbench's tables to `tables` of a scenario whose workload names one of its mixes, at the entry's
/// scale. Tables the file describes itself stay as they are.
void add_builtin_tables(Node& scenario);

/// The statements of a mix by its name; requires a known one.
std::vector<ClientStatement> builtin_statements(std::string_view mix);

} // namespace replisim
