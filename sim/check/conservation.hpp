// The laws every run obeys, checked at its end, apart from the actors.
#pragma once

#include "sim/actors/run_log.hpp"

namespace replisim {

/// For each transaction and subscription: every change read is dropped, filtered, undone, applied or in
/// flight exactly once, and none is in flight once its commit has been applied; what was applied is
/// what the publisher committed (minus filtered). Throws InvariantViolation with the figures.
/// Publishers by slot: each numbers its transactions by itself.
using PublisherOf = std::map<std::string, std::string>;

void check_conservation(const RunLog& log, const PublisherOf& publisher_of);

} // namespace replisim
