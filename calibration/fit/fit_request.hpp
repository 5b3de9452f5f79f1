// What to fit, as the command line of replisim_fit says it.
//
// Costs are stated as profile files state them: on the profile's own machine, after the division by
// cpu_speed, with units ("7.0us"). cpu_speed itself is a plain number.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

namespace replisim {

/// The name of the one parameter that is a ratio and no cost.
inline constexpr const char* cpu_speed_parameter = "cpu_speed";

/// Stated costs by name, in s; and "cpu_speed".
using StatedCosts = std::map<std::string, double, std::less<>>;

/// One degree of freedom of a fit.
struct FreeParameter {
  std::vector<std::string> names; ///< one, or several that one factor moves
  double start = 0;               ///< of one: its stated cost in s; of several: the factor
  double prior_spread = 0;        ///< of the logarithm; 0: no prior

  bool is_factor() const { return names.size() > 1; }
};

struct FitRequest {
  std::vector<std::string> metrics; ///< cells of these are fitted
  std::vector<std::string> only;    ///< beginnings of cell ids; empty: all
  std::vector<std::string> exclude; ///< beginnings of cell ids
  std::vector<FreeParameter> parameters;
  StatedCosts fixed; ///< held; under a factor: the values it multiplies, in place of the profile's
  std::optional<double> derived_spread = {}; ///< relative error of the ratios; none: no ratios
};

/// Reads "NAME=START[:SPREAD]". This and the following throw UsageError with a sentence.
FreeParameter parse_parameter(const std::string& text);

/// Reads "NAME,NAME[,...]=FACTOR[:SPREAD]".
FreeParameter parse_together(const std::string& text);

/// Reads every "NAME=VALUE"; a name may be given once.
StatedCosts parse_fixed(const std::vector<std::string>& texts);

/// Reads the value of `option`, a spread.
double parse_spread(const std::string& option, const std::string& text);

/// Throws when no parameter is free, one is free twice, or one is free by itself and fixed too.
void check_request(const FitRequest& request);

/// A stated cost as people write it, with three digits: "7.00us", "0.200ns", "0.733" for cpu_speed.
std::string format_stated(const std::string& name, double value);

} // namespace replisim
