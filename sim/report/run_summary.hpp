// A run on one screen: the verdict, the lag, the stages, what the answer hangs on.
#pragma once

#include "sim/report/charts.hpp"
#include "sim/run/replications.hpp"
#include "sim/scenario/scenario.hpp"

#include <string>

namespace replisim {

/// At most some twenty lines of at most report_columns. Names, numbers and words say everything; bars and
/// sparklines only repeat it.
std::string run_summary(const Scenario& scenario, const Replications& replications, Glyphs glyphs);

} // namespace replisim
