// A server's configuration file (postgresql.conf), read by the rules of PostgreSQL's guc-file.l.
#pragma once

#include "sim/scenario/problems.hpp"

#include <filesystem>
#include <string>
#include <vector>

namespace replisim {

/// One line of a configuration file. Names are in lower case: PostgreSQL ignores the case.
struct ConfSetting {
  std::string name;
  std::string value; ///< without its quotes
  Position name_at;
  Position value_at;
};

/// Deepest chain of includes (CONF_FILE_MAX_DEPTH of PostgreSQL).
inline constexpr int deepest_include = 10;
/// Files read for one configuration, each as often as it is included.
inline constexpr int most_included_files = 200;

/// The settings of `file` and of what it includes, in the order the server reads them; after them those of a
/// postgresql.auto.conf that lies beside `file` (ALTER SYSTEM). Later ones win; all are returned.
/// `named_at` and `path` are the place that names the file, for the problem that it cannot be read; mistakes
/// inside are located in the file that has them.
std::vector<ConfSetting> read_conf_file(const std::filesystem::path& file, const Position& named_at,
                                        const std::string& path, Problems& problems);

} // namespace replisim
