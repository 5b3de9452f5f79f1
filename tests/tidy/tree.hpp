// The files of the source tree as the house rules see them.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

namespace replisim::tidy {

/// A text file: path relative to the root of the tree, with forward slashes.
struct File {
  std::string path;
  std::string text;
};

/// One breach of a rule. `line` is 1-based; 0 when the whole file is meant.
struct Offence {
  std::string path;
  int line = 0;
  std::string what;
};

using Offences = std::vector<Offence>;

/// `path:line: what`, one per line, for a failing test's message.
std::string to_string(const Offences& offences);

/// All text files of the tree sorted by path, without build folders, hidden folders (but .ci) and
/// what a run may leave behind (out/). Data files (.csv) and binary files are not read.
std::vector<File> read_tree(const std::filesystem::path& root);

/// Lines without their ends; a text that ends with a newline has no empty last line.
std::vector<std::string_view> lines_of(std::string_view text);

bool is_cpp(const File& file);      ///< .cpp or .hpp
bool is_markdown(const File& file); ///< .md
bool has_prefix(std::string_view path, std::string_view prefix);
bool has_suffix(std::string_view path, std::string_view suffix);

/// `models/`, `sim/`, `calibration/` or `cli/`: the folders whose code is the product.
bool in_a_room(const File& file);

/// C++ text with comments and the contents of string and character literals replaced by blanks;
/// newlines stay, so line numbers do too. Raw strings are understood.
std::string code_only(std::string_view text);

} // namespace replisim::tidy
