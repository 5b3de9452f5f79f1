// Which of the inputs nobody measured an answer hangs on most.
#pragma once

#include "sim/scenario/scenario.hpp"

#include <string>
#include <vector>

namespace replisim {

struct RiskyGuess {
  Guess guess;
  double change = 0;    ///< largest relative change of an analytic quantity when the input is doubled
  std::string quantity; ///< which one: "total_s", "lag_s_mean of s", "utilisation of sub.apply_worker"
};

/// The `most` guesses that move the answer of the laws of queueing theory furthest when their input is twice
/// as large (a machine's: half as fast), furthest first. Costs, hosts, disks, links and rows of tables can
/// be doubled; other guesses, and those that move nothing, are not among them.
std::vector<RiskyGuess> riskiest_guesses(const Scenario& scenario, std::size_t most);

} // namespace replisim
