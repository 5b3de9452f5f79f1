// From one scenario to another: what to run on which server, why, and what else it does.
#pragma once

#include "sim/scenario/scenario.hpp"

#include <string>
#include <utility>
#include <vector>

namespace replisim {

struct Statement {
  std::string server;
  std::string
      sql; ///< ends with a semicolon; empty: nothing that SQL can do, `reason` says what is to be done
  std::string reason;  ///< what it is for
  std::string effects; ///< what else it does: locks, memory, restarts; may be empty
};

/// What turns `from` into `to`, as far as settings, subscriptions, publications and tables differ; other
/// `changes` (paths and values: machines, what the application does) become notes. In the order in which to
/// apply it.
std::vector<Statement> statements_between(const Scenario& from, const Scenario& to,
                                          const std::vector<std::pair<std::string, std::string>>& changes);

} // namespace replisim
