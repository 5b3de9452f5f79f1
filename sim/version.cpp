#include "sim/version.hpp"

namespace replisim {

std::string program_version() { return REPLISIM_VERSION; }
std::string build_commit() { return REPLISIM_COMMIT; }

} // namespace replisim
