// YAML text to a tree of nodes with positions. The one place that calls yaml-cpp.
#pragma once

#include "sim/scenario/problems.hpp"

#include <filesystem>
#include <optional>
#include <string>

namespace replisim {

/// Limits of an input file: above any scenario somebody writes, below what could exhaust the machine.
inline constexpr std::size_t largest_file_bytes = std::size_t{4} * 1024 * 1024;
inline constexpr int deepest_nesting = 50;
inline constexpr int most_nodes = 200'000;       ///< copies made by aliases included
inline constexpr std::size_t most_keys = 10'000; ///< of one map

/// Parses one YAML document. Syntax errors, duplicate keys, keys that are no scalars, tags, tabs used as
/// indentation, bytes that are no UTF-8 text, a second document and everything above the limits go to
/// `problems`. Returns nothing when there is no usable tree; an empty text gives a Null node.
std::optional<Node> parse_yaml(const std::string& text, const Position& origin, Problems& problems);

/// The contents of a file. Throws UsageError with a sentence when it cannot be read or is too large.
std::string read_text_file(const std::filesystem::path& file);

} // namespace replisim
