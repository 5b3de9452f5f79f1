// The files of the library: machines and cost profiles, by name.
#pragma once

#include "sim/scenario/loader.hpp"
#include "sim/scenario/node.hpp"

#include <filesystem>
#include <map>
#include <string>
#include <vector>

namespace replisim {

/// Files of the library that were read without a mistake, by kind and path, and the folders' listings.
struct LibraryCache {
  std::map<std::string, Node> files;
  std::map<std::string, std::vector<std::string>> listings;
};

std::filesystem::path machines_folder(const Library& library);
std::filesystem::path profiles_folder(const Library& library);

/// Names of the files in the library's folders, sorted.
std::vector<std::string> machine_names(const Library& library);
std::vector<std::string> profile_names(const Library& library);

/// The file a name stands for: FOLDER/NAME.yaml, or, where it ends in .yaml, that file seen from the folder
/// of `named_in` (a file's own position; for overrides the working directory).
std::filesystem::path library_file(const std::filesystem::path& folder, const std::string& name,
                                   const Position& named_in);

} // namespace replisim
