// Rules for documents, scenario files and words in any text.
#include "tests/tidy/rules.hpp"

#include <algorithm>
#include <cctype>
#include <regex>
#include <set>

namespace replisim::tidy {

namespace {

/// The lines of a document with fenced code blocks blanked, so that line numbers stay.
std::vector<std::string> prose_lines(const File& file) {
  std::vector<std::string> lines;
  bool is_fenced = false;
  for (const std::string_view line : lines_of(file.text)) {
    const bool is_fence = line.starts_with("```");
    is_fenced = is_fenced != is_fence;
    lines.emplace_back(is_fenced or is_fence ? "" : line);
  }
  return lines;
}

/// The anchor a heading gets: lower case, blanks as hyphens, other punctuation dropped.
std::string anchor_of(std::string_view heading) {
  std::string anchor;
  for (const char c : heading) {
    const auto byte = static_cast<unsigned char>(c);
    if (std::isalnum(byte) != 0 or c == '-' or c == '_' or byte >= 0x80)
      anchor.push_back(static_cast<char>(std::tolower(byte)));
    else if (c == ' ')
      anchor.push_back('-');
  }
  return anchor;
}

std::set<std::string> anchors_of(const File& document) {
  std::set<std::string> anchors;
  static const std::regex heading(R"(^#{1,6} +(.*?) *$)");
  for (const std::string& line : prose_lines(document)) {
    std::smatch match;
    if (std::regex_match(line, match, heading))
      anchors.insert(anchor_of(match[1].str()));
  }
  return anchors;
}

std::string normal_path(const std::string& document, const std::string& link) {
  const std::filesystem::path folder = std::filesystem::path(document).parent_path();
  return (folder / link).lexically_normal().generic_string();
}

struct BannedWord {
  std::regex pattern;
  std::string why;
};

/// The words are put together from pieces so that this file does not offend against itself.
const std::vector<BannedWord>& banned_words() {
  static const std::vector<BannedWord> table = [] {
    const std::string before = R"((^|[^\w.~]))";
    return std::vector<BannedWord>{
        {std::regex(R"(\b()"
                    "TO"
                    "DO|FIX"
                    "ME|X"
                    R"(XX)\b)"),
         "a leftover marker: do it or drop it"},
        {std::regex(R"(\.\./sha)"
                    "red"),
         "refers to a folder that is no part of the project"},
        {std::regex(before + "/(wo"
                             "rk|ro"
                             "ot|ho"
                             R"(me)/\w)"),
         "an absolute path of one machine"},
    };
  }();
  return table;
}

} // namespace

Offences check_banned_words(const File& file) {
  Offences offences;
  int number = 0;
  for (const std::string_view line : lines_of(file.text)) {
    ++number;
    for (const BannedWord& banned : banned_words())
      if (std::regex_search(line.begin(), line.end(), banned.pattern))
        offences.push_back({file.path, number, banned.why});
  }
  return offences;
}

Offences check_headings(const File& file) {
  Offences offences;
  if (not is_markdown(file))
    return offences;
  int number = 0;
  int count = 0;
  for (const std::string& line : prose_lines(file)) {
    ++number;
    if (line.starts_with("# ") and ++count > 1)
      offences.push_back({file.path, number, "a second top heading"});
  }
  if (count == 0)
    offences.push_back({file.path, 1, "no top heading"});
  return offences;
}

Offences check_links(const File& file, const std::function<bool(const std::string&)>& exists,
                     const std::function<std::string(const std::string&)>& read) {
  Offences offences;
  if (not is_markdown(file))
    return offences;
  static const std::regex link(R"(\]\(([^)\s]+)\))");
  static const std::regex absolute(R"(^[a-z][a-z0-9+.-]*:)");
  int number = 0;
  for (const std::string& line : prose_lines(file)) {
    ++number;
    for (std::sregex_iterator match(line.begin(), line.end(), link), end; match != end; ++match) {
      const std::string target = (*match)[1].str();
      if (std::regex_search(target, absolute))
        continue;
      const std::size_t hash = target.find('#');
      const std::string path = hash == 0 ? file.path : normal_path(file.path, target.substr(0, hash));
      if (not exists(path)) {
        offences.push_back({file.path, number, "link to " + target + ", which does not exist"});
      } else if (hash != std::string::npos and has_suffix(path, ".md")) {
        const File document{path, hash == 0 ? file.text : read(path)};
        if (not anchors_of(document).contains(target.substr(hash + 1)))
          offences.push_back({file.path, number, "link to " + target + ", where there is no such heading"});
      }
    }
  }
  return offences;
}

Offences check_scenario_file(const File& file) {
  Offences offences;
  if (not has_prefix(file.path, "scenarios/") or has_prefix(file.path, "scenarios/hardware/") or
      has_prefix(file.path, "scenarios/bases/") or is_markdown(file) or has_suffix(file.path, ".json"))
    return offences;
  if (not has_suffix(file.path, ".yaml"))
    return {{file.path, 0, "a scenario must be named NAME.yaml"}};
  const std::vector<std::string_view> lines = lines_of(file.text);
  static const std::regex opening(R"(^(replisim:\s*1\s*(#.*)?|extends:\s*\S.*)$)");
  const bool opens = std::any_of(lines.begin(), lines.end(), [&](std::string_view line) {
    return std::regex_match(line.begin(), line.end(), opening);
  });
  if (not opens)
    offences.push_back({file.path, 1, "says neither `replisim: 1` nor `extends:`"});
  return offences;
}

} // namespace replisim::tidy
