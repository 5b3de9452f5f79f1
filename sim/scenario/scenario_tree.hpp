// The effective tree of a scenario: the file, what it extends, and the overrides on top.
#pragma once

#include "sim/scenario/loader.hpp"
#include "sim/scenario/problems.hpp"

#include <filesystem>
#include <vector>

namespace replisim {

/// Longest chain of `extends`.
inline constexpr int longest_extends_chain = 20;

/// Reads `file` and its bases, lays them over each other, puts the overrides on top and expands shorthands.
/// The key `extends` is gone from the result. Throws UsageError when `file` cannot be read and ScenarioError
/// when no tree comes out; lesser mistakes (duplicate keys, overrides that fit nowhere) go to `problems`.
Node load_tree(const std::filesystem::path& file, const std::vector<Override>& overrides, Problems& problems);

} // namespace replisim
