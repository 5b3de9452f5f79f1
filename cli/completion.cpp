// replisim completion: scripts with which bash, zsh and fish complete commands, options and their values.
#include "cli/command_tree.hpp"
#include "cli/commands.hpp"
#include "cli/output.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <memory>

namespace replisim::cli {

namespace {

std::string first_sentence(const std::string& text) { return text.substr(0, text.find_first_of(";\n")); }

/// Kinds of values a shell completes by itself.
bool is_folder(const OptionInfo& option) { return option.value == "DIR"; }
bool is_file(const OptionInfo& option) {
  return option.value == "FILE" or (not option.positional.empty() and option.choices.empty());
}

std::string key_of(const CommandInfo& command) { return fmt::format("{}", fmt::join(command.path, " ")); }

std::vector<std::string> words_of(const CommandInfo& command) {
  std::vector<std::string> words;
  for (const CommandInfo& sub : command.commands)
    words.push_back(sub.path.back());
  for (const OptionInfo& option : command.options) {
    words.insert(words.end(), option.names.begin(), option.names.end());
    if (not option.positional.empty())
      words.insert(words.end(), option.choices.begin(), option.choices.end());
  }
  return words;
}

// --- bash -------------------------------------------------------------------------------------

std::string bash_values(const CommandInfo& command) {
  std::string out;
  for (const OptionInfo& option : command.options) {
    if (option.names.empty() or option.value.empty())
      continue;
    std::vector<std::string> patterns;
    for (const std::string& name : option.names)
      patterns.push_back(fmt::format("'{} {}'", key_of(command), name));
    const std::string action =
        not option.choices.empty()
            ? fmt::format("COMPREPLY=($(compgen -W '{}' -- \"$cur\"))", fmt::join(option.choices, " "))
        : is_folder(option) ? std::string("compopt -o filenames; COMPREPLY=($(compgen -d -- \"$cur\"))")
        : is_file(option)   ? std::string("compopt -o filenames; COMPREPLY=($(compgen -f -- \"$cur\"))")
                            : std::string("COMPREPLY=()");
    out += fmt::format("    {})\n      {}\n      return ;;\n", fmt::join(patterns, "|"), action);
  }
  return out;
}

std::string bash_script(const CommandInfo& root) {
  std::string values, words, nested;
  for (const CommandInfo* command : all_commands(root)) {
    values += bash_values(*command);
    words += fmt::format("    '{}') words='{}' ;;\n", key_of(*command), fmt::join(words_of(*command), " "));
    for (const CommandInfo& sub : command->commands)
      nested += fmt::format("      '{}{}{}') command='{}' ;;\n", key_of(*command),
                            command->path.empty() ? "" : " ", sub.path.back(), key_of(sub));
  }
  return fmt::format(R"(# bash completion of replisim, written by `replisim completion bash`.
# Try it in this shell:  source <(replisim completion bash)
_replisim() {{
  local cur prev command='' words='' i
  cur="${{COMP_WORDS[COMP_CWORD]}}"
  prev="${{COMP_WORDS[COMP_CWORD-1]}}"
  for ((i = 1; i < COMP_CWORD; i++)); do
    case "${{command:+$command }}${{COMP_WORDS[i]}}" in
{}    esac
  done
  case "$command $prev" in
{}  esac
  case "$command" in
{}  esac
  COMPREPLY=($(compgen -W "$words" -- "$cur"))
  if [[ $cur != -* && -n $command ]]; then
    compopt -o filenames 2>/dev/null
    COMPREPLY+=($(compgen -f -- "$cur"))
  fi
}}
complete -F _replisim replisim
)",
                     nested, values, words);
}

// --- zsh --------------------------------------------------------------------------------------

/// For a text between single quotes in which _arguments gives brackets and colons a meaning.
std::string zsh_text(const std::string& text) {
  std::string out;
  for (const char c : first_sentence(text)) {
    if (c == '\'')
      out += "'\\''";
    else if (c == '[' or c == ']' or c == ':' or c == '\\')
      out.append("\\").append(1, c);
    else
      out += c;
  }
  return out;
}

std::string zsh_action(const OptionInfo& option) {
  if (not option.choices.empty())
    return fmt::format("({})", fmt::join(option.choices, " "));
  return is_folder(option) ? "_files -/" : is_file(option) ? "_files" : "";
}

std::string zsh_option(const OptionInfo& option) {
  if (not option.positional.empty())
    return fmt::format("      '{}:{}:{}' \\\n", option.repeats ? "*" : "", zsh_text(option.positional),
                       zsh_action(option));
  std::string out;
  for (const std::string& name : option.names)
    out +=
        fmt::format("      '{}{}[{}]{}' \\\n", option.repeats ? "*" : "", name, zsh_text(option.description),
                    option.value.empty() ? std::string()
                                         : fmt::format(":{}:{}", zsh_text(option.value), zsh_action(option)));
  return out;
}

std::string zsh_function_name(const CommandInfo& command) {
  std::string out = "_replisim";
  for (const std::string& part : command.path)
    out.append("_").append(part);
  return out;
}

std::string zsh_function(const CommandInfo& command) {
  std::string options, list, cases;
  for (const OptionInfo& option : command.options)
    if (command.commands.empty() or not option.names.empty())
      options += zsh_option(option);
  if (command.commands.empty())
    return fmt::format("{}() {{\n  _arguments \\\n{}      && return 0\n}}\n\n", zsh_function_name(command),
                       options);
  for (const CommandInfo& sub : command.commands) {
    list += fmt::format("    '{}:{}'\n", sub.path.back(), zsh_text(sub.description));
    cases += fmt::format("        {}) {} ;;\n", sub.path.back(), zsh_function_name(sub));
  }
  // A command that takes a file before its own commands (`replisim results FILE list`).
  const bool takes_file = not command.path.empty();
  return fmt::format(R"({}() {{
  local -a commands
  local line state i
  commands=(
{}  )
  _arguments -C \
{}      '1:{}:->command' '*::argument:->arguments' && return 0
  case $state in
    command)
      _describe command commands
      {} ;;
    arguments)
      case $line[1] in
{}        *) _describe command commands ;;
      esac ;;
  esac
}}

)",
                     zsh_function_name(command), list, options, "command", takes_file ? "_files" : ":",
                     cases);
}

std::string zsh_script(const CommandInfo& root) {
  std::string out = "#compdef replisim\n# zsh completion of replisim, written by `replisim completion zsh`.\n"
                    "# Put it as _replisim into a folder of $fpath.\n\n";
  for (const CommandInfo* command : all_commands(root))
    out += zsh_function(*command);
  return out + "if [ \"$funcstack[1]\" = \"_replisim\" ]; then\n  _replisim \"$@\"\nelse\n"
               "  compdef _replisim replisim\nfi\n";
}

// --- fish -------------------------------------------------------------------------------------

std::string fish_text(const std::string& text) {
  std::string out;
  for (const char c : first_sentence(text)) {
    if (c == '\'' or c == '\\')
      out += '\\';
    out += c;
  }
  return out;
}

std::string fish_condition(const CommandInfo& command) {
  if (command.path.empty())
    return "__fish_use_subcommand";
  std::string out;
  for (const std::string& part : command.path)
    out.append(out.empty() ? "" : "; and ").append("__fish_seen_subcommand_from ").append(part);
  return out;
}

std::string fish_line(const CommandInfo& command, const OptionInfo& option) {
  std::string out = fmt::format("complete -c replisim -n '{}'", fish_condition(command));
  for (const std::string& name : option.names)
    out += name.starts_with("--") ? fmt::format(" -l {}", name.substr(2))
                                  : fmt::format(" -s {}", name.substr(1));
  if (not option.choices.empty())
    out += fmt::format(" -x -a '{}'", fmt::join(option.choices, " "));
  else if (is_folder(option))
    out += " -x -a '(__fish_complete_directories)'";
  else if (not option.value.empty())
    out += is_file(option) ? " -r -F" : " -x";
  return fmt::format("{} -d '{}'\n", out, fish_text(option.description));
}

std::string fish_script(const CommandInfo& root) {
  std::string out = "# fish completion of replisim, written by `replisim completion fish`.\n"
                    "# Try it in this shell:  replisim completion fish | source\n"
                    "complete -c replisim -n __fish_use_subcommand -f\n";
  for (const CommandInfo* command : all_commands(root)) {
    for (const CommandInfo& sub : command->commands)
      out += fmt::format("complete -c replisim -n '{}' -a {} -d '{}'\n", fish_condition(*command),
                         sub.path.back(), fish_text(sub.description));
    for (const OptionInfo& option : command->options)
      if (not option.names.empty() or not option.choices.empty())
        out += fish_line(*command, option);
  }
  return out;
}

} // namespace

void add_completion(CLI::App& app, Session& session) {
  auto* command =
      app.add_subcommand("completion", "Print a script with which a shell completes replisim's commands");
  const auto shell = std::make_shared<std::string>();
  command->add_option("SHELL", *shell, "The shell")
      ->required()
      ->check(CLI::IsMember({"bash", "zsh", "fish"}));
  command->footer(R"(Examples:
  replisim completion bash > ~/.local/share/bash-completion/completions/replisim
  replisim completion zsh > "${fpath[1]}/_replisim"
  replisim completion fish > ~/.config/fish/completions/replisim.fish
)");
  command->callback([shell, &app, &session] {
    const CommandInfo tree = command_tree(app);
    write_stdout(*shell == "bash"  ? bash_script(tree)
                 : *shell == "zsh" ? zsh_script(tree)
                                   : fish_script(tree));
    session.exit_code = ExitCode::Ok;
  });
}

} // namespace replisim::cli
