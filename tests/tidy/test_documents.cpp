// Documents agree with the code: docs/scenario-format.md knows every field and its default, and the
// scenarios shown in documents load.
#include "sim/scenario/descriptors.hpp"
#include "sim/scenario/loader.hpp"
#include "test_paths.hpp"
#include "tests/tidy/tree.hpp"

#include <catch2/catch.hpp>
#include <fmt/format.h>

#include <algorithm>
#include <fstream>

#include <unistd.h>

namespace replisim::tidy {

namespace {

const std::string& format_document() {
  static const std::string text = [] {
    for (const File& file : read_tree(REPLISIM_SOURCE_DIR))
      if (file.path == "docs/scenario-format.md")
        return file.text;
    return std::string();
  }();
  return text;
}

/// Whether some table row starts with the field (its last part) and `cell`, or, for an empty `cell`,
/// with the field alone.
bool has_row(std::string_view field, const std::string& cell) {
  const std::string end = std::string(field) + "` | " + cell;
  const std::vector<std::string_view> lines = lines_of(format_document());
  return std::any_of(lines.begin(), lines.end(), [&](std::string_view line) {
    return line.starts_with("| `" + end) or
           (line.starts_with("| `") and line.find("." + end) < line.find(" | "));
  });
}

/// The fenced YAML blocks of a document that are whole scenarios.
std::vector<std::string> scenarios_in(const File& document) {
  const std::string opening = "```yaml\nreplisim: 1\n";
  std::vector<std::string> blocks;
  for (std::size_t at = document.text.find(opening); at != std::string::npos;
       at = document.text.find(opening, at + 1)) {
    const std::size_t begin = document.text.find('\n', at) + 1;
    blocks.push_back(document.text.substr(begin, document.text.find("```", begin) - begin));
  }
  return blocks;
}

} // namespace

TEST_CASE("scenarios shown in documents load") {
  const std::filesystem::path path =
      std::filesystem::temp_directory_path() / ("replisim-document-" + std::to_string(getpid()) + ".yaml");
  int count = 0;
  for (const File& file : read_tree(REPLISIM_SOURCE_DIR)) {
    if (not is_markdown(file))
      continue;
    for (const std::string& text : scenarios_in(file)) {
      ++count;
      INFO(file.path << ":\n" << text);
      std::ofstream(path) << text;
      CHECK_NOTHROW(load_scenario(path, {}, Library{REPLISIM_SOURCE_DIR}));
    }
  }
  std::filesystem::remove(path);
  REQUIRE(count > 0);
}

TEST_CASE("every field of the format is documented with its default") {
  std::string missing;
  for (const ObjectDescriptor& object : scenario_objects()) {
    for (const FieldDescriptor& field : object.fields) {
      const std::string cell =
          field.default_value.empty() ? std::string() : fmt::format("`{}` |", field.default_value);
      const bool is_exempt = object.name == "stated_cost"; // the costs of a profile, all optional
      if (not is_exempt and not has_row(field.name, cell))
        missing += std::string(object.name) + "." + std::string(field.name) + " " + cell + "\n";
    }
  }
  INFO("docs/scenario-format.md has no row for:\n" << missing);
  REQUIRE(missing.empty());
}

TEST_CASE("every choice of the format is documented") {
  std::string missing;
  for (const ObjectDescriptor& object : scenario_objects())
    for (const FieldDescriptor& field : object.fields)
      for (const std::string_view choice : field.allowed)
        if (field.name != "metric" and
            format_document().find(fmt::format("`{}`", choice)) == std::string::npos)
          missing +=
              std::string(object.name) + "." + std::string(field.name) + ": " + std::string(choice) + "\n";
  INFO("docs/scenario-format.md does not mention:\n" << missing);
  REQUIRE(missing.empty());
}

} // namespace replisim::tidy
