#include "calibration/observe/groups.hpp"

#include <algorithm>
#include <filesystem>
#include <map>
#include <utility>

namespace replisim::readers {

namespace fs = std::filesystem;

namespace {

/// The parts of a file's name between dots, packing left out: "a", "pub", "log".
std::vector<std::string> name_parts(const std::string& file) {
  std::vector<std::string> parts(1);
  for (const char c : fs::path(file).filename().string())
    if (c == '.')
      parts.emplace_back();
    else
      parts.back() += c;
  while (parts.size() > 1 and (parts.back() == "gz" or parts.back() == "zst" or parts.back() == "zstd"))
    parts.pop_back();
  return parts;
}

std::string stem_of(const std::string& file) {
  const auto parts = name_parts(file);
  return parts.size() < 3 ? std::string() : (fs::path(file).parent_path() / parts[0]).string();
}

} // namespace

std::vector<SourceGroup> group_sources(const std::vector<Source>& sources) {
  std::map<std::string, std::vector<std::size_t>> by_stem;
  for (std::size_t i = 0; i < sources.size(); ++i)
    by_stem[stem_of(sources[i].file)].push_back(i);
  std::vector<SourceGroup> groups;
  SourceGroup others;
  for (auto& [stem, members] : by_stem) {
    if (stem.empty() or members.size() < 2)
      others.sources.insert(others.sources.end(), members.begin(), members.end());
    else
      groups.push_back({fs::path(stem).filename().string(), std::move(members)});
  }
  std::sort(others.sources.begin(), others.sources.end());
  if (not others.sources.empty())
    groups.push_back(std::move(others));
  return groups;
}

std::string node_in_name(const std::string& file) {
  for (const std::string& part : name_parts(file)) {
    if (part == "pub" or part == "publisher" or part == "primary" or part == "source")
      return "pub";
    if (part == "sub" or part == "subscriber" or part == "target")
      return "sub";
  }
  return {};
}

} // namespace replisim::readers
