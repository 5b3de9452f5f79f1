// What a subscriber's memory holds of its tables, and with it what applying costs there.
#pragma once

#include "models/apply_cost.hpp"
#include "sim/scenario/scenario.hpp"

namespace replisim {

/// Heap and index leaves of the tables that `server` publishes or subscribes to, a mean over the run.
double data_bytes(const Scenario& scenario, const std::string& server);

/// Memory that pages of `server` find: its shared_buffers, and of what all servers of its host leave to the
/// operating system the part that its share of their tables makes. Infinite when the machine's memory is not
/// stated.
double cache_bytes(const Scenario& scenario, const std::string& server);

/// Rows per second that subscriptions of `server` change: flows at their rate, batches at the pace at which
/// their rows are applied when all is cached.
std::vector<TableTouches> touches_on(const Scenario& scenario, const std::string& server,
                                     const CostParameters& costs);

/// The prices on the subscriber of `subscription`; `costs` must outlive the result.
/// `dead`: versions that the subscriber retains, and that the rows' prices depend on.
ApplyCost apply_cost_of(const Scenario& scenario, const Subscription& subscription,
                        const CostParameters& costs, DeadVersions* dead = nullptr);

} // namespace replisim
