// From YAML text to a frozen Scenario, with every mistake named in one go.
#pragma once

#include "sim/scenario/scenario.hpp"

#include <filesystem>
#include <memory>
#include <string>
#include <vector>

namespace replisim {

struct LibraryCache;
struct ScenarioFile;

/// Where named files are looked for.
struct Library {
  std::filesystem::path root; ///< holds scenarios/hardware and calibration/profiles
  /// Files already read, for those who load often; files that change meanwhile are not read again.
  std::shared_ptr<LibraryCache> cache = nullptr;
};

/// The same library with a cache of its own.
Library cached(Library library);

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

/// A scenario file that is read once and loaded many times, with other overrides each time.
class ScenarioSource {
public:
  /// Reads `file` and what it extends. Throws as load_scenario does when that gives no tree at all.
  ScenarioSource(const std::filesystem::path& file, Library library);

  /// What load_scenario would return or throw.
  Scenario load(const std::vector<Override>& overrides) const;
  /// The same without `sweep` and `break_even`, which no simulation looks at.
  Scenario load_point(const std::vector<Override>& overrides) const;
  /// Throws ScenarioError with a sentence when `path` leads to no field of this scenario with `overrides`;
  /// `option` is the command-line option that named it, for the message.
  void require_field(const std::string& path, const std::string& option,
                     const std::vector<Override>& overrides) const;

private:
  Library library_;
  std::shared_ptr<const ScenarioFile> file_;
};

/// A cost profile by name or path: calibration/profiles/NAME.yaml, following its own `extends:`.
CostProfile load_profile(const std::string& name, const Library& library);

} // namespace replisim
