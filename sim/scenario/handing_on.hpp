// Servers that receive changes and hand them on.
#pragma once

#include "sim/scenario/scenario.hpp"

#include <string>
#include <vector>

namespace replisim {

/// The slots of a subscription's server that decode what it receives there: those of subscriptions with
/// origin = any, of consumers and of calls of the SQL interface, whose publication shares a table with its
/// own.
std::vector<std::string> slots_that_hand_on(const Scenario& scenario, const Subscription& subscription);

/// A way by which changes of a table come to a server a second time, or back to where they were made.
struct DoubleWay {
  std::string subscription; ///< the last one on it, with origin = any
  std::string table;
  std::string made_on; ///< server whose own changes they are
  std::string server;  ///< where they arrive again
};
/// All of them; empty where every change arrives everywhere once at most.
std::vector<DoubleWay> double_ways(const Scenario& scenario);

} // namespace replisim
