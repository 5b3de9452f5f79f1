#include "sim/scenario/library.hpp"

#include "models/base/errors.hpp"

#include <algorithm>
#include <cstdlib>

namespace replisim {

namespace {

namespace fs = std::filesystem;

bool is_library(const fs::path& folder) {
  std::error_code ignored;
  return fs::is_directory(machines_folder({folder}), ignored);
}

/// The nearest of `start` and the folders above it that is a library or has one installed; empty when there
/// is none.
fs::path nearest_library(fs::path start) {
  while (not start.empty()) {
    if (is_library(start))
      return start;
    if (is_library(start / "share" / "replisim")) // as `cmake --install` lays it out
      return start / "share" / "replisim";
    if (start == start.root_path())
      break;
    start = start.parent_path();
  }
  return {};
}

std::vector<std::string> names_in(const fs::path& folder, const Library& library) {
  if (library.cache != nullptr)
    if (const auto known = library.cache->listings.find(folder.string());
        known != library.cache->listings.end())
      return known->second;
  std::vector<std::string> names;
  std::error_code error;
  for (fs::directory_iterator it(folder, error), end; not error and it != end; it.increment(error))
    if (it->path().extension() == ".yaml")
      names.push_back(it->path().stem().string());
  std::sort(names.begin(), names.end());
  if (library.cache != nullptr)
    library.cache->listings.emplace(folder.string(), names);
  return names;
}

} // namespace

fs::path machines_folder(const Library& library) { return library.root / "scenarios" / "hardware"; }

fs::path profiles_folder(const Library& library) { return library.root / "calibration" / "profiles"; }

std::vector<std::string> machine_names(const Library& library) {
  return names_in(machines_folder(library), library);
}

std::vector<std::string> profile_names(const Library& library) {
  return names_in(profiles_folder(library), library);
}

fs::path library_file(const fs::path& folder, const std::string& name, const Position& named_in) {
  if (not name.ends_with(".yaml") and not name.ends_with(".yml"))
    return folder / (name + ".yaml");
  if (named_in.layer == override_layer or not named_in.file)
    return name;
  return (fs::path(*named_in.file).parent_path() / name).lexically_normal();
}

Library find_library() {
  if (const char* home = std::getenv("REPLISIM_HOME"); home != nullptr and *home != '\0') {
    if (not is_library(home))
      throw UsageError(std::string("REPLISIM_HOME is '") + home +
                       "', but there is no folder scenarios/hardware in it");
    return {home};
  }
  std::error_code error;
  const fs::path executable = fs::read_symlink("/proc/self/exe", error);
  for (const fs::path& start : {executable.parent_path(), fs::path(REPLISIM_SOURCE_TREE)})
    if (fs::path found = nearest_library(start); not found.empty())
      return {found};
  throw UsageError("the machines and cost profiles that belong to replisim are not found: no folder above "
                   "the program holds scenarios/hardware; set REPLISIM_HOME to the folder that does");
}

} // namespace replisim
