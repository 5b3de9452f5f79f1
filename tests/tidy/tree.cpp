// Reading the tree, and the small lexer that tells code from comments and literals.
#include "tests/tidy/tree.hpp"

#include <algorithm>
#include <cctype>
#include <fstream>
#include <iterator>

namespace replisim::tidy {

namespace {

bool is_skipped_folder(const std::string& name) {
  return (name.starts_with(".") and name != ".ci") or name == "build" or name.starts_with("build-") or
         name == "out" or name == "node_modules";
}

bool is_text(const std::filesystem::path& path) {
  static const std::vector<std::string> extensions = {".cpp", ".hpp", ".md",   ".yaml", ".yml",
                                                      ".txt", ".sh",  ".json", ".cmake"};
  static const std::vector<std::string> names = {"Makefile", "run", ".clang-format", ".clang-tidy"};
  const auto has = [](const auto& list, const std::string& item) {
    return std::find(list.begin(), list.end(), item) != list.end();
  };
  return has(extensions, path.extension().string()) or has(names, path.filename().string());
}

bool is_name_character(char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 or c == '_'; }

/// Blanks [from, to) of `text` except for newlines.
void blank(std::string& text, std::size_t from, std::size_t to) {
  for (std::size_t i = from; i < std::min(to, text.size()); ++i)
    if (text[i] != '\n')
      text[i] = ' ';
}

/// Position just behind the literal that opens with `quote` at `begin`.
std::size_t end_of_literal(std::string_view text, std::size_t begin, char quote) {
  for (std::size_t i = begin + 1; i < text.size(); ++i) {
    if (text[i] == '\\')
      ++i;
    else if (text[i] == quote or text[i] == '\n')
      return i + 1;
  }
  return text.size();
}

/// Position just behind the raw string whose opening quote is at `begin`.
std::size_t end_of_raw_string(std::string_view text, std::size_t begin) {
  const std::size_t open = text.find('(', begin);
  if (open == std::string_view::npos)
    return text.size();
  std::string close(1, ')');
  close.append(text.substr(begin + 1, open - begin - 1)).push_back('"');
  const std::size_t end = text.find(close, open);
  return end == std::string_view::npos ? text.size() : end + close.size();
}

std::size_t end_of_comment(std::string_view text, std::size_t begin, std::string_view close) {
  const std::size_t end = text.find(close, begin + 2);
  return end == std::string_view::npos ? text.size() : end + (close == "\n" ? 0 : close.size());
}

} // namespace

std::string to_string(const Offences& offences) {
  std::string text;
  for (const Offence& offence : offences)
    text += offence.path + ":" + std::to_string(offence.line) + ": " + offence.what + "\n";
  return text;
}

std::vector<File> read_tree(const std::filesystem::path& root) {
  std::vector<File> files;
  auto entry = std::filesystem::recursive_directory_iterator(root);
  for (; entry != std::filesystem::end(entry); ++entry) {
    if (entry->is_directory() and is_skipped_folder(entry->path().filename().string())) {
      entry.disable_recursion_pending();
    } else if (entry->is_regular_file() and is_text(entry->path())) {
      std::ifstream stream(entry->path(), std::ios::binary);
      files.push_back({std::filesystem::relative(entry->path(), root).generic_string(),
                       std::string(std::istreambuf_iterator<char>(stream), {})});
    }
  }
  std::sort(files.begin(), files.end(), [](const File& a, const File& b) { return a.path < b.path; });
  return files;
}

std::vector<std::string_view> lines_of(std::string_view text) {
  std::vector<std::string_view> lines;
  while (not text.empty()) {
    const std::size_t end = text.find('\n');
    lines.push_back(text.substr(0, end));
    text = end == std::string_view::npos ? std::string_view{} : text.substr(end + 1);
  }
  return lines;
}

bool has_prefix(std::string_view path, std::string_view prefix) { return path.starts_with(prefix); }
bool has_suffix(std::string_view path, std::string_view suffix) { return path.ends_with(suffix); }
bool is_cpp(const File& file) { return has_suffix(file.path, ".cpp") or has_suffix(file.path, ".hpp"); }
bool is_markdown(const File& file) { return has_suffix(file.path, ".md"); }

bool in_a_room(const File& file) {
  const auto rooms = {"models/", "sim/", "calibration/", "cli/"};
  return std::any_of(rooms.begin(), rooms.end(),
                     [&](const char* room) { return has_prefix(file.path, room); });
}

std::string code_only(std::string_view text) {
  std::string code(text);
  std::size_t i = 0;
  while (i < text.size()) {
    const char previous = i > 0 ? text[i - 1] : ' ';
    std::size_t end = i;
    if (text.substr(i, 2) == "//")
      end = end_of_comment(text, i, "\n");
    else if (text.substr(i, 2) == "/*")
      end = end_of_comment(text, i, "*/");
    else if (text[i] == '"' and previous == 'R')
      end = end_of_raw_string(text, i);
    else if (text[i] == '"' or (text[i] == '\'' and not is_name_character(previous))) // 1'000 is a number
      end = end_of_literal(text, i, text[i]);
    if (end > i)
      blank(code, i, end);
    i = std::max(end, i + 1);
  }
  return code;
}

} // namespace replisim::tidy
