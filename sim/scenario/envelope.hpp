// The envelope of a cost profile: between what a run's quantities lay where the profile was validated.
#pragma once

#include "sim/scenario/fields.hpp"
#include "sim/scenario/loader.hpp"
#include "sim/scenario/scenario.hpp"

#include <map>
#include <string>
#include <vector>

namespace replisim {

/// Between what a quantity of a run lay where a profile was validated.
struct ValidatedRange {
  double from = 0;
  double to = 0;
};

/// By quantity; empty: nothing was stated.
using Envelope = std::map<std::string, ValidatedRange, std::less<>>;

/// What a scenario's quantities are, each from its smallest to its largest value in it. Names are those of
/// the format's object `envelope`; a quantity that the scenario does not have is left out.
Envelope quantities_of(const Scenario& scenario);

/// `wider` stretched so that it holds `other`.
void stretch(Envelope& wider, const Envelope& other);

/// The `envelope` of a checked profile file; empty when it states none.
Envelope envelope_from(const Fields& profile_file);

/// A sentence for each quantity of the scenario outside of its profile's envelope: which, and how far.
std::vector<std::string> envelope_warnings(const Scenario& scenario, const Envelope& envelope);

/// The envelope that the file of a profile states, by name as load_profile() takes it. Throws as that does.
Envelope load_envelope(const std::string& profile, const Library& library);

} // namespace replisim
