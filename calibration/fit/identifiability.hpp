// What a fit's data can tell apart, and what they cannot.
#pragma once

#include "calibration/fit/least_squares.hpp"

#include <functional>
#include <string>
#include <vector>

namespace replisim {

/// How well one parameter is known after a fit.
struct Determination {
  std::string name;
  double prior_spread = 0; ///< standard deviation of the logarithm before; 0: no prior
  double spread = 0;       ///< and after; infinite where nothing determines it
  std::string word;        ///< "well", "fairly", "weakly", "by the prior alone", "not at all"
};

/// Parameters that change no figure when they move together.
struct Confusion {
  std::vector<std::string> names; ///< one: no figure depends on it
  std::string sentence;
  std::string measurement; ///< what would separate them
};

struct Identifiability {
  std::vector<double> singular_values; ///< of the weighted derivatives, falling; 1: known to a factor of e
  std::vector<Determination> parameters;
  /// Between the logarithms of two parameters, NaN where one is not determined.
  std::vector<std::vector<double>> correlations;
  std::vector<Confusion> confusions;
};

/// `measurement` says of a parameter how it is measured alone.
Identifiability identify(const FitProblem& problem, const FitSummary& summary,
                         const std::function<std::string(const std::string& name)>& measurement);

} // namespace replisim
