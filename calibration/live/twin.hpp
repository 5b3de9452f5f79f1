// The simulated twin of a measured run: its scenario, complete in one file, on the machine that was measured.
#pragma once

#include "calibration/live/plan.hpp"

#include <filesystem>
#include <string>

namespace replisim::live {

/// What of the twin only the lab knows.
struct TwinContext {
  std::string machine; ///< path of the machine file, as the twin names it
  std::string profile; ///< the same of the profile
  std::string version; ///< of both servers
  double sampler_cores = 0;
  double session_cores = 0;
};

/// The text of the scenario file. Throws what reading the experiment's scenario throws.
std::string twin_text(const Experiment& experiment, const TwinContext& context);

} // namespace replisim::live
