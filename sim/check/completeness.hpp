// Nothing is lost: a client that is past the last commit has every committed change once, whatever happened
// on the way.
#pragma once

#include "sim/actors/pipeline.hpp"
#include "sim/check/conservation.hpp"

namespace replisim {

PublisherOf publishers_by_slot(const Pipeline& pipeline);

/// What the law asks about a slot.
struct SlotAtEnd {
  std::string name;
  std::string publisher; ///< server
  const Publication* publication = nullptr;
  int busy_loads = 0;            ///< of the publisher
  Lsn last_commit = {};          ///< ... and the end of its last commit record
  bool lost = false;             ///< the slot
  bool disabled = false;         ///< the subscription
  bool from_the_start = true;    ///< the client began empty, and so did the tables
  bool own_changes_only = false; ///< origin = none
  bool hands_on = false;         ///< what is applied there is written as changes of that server
};

/// Of one slot, once its client is past the last commit. Throws InvariantViolation.
void check_complete(const Scenario& scenario, const RunLog& log, const SlotAtEnd& slot);

/// Of all slots of a run.
void check_completeness(const Scenario& scenario, const Pipeline& pipeline);

} // namespace replisim
