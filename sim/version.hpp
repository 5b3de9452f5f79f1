// replisim's own version and what it was built with, for results and manifests.
#pragma once

#include <string>

namespace replisim {

std::string program_version(); ///< "0.1.0"
std::string build_commit();    ///< git commit at configure time, "unknown" outside a checkout

} // namespace replisim
