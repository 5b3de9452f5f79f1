// Which inputs of a model a set of observations can identify, and what to collect for the others.
#pragma once

#include "calibration/observe/groups.hpp"
#include "calibration/readers/observation.hpp"

#include <string>
#include <vector>

namespace replisim::readers {

/// One input of the model: a field of a scenario or a cost parameter.
struct Identification {
  std::string parameter; ///< "servers.NAME.version", "walsender.*", ...
  bool is_identified = false;
  std::string how; ///< identified: the value or where it follows from; else: what to collect
};

/// All inputs that files can tell, in the order of a scenario; over all sources.
std::vector<Identification> identify_parameters(const Observation& observation);

} // namespace replisim::readers
