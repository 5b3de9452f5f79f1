// Initial synchronisations and faults as a DBA reads them: a Gantt of tables, what each fault cost.
#pragma once

#include "sim/run/result.hpp"

#include <string>

namespace replisim {

/// Empty when the run has neither.
std::string upheaval_section(const RunResult& run);

} // namespace replisim
