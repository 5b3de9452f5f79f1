// What is allowed in a scenario and yet probably not meant.
#pragma once

#include <string>
#include <vector>

namespace replisim {

struct Scenario;

/// A sentence with its reason for each suspicious combination of settings: `streaming = parallel` without
/// workers, a `max_slot_wal_keep_size` smaller than a batch, memory that decoders may take beyond the host's,
/// a time-out shorter than the client's answers. Never an error.
std::vector<std::string> suspicions(const Scenario& scenario);

} // namespace replisim
