// Stages of a pipeline made faster, to see what each of them is worth.
#pragma once

#include "sim/scenario/loader.hpp"

#include <string>
#include <vector>

namespace replisim {

struct StageRelief {
  std::string stage; ///< as verdicts name it: sub.apply_worker, pub.wal_disk, network
  std::string how;
  std::vector<Override> overrides;
};

/// Every stage of `scenario` with its work done `factor` times as fast, or its hardware so many times as
/// much.
std::vector<StageRelief> stage_reliefs(const Scenario& scenario, double factor);

} // namespace replisim
