// `include_conf` of a server: its settings come from a real configuration file.
#pragma once

#include "sim/scenario/loader.hpp"
#include "sim/scenario/problems.hpp"

#include <string>
#include <vector>

namespace replisim {

/// Replaces `include_conf` of each server by the settings of that file (conf_file.hpp), under those that the
/// scenario states itself. Settings of PostgreSQL that the model does not know are left out; a sentence for
/// those of them that bear on replication is returned. A name that no server would take is a mistake where
/// a known one is near, and a sentence otherwise.
std::vector<std::string> include_conf_files(Node& root, const Library& library, Problems& problems);

/// Whether PostgreSQL has a setting of that name (in lower case) that the model leaves out.
bool is_other_postgres_setting(const std::string& name);
/// Those of them that bear on logical replication.
bool bears_on_replication(const std::string& name);

} // namespace replisim
