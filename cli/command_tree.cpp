#include "cli/command_tree.hpp"

#include <algorithm>

namespace replisim::cli {

namespace {

/// The words between braces in CLI11's name of a type, "TEXT:{table,json,csv}".
std::vector<std::string> choices_of(const std::string& type) {
  const std::size_t open = type.find('{');
  const std::size_t close = type.find('}', open == std::string::npos ? 0 : open);
  if (open == std::string::npos or close == std::string::npos)
    return {};
  return CLI::detail::split(type.substr(open + 1, close - open - 1), ',');
}

OptionInfo info_of(const CLI::Option& option) {
  OptionInfo out;
  for (const std::string& name : option.get_snames())
    out.names.push_back("-" + name);
  for (const std::string& name : option.get_lnames())
    out.names.push_back("--" + name);
  if (out.names.empty())
    out.positional = option.get_name(true);
  out.description = option.get_description();
  if (option.get_items_expected_max() > 0) {
    const std::string type = option.get_type_name();
    out.value = type.substr(0, type.find_first_of(": "));
    out.choices = choices_of(type);
    out.default_value = option.get_default_str();
  }
  out.required = option.get_required();
  out.repeats = option.get_items_expected_max() > 1;
  return out;
}

CommandInfo info_of(const CLI::App& app, const std::vector<std::string>& path) {
  CommandInfo out;
  out.path = path;
  out.description = app.get_description();
  out.footer = app.get_footer();
  for (const CLI::Option* option : app.get_options())
    out.options.push_back(info_of(*option));
  for (const CLI::App* sub : app.get_subcommands([](const CLI::App*) { return true; })) {
    auto below = path;
    below.push_back(sub->get_name());
    out.commands.push_back(info_of(*sub, below));
  }
  return out;
}

} // namespace

CommandInfo command_tree(const CLI::App& app) { return info_of(app, {}); }

std::vector<const CommandInfo*> all_commands(const CommandInfo& root) {
  std::vector<const CommandInfo*> out = {&root};
  for (const CommandInfo& sub : root.commands)
    for (const CommandInfo* below : all_commands(sub))
      out.push_back(below);
  return out;
}

} // namespace replisim::cli
