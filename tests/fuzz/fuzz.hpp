// What the fuzz targets share: a folder of the process's own for inputs that must be files, and one input
// that stands for several files.
#pragma once

#include "models/base/errors.hpp"
#include "sim/scenario/loader.hpp"

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

namespace replisim::fuzz {

inline std::string_view view_of(const std::uint8_t* data, std::size_t size) {
  return {reinterpret_cast<const char*>(data), size};
}

/// A folder in memory where there is one; gone when the process ends.
const std::filesystem::path& scratch_folder();

/// Writes the file into the scratch folder, without syncing it, and returns its path.
std::filesystem::path scratch_file(const std::string& name, std::string_view text);

/// Parts of an input: what stands before the first line `#### NAME` has an empty name.
struct Part {
  std::string name;
  std::string_view text;
};
std::vector<Part> parts_of(std::string_view input);

/// The library of the tree these targets were built from, with a cache.
const Library& library();
/// Takes what was read from the scratch folder out of that cache.
void forget_scratch_files();

/// Ends the process with a report: `text` says which promise was broken.
[[noreturn]] void broken(const std::string& text);

/// Runs `work`. Mistakes of the input are what the program answers with exit code 2; its sentence must be
/// one. Everything else that is thrown breaks a promise.
template <class Work>
bool accepted(const Work& work) {
  const auto check = [](std::string_view sentence) {
    if (sentence.empty() or sentence.size() > (std::size_t{1} << 20))
      broken("a refusal of " + std::to_string(sentence.size()) + " bytes");
  };
  try {
    work();
    return true;
  } catch (const ScenarioError& error) {
    check(error.what());
  } catch (const UsageError& error) {
    check(error.what());
  }
  return false;
}

} // namespace replisim::fuzz
