// The statements by which a running server is looked at. They read statistics and catalogs and change
// nothing.
#pragma once

#include <string>

namespace replisim::live {

/// Lines of a views file: {"collected_at": ..., "view": ..., "row": {...}}, one a row. `version` as
/// server_version_num.
std::string views_sql(int version);

/// One JSON object: version, settings, tables with columns and counters, publications, subscriptions.
std::string facts_sql(int version);

/// Lines for `import --tables`, as calibration/tables.sql prints them.
std::string tables_sql();

} // namespace replisim::live
