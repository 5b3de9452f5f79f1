// What stands out in a set of observations: restarts, time-outs, waits, spilling, errors.
#pragma once

#include "calibration/observe/groups.hpp"
#include "calibration/readers/observation.hpp"

#include <cstdint>
#include <string>
#include <vector>

namespace replisim::readers {

struct Finding {
  std::string kind; ///< stable, for programs: "no_progress", "lock_waits", ...
  std::string text; ///< a sentence with the figures
  std::uint64_t count = 0;
  Place place; ///< the first of them
};

/// What stands out in a group of sources, the gravest first.
std::vector<Finding> find_findings(const Observation& observation, const SourceGroup& group);

/// The `streaming` with which replication was started: "off", "on", "parallel", several joined by commas;
/// empty when no log tells.
std::string streaming_of(const Observation& observation, const SourceGroup& group);

/// How transactions went through: "streamed to parallel apply workers", "spilled", ...; empty when nothing
/// tells.
std::string transport_of(const Observation& observation, const SourceGroup& group);

} // namespace replisim::readers
