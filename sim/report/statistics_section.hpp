// The parts of a run's table about what its sample can say, and what the laws of queueing theory say beside
// it.
#pragma once

#include "sim/run/replications.hpp"

#include <string>

namespace replisim {

/// Study, warm-up, precision, percentiles that the sample does not support. Empty for a terminating run of
/// which there is nothing to say.
std::string statistics_section(const Replications& replications);

/// Utilisation and stability by station, bounds, Little's law: a line each. Empty where the laws say nothing.
std::string analytic_section(const AnalyticAnswer& answer);

} // namespace replisim
