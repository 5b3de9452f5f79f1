// The scripts and styles of the pages, as bytes in the program.
#pragma once

#include "sim/report/html.hpp"

namespace replisim::cli {

PageAssets report_assets();
PageAssets explore_assets();

} // namespace replisim::cli
