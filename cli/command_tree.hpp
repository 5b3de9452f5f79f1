// The program's commands and options as plain data, read from CLI11: shell completion and man pages are
// written from it and cannot go stale.
#pragma once

#include <CLI/CLI.hpp>

#include <string>
#include <vector>

namespace replisim::cli {

struct OptionInfo {
  std::vector<std::string> names; ///< "--format", "-h"; empty for a positional
  std::string positional;         ///< its name in capitals; empty for an option
  std::string description;
  std::string value;                ///< what its value is called; empty for a flag
  std::vector<std::string> choices; ///< the only values allowed; empty: any
  std::string default_value;
  bool required = false;
  bool repeats = false;
};

struct CommandInfo {
  std::vector<std::string> path; ///< "results", "list"; empty for the program itself
  std::string description;
  std::string footer;
  std::vector<OptionInfo> options;
  std::vector<CommandInfo> commands;
};

CommandInfo command_tree(const CLI::App& app);

/// The command and all below it, in order of declaration.
std::vector<const CommandInfo*> all_commands(const CommandInfo& root);

} // namespace replisim::cli
