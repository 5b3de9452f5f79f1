// The effective tree of a scenario: the file, what it extends, and the overrides on top.
#pragma once

#include "sim/scenario/loader.hpp"
#include "sim/scenario/problems.hpp"

#include <filesystem>
#include <vector>

namespace replisim {

/// Longest chain of `extends`.
inline constexpr int longest_extends_chain = 20;

/// Reads `file` and its bases, lays them over each other and expands shorthands. The key `extends` is gone
/// from the result. Throws UsageError when `file` cannot be read and ScenarioError when no tree comes out;
/// lesser mistakes (duplicate keys) go to `problems`.
Node read_tree(const std::filesystem::path& file, Problems& problems);

/// Puts the overrides on top, in order; those that fit nowhere go to `problems`.
void apply_overrides(Node& root, const std::vector<Override>& overrides, Problems& problems);

} // namespace replisim
