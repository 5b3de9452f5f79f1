// Rules for C++ and build files.
#include "tests/tidy/rules.hpp"

#include <algorithm>
#include <map>
#include <regex>
#include <set>

namespace replisim::tidy {

namespace {

constexpr int max_file_lines = 500;
constexpr int max_columns = 120;
constexpr int max_function_lines = 70;

/// What a room may include: quoted paths by prefix, libraries by the first part of their path.
struct Layer {
  std::string_view room;
  std::vector<std::string_view> own;
  std::vector<std::string_view> libraries;
  bool posix; ///< system headers such as <unistd.h>
};

/// The first entry whose room is a prefix of the path holds.
const std::vector<Layer>& layers() {
  static const std::vector<Layer> table = {
      {"models/", {"models/"}, {"fmt", "Eigen"}, false},
      {"sim/engine/", {"models/", "sim/"}, {"fmt", "Eigen", "simgrid", "xbt"}, true},
      {"sim/actors/", {"models/", "sim/"}, {"fmt", "Eigen"}, false},
      {"sim/", {"models/", "sim/"}, {"fmt", "Eigen", "yaml-cpp", "nlohmann"}, true},
      {"calibration/fit/main.cpp", {"models/", "sim/", "calibration/"}, {"fmt", "CLI"}, true},
      {"calibration/", {"models/", "sim/", "calibration/"}, {"fmt", "Eigen", "yaml-cpp", "nlohmann"}, true},
      {"cli/",
       {"models/", "sim/", "calibration/", "cli/"},
       {"fmt", "Eigen", "yaml-cpp", "nlohmann", "CLI"},
       true},
  };
  return table;
}

std::string refusal(const Layer& layer, const std::string& name, bool quoted) {
  const auto starts = [&](std::string_view prefix) { return has_prefix(name, prefix); };
  if (quoted) {
    if (std::none_of(layer.own.begin(), layer.own.end(), starts))
      return std::string(layer.room) + " may not include \"" + name + "\"";
    const bool uses_world = starts("sim/actors/") or starts("sim/engine/");
    if (uses_world and layer.room.substr(0, 4) != "sim/")
      return "actors and engine are for sim/ alone; call simulate() instead of \"" + name + "\"";
    return {};
  }
  const std::size_t slash = name.find('/');
  const std::string head = name.substr(0, slash);
  const bool is_system =
      name.ends_with(".h") and (slash == std::string::npos or head == "sys" or head == "netinet");
  const bool is_standard = slash == std::string::npos and name.find('.') == std::string::npos;
  const bool is_library =
      std::find(layer.libraries.begin(), layer.libraries.end(), head) != layer.libraries.end();
  if (is_standard or (slash != std::string::npos and is_library) or (is_system and layer.posix))
    return {};
  return std::string(layer.room) + " may not include <" + name + ">";
}

struct BannedCode {
  std::regex pattern;
  std::string why;
  std::vector<std::string_view> allowed_in; ///< path prefixes
};

const std::vector<BannedCode>& banned_code() {
  static const std::vector<BannedCode> table = [] {
    const auto re = [](const char* text) { return std::regex(text, std::regex::optimize); };
    return std::vector<BannedCode>{
        {re(R"(\brandom_device\b)"), "seeds come from the command line, never from random_device", {}},
        {re(R"(\bunordered_(multi)?(map|set)\b)"),
         "unordered containers make results depend on hashing",
         {"cli/"}},
        {re(R"(\b\w+_distribution\b)"),
         "std distributions differ between libraries; use our own samplers",
         {}},
        {re(R"(\bstd::(shuffle|sample)\b)"), "std::shuffle and std::sample differ between libraries", {}},
        {re(R"(\bs?rand\s*\()"), "rand() is global state; use a seeded stream", {}},
        {re(R"(\b(system_clock|steady_clock|high_resolution_clock|gettimeofday|clock_gettime)\b)"),
         "wall clocks belong to sim/run, cli and to code that works with real servers",
         {"sim/run/", "cli/", "calibration/live/clock."}},
        {re(R"((^|std::|[^\w.>:]::|[;{}]|\belse)\s*abort\s*\(\s*\))"), "never abort; throw", {}},
        {re(R"(\bstd::(terminate|exit|quick_exit)\b)"), "never end the process from inside; throw", {}},
        {re(R"((^|[^\w])assert\s*\()"), "assert() vanishes in release; use REPLISIM_REQUIRE", {}},
        {re(R"(\bcatch\s*\(\s*\.\.\.\s*\))"),
         "catch typed exceptions; swallowing all of them hides bugs",
         {"sim/engine/", "sim/run/fork_pool."}},
    };
  }();
  return table;
}

bool is_line_limited(const File& file) {
  const auto suffixes = {".cpp", ".hpp", ".sh", ".cmake", "CMakeLists.txt", "Makefile"};
  return std::any_of(suffixes.begin(), suffixes.end(),
                     [&](const char* suffix) { return has_suffix(file.path, suffix); });
}

/// Columns as a reader counts them: UTF-8 continuation bytes are none.
int columns_of(std::string_view line) {
  return static_cast<int>(std::count_if(
      line.begin(), line.end(), [](char c) { return (static_cast<unsigned char>(c) & 0xC0U) != 0x80U; }));
}

/// Whether the text between the last statement and a `{` opens a function (or lambda) body.
bool opens_function(const std::string& head) {
  static const std::regex other(R"(\b(namespace|class|struct|union|enum)\b[^()]*$)");
  static const std::regex initializer(R"((=|\breturn|[({,])\s*$)");
  return head.find(')') != std::string::npos and not std::regex_search(head, other) and
         not std::regex_search(head, initializer);
}

/// The names that the CMakeLists.txt of `folder` lists, as whole words.
std::set<std::string> listed_words(std::string_view text) {
  std::set<std::string> words;
  std::string word;
  for (const char c : std::string(text) + " ") {
    if (std::string_view(" \t\r\n()\"").find(c) == std::string_view::npos) {
      word.push_back(c);
    } else if (not word.empty()) {
      words.insert(word);
      word.clear();
    }
  }
  return words;
}

bool is_listed(const std::string& path, const std::vector<File>& files) {
  for (std::size_t slash = path.rfind('/'); slash != std::string::npos and slash > 0;
       slash = path.rfind('/', slash - 1)) {
    const std::string cmake = path.substr(0, slash + 1) + "CMakeLists.txt";
    const auto file =
        std::find_if(files.begin(), files.end(), [&](const File& f) { return f.path == cmake; });
    if (file != files.end() and listed_words(file->text).contains(path.substr(slash + 1)))
      return true;
  }
  return false;
}

} // namespace

Offences check_includes(const File& file) {
  Offences offences;
  if (not is_cpp(file) or not in_a_room(file))
    return offences;
  const auto layer = std::find_if(layers().begin(), layers().end(),
                                  [&](const Layer& l) { return has_prefix(file.path, l.room); });
  static const std::regex include(R"(^\s*#\s*include\s*([<"])([^>"]+)[>"])");
  int number = 0;
  for (const std::string_view line : lines_of(file.text)) {
    ++number;
    std::match_results<std::string_view::const_iterator> match;
    if (not std::regex_search(line.begin(), line.end(), match, include))
      continue;
    const std::string what = refusal(*layer, match[2].str(), match[1].str() == "\"");
    if (not what.empty())
      offences.push_back({file.path, number, what});
  }
  return offences;
}

Offences check_banned_code(const File& file) {
  Offences offences;
  if (not is_cpp(file) or not in_a_room(file))
    return offences;
  const std::string code = code_only(file.text);
  int number = 0;
  for (const std::string_view line : lines_of(code)) {
    ++number;
    for (const BannedCode& banned : banned_code()) {
      const bool is_allowed = std::any_of(banned.allowed_in.begin(), banned.allowed_in.end(),
                                          [&](std::string_view p) { return has_prefix(file.path, p); });
      if (not is_allowed and std::regex_search(line.begin(), line.end(), banned.pattern))
        offences.push_back({file.path, number, banned.why});
    }
  }
  return offences;
}

Offences check_simgrid_names(const File& file) {
  Offences offences;
  if (not is_cpp(file) or has_prefix(file.path, "sim/engine/") or has_prefix(file.path, "tests/engine/") or
      has_prefix(file.path, "tests/bench/"))
    return offences;
  static const std::regex name(R"(\b(simgrid|sg4)\s*::|\b(xbt|sg|MSG)_[a-z]\w*)");
  const std::string code = code_only(file.text);
  int number = 0;
  for (const std::string_view line : lines_of(code)) {
    ++number;
    if (std::regex_search(line.begin(), line.end(), name))
      offences.push_back({file.path, number, "only sim/engine may name SimGrid"});
  }
  return offences;
}

Offences check_size(const File& file) {
  Offences offences;
  const std::vector<std::string_view> lines = lines_of(file.text);
  const int count = static_cast<int>(lines.size());
  if (is_line_limited(file) and count > max_file_lines)
    offences.push_back({file.path, count, "has more than 500 lines"});
  const bool limits_columns = is_line_limited(file) or has_suffix(file.path, ".yaml");
  for (int i = 0; limits_columns and i < count; ++i)
    if (columns_of(lines[static_cast<std::size_t>(i)]) > max_columns)
      offences.push_back({file.path, i + 1, "is longer than 120 columns"});
  return offences;
}

Offences check_function_length(const File& file) {
  Offences offences;
  if (not is_cpp(file) or not in_a_room(file))
    return offences;
  const std::string code = code_only(file.text);
  std::string head;        // what stands between the last `;`, `{` or `}` and here
  int line = 1;            // of the character looked at
  int depth = 0;           // of all braces
  int function_depth = -1; // depth at which the current function opened, -1 outside
  int function_line = 0;
  for (const char c : code) {
    if (c == '{') {
      if (function_depth < 0 and opens_function(head)) {
        function_depth = depth;
        function_line = line;
      }
      ++depth;
    } else if (c == '}') {
      --depth;
      if (depth == function_depth) {
        if (line - function_line + 1 > max_function_lines)
          offences.push_back(
              {file.path, function_line, "the function that opens here has more than 70 lines"});
        function_depth = -1;
      }
    }
    if (c == '{' or c == '}' or c == ';')
      head.clear();
    else
      head.push_back(c);
    line += c == '\n' ? 1 : 0;
  }
  return offences;
}

Offences check_head(const File& file) {
  Offences offences;
  if (not is_cpp(file))
    return offences;
  const std::string own_header = "#include \"" + file.path.substr(0, file.path.rfind('.')) + ".hpp\"\n";
  if (not has_prefix(file.text, "// ") and not has_prefix(file.text, own_header))
    offences.push_back({file.path, 1, "starts without a comment that says what the file is"});
  const std::vector<std::string_view> lines = lines_of(file.text);
  const auto code = std::find_if(lines.begin(), lines.end(), [](std::string_view line) {
    return not line.empty() and not line.starts_with("//");
  });
  if (has_suffix(file.path, ".hpp") and (code == lines.end() or *code != "#pragma once"))
    offences.push_back({file.path, static_cast<int>(code - lines.begin()) + 1,
                        "`#pragma once` must be the first line after the head comment"});
  return offences;
}

Offences check_orphans(const std::vector<File>& files) {
  Offences offences;
  for (const File& file : files) {
    if (has_suffix(file.path, ".cpp") and not is_listed(file.path, files))
      offences.push_back({file.path, 0, "no CMakeLists.txt names it"});
    if (not has_suffix(file.path, ".hpp"))
      continue;
    const std::string include = "#include \"" + file.path + "\"";
    const bool is_included = std::any_of(files.begin(), files.end(), [&](const File& other) {
      return other.path != file.path and other.text.find(include) != std::string::npos;
    });
    if (not is_included)
      offences.push_back({file.path, 0, "nothing includes it"});
  }
  return offences;
}

Offences check_type_names(const std::vector<File>& files) {
  Offences offences;
  static const std::regex opens("^namespace ([A-Za-z_:]+) \\{");
  static const std::regex defines("^(?:struct|class|enum class|enum) ([A-Za-z_0-9]+)[^;]*\\{");
  std::map<std::string, std::string> known; // "namespace::Type" and where it is
  for (const File& file : files) {
    if (not in_a_room(file) or not has_suffix(file.path, ".hpp"))
      continue;
    std::string space;
    int number = 0;
    const std::string code = code_only(file.text);
    for (const std::string_view line : lines_of(code)) {
      ++number;
      std::match_results<std::string_view::const_iterator> found;
      if (std::regex_search(line.begin(), line.end(), found, opens))
        space = found.str(1);
      else if (std::regex_search(line.begin(), line.end(), found, defines))
        if (const auto [at, is_new] = known.emplace(space + "::" + found.str(1), file.path); not is_new)
          offences.push_back({file.path, number, at->first + " is defined in " + at->second + ", too"});
    }
  }
  return offences;
}

} // namespace replisim::tidy
