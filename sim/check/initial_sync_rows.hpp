// Rows of synchronised tables: each change is in the copy, applied by the table-sync worker, or by the
// leader.
#pragma once

#include "sim/actors/pipeline.hpp"

namespace replisim {

/// Changes of one table that is READY.
struct SynchronisedChanges {
  Rows left_out = 0;  ///< by the leader, which received them
  Rows copied = 0;    ///< committed since the subscription was created, and part of the copy
  Rows caught_up = 0; ///< applied by the table-sync worker
};
/// Throws InvariantViolation.
void check_synchronised(const std::string& subscription, const std::string& table,
                        const SynchronisedChanges& changes);

/// Of all tables of a run.
void check_initial_sync(const Scenario& scenario, const Pipeline& pipeline);

} // namespace replisim
