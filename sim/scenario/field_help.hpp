// What a field of a scenario file means, found by its path: for `replisim explain-key`.
#pragma once

#include <string>

namespace replisim {

/// Several lines about the field at `path` ("subscriptions.s.streaming", "servers.pub.settings.max_wal_size",
/// "profile.parameters.apply.insert_row", "workload.batch.transaction[0].rows"): meaning, what may stand
/// there, range, default, the PostgreSQL setting it mirrors. Names of entries are any; `*` is one, too.
/// Throws UsageError, with the nearest known key, when no field has such a path.
std::string field_help(const std::string& path);

} // namespace replisim
