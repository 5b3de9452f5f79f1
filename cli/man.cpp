// replisim man: manual pages, written from the same tree that --help prints.
#include "cli/command_tree.hpp"
#include "cli/commands.hpp"
#include "cli/output.hpp"
#include "models/base/suggest.hpp"
#include "sim/report/files.hpp"
#include "sim/version.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cctype>
#include <filesystem>
#include <memory>

namespace replisim::cli {

namespace {

/// Text for troff: backslashes and hyphens are written out, a line does not begin with a control character.
std::string roff(const std::string& text) {
  std::string out;
  bool line_start = true;
  for (const char c : text) {
    if (line_start and (c == '.' or c == '\''))
      out += "\\&";
    if (c == '\\')
      out += "\\e";
    else if (c == '-')
      out += "\\-";
    else
      out += c;
    line_start = c == '\n';
  }
  return out;
}

std::string page_name(const CommandInfo& command) {
  return command.path.empty() ? "replisim" : fmt::format("replisim-{}", fmt::join(command.path, "-"));
}

std::string call_of(const CommandInfo& command) {
  return command.path.empty() ? "replisim" : fmt::format("replisim {}", fmt::join(command.path, " "));
}

std::string synopsis(const CommandInfo& command) {
  std::string out = fmt::format(".B {}\n", roff(call_of(command)));
  out += ".RI [ options ]\n";
  for (const OptionInfo& option : command.options)
    if (not option.positional.empty())
      out += fmt::format(".RI {0}{1}{2}{3}\n", option.required ? "\"\" " : "[ ", roff(option.positional),
                         option.repeats ? " ..." : "", option.required ? "" : " ]");
  return out + (command.commands.empty() ? "" : ".I command\n.RI [ arguments ]\n");
}

std::string option_entry(const OptionInfo& option) {
  std::string names = option.positional;
  for (const std::string& name : option.names)
    names.append(names.empty() ? "" : ", ").append(name);
  std::string about = option.description;
  if (not option.choices.empty())
    about += fmt::format("; one of {}", fmt::join(option.choices, ", "));
  if (not option.default_value.empty())
    about += fmt::format(" (default: {})", option.default_value);
  const bool shows_value = not option.value.empty() and option.positional.empty();
  return fmt::format(".TP\n.B {}{}\n{}\n", roff(names), shows_value ? roff(" " + option.value) : "",
                     roff(about));
}

std::string options_section(const CommandInfo& command) {
  std::string out;
  for (const OptionInfo& option : command.options)
    out += option_entry(option);
  return out.empty() ? "" : ".SH OPTIONS\n" + out;
}

std::string commands_section(const CommandInfo& command) {
  std::string out;
  for (const CommandInfo& sub : command.commands)
    out += fmt::format(".TP\n.B {}\n{}\n", roff(sub.path.back()), roff(sub.description));
  return out.empty() ? "" : ".SH COMMANDS\n" + out;
}

std::string see_also(const CommandInfo& command, const CommandInfo& root) {
  std::vector<std::string> pages;
  for (const CommandInfo* other : all_commands(root))
    if (other != &command and
        (command.path.empty() or other->path.empty() or other->path[0] == command.path[0]))
      pages.push_back(fmt::format(".BR {} (1)", roff(page_name(*other))));
  return fmt::format(".SH SEE ALSO\n{}\n", fmt::join(pages, ",\n"));
}

std::string page(const CommandInfo& command, const CommandInfo& root) {
  std::string title = page_name(command);
  std::transform(title.begin(), title.end(), title.begin(),
                 [](unsigned char c) { return static_cast<char>(std::toupper(c)); });
  std::string out =
      fmt::format(".TH {} 1 \"\" \"replisim {}\" \"User Commands\"\n", roff(title), program_version());
  out += fmt::format(".SH NAME\n{} \\- {}\n", roff(page_name(command)), roff(command.description));
  out += ".SH SYNOPSIS\n" + synopsis(command);
  out += commands_section(command) + options_section(command);
  if (not command.footer.empty())
    out += fmt::format(".SH NOTES AND EXAMPLES\n.nf\n{}\n.fi\n", roff(command.footer));
  if (not command.path.empty())
    out +=
        ".SH EXIT STATUS\n0: done; 1: the answer is no; 2: something outside the program must be put right;\n"
        "3: an error of the program itself; 130: interrupted.\n";
  return out + see_also(command, root);
}

struct ManOptions {
  std::vector<std::string> command;
  std::string out;
};

const CommandInfo& chosen(const CommandInfo& root, const std::vector<std::string>& path) {
  const CommandInfo* at = &root;
  for (const std::string& word : path) {
    std::vector<std::string> names;
    const CommandInfo* next = nullptr;
    for (const CommandInfo& sub : at->commands) {
      names.push_back(sub.path.back());
      next = sub.path.back() == word ? &sub : next;
    }
    if (next == nullptr)
      throw UsageError(fmt::format("{} has no command '{}'{}", call_of(*at), word, suggestion(word, names)));
    at = next;
  }
  return *at;
}

ExitCode man(const ManOptions& options, const CLI::App& app) {
  const CommandInfo root = command_tree(app);
  if (options.out.empty()) {
    write_stdout(page(chosen(root, options.command), root));
    return ExitCode::Ok;
  }
  if (not options.command.empty())
    throw UsageError("--out writes all pages; leave COMMAND out, or redirect the output of one");
  require_folder(options.out);
  for (const CommandInfo* command : all_commands(root))
    write_file(std::filesystem::path(options.out) / (page_name(*command) + ".1"), page(*command, root));
  return ExitCode::Ok;
}

} // namespace

void add_man(CLI::App& app, Session& session) {
  auto* command = app.add_subcommand("man", "Print a manual page, or write all of them");
  const auto options = std::make_shared<ManOptions>();
  command->add_option("COMMAND", options->command,
                      "Command the page is about, as `run` or `results list`; none: all in short");
  command->add_option("--out", options->out, "Write a page for each command into this folder")
      ->type_name("DIR");
  command->footer(R"(Examples:
  replisim man run | man -l -
  replisim man --out man1
)");
  command->callback([options, &app, &session] { session.exit_code = man(*options, app); });
}

} // namespace replisim::cli
