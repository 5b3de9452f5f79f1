// What applying row changes costs a worker: worker.c (apply_handle_insert, _update, _delete).
#pragma once

#include "models/cost_profile.hpp"
#include "models/reorder_buffer.hpp"

namespace replisim {

/// CPU seconds (reference core) to apply `runs`, lookup, heap and index writes included.
double apply_seconds(const CostParameters& costs, const std::vector<ChangeRun>& runs);

} // namespace replisim
