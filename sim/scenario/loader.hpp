// From YAML text to a frozen Scenario, with every mistake named in one go.
#pragma once

#include "sim/scenario/scenario.hpp"

#include <filesystem>
#include <string>
#include <vector>

namespace replisim {

/// Where named files are looked for.
struct Library {
  std::filesystem::path root; ///< holds scenarios/hardware and calibration/profiles
};

/// The library: $REPLISIM_HOME, else the nearest folder above the executable (then above the source
/// tree it was built from) that holds `scenarios/hardware`. Throws UsageError when there is none.
Library find_library();

/// One `--set path=value`; `value` is YAML text (`64kB`, `[a, b]`).
struct Override {
  std::string path;
  std::string value;
  bool operator==(const Override&) const = default;
};

/// Splits "path=value"; throws UsageError with a sentence when there is no '='.
Override parse_override(const std::string& text);

/// Reads `file`, follows `extends:`, applies `overrides` in order, validates everything and freezes it.
/// Throws ScenarioError with every mistake of the file (and of the overrides), or UsageError when
/// the file cannot be read.
Scenario load_scenario(const std::filesystem::path& file, const std::vector<Override>& overrides,
                       const Library& library);

/// A cost profile by name or path: calibration/profiles/NAME.yaml, following its own `extends:`.
CostProfile load_profile(const std::string& name, const Library& library);

} // namespace replisim
