// The tree keeps the house rules: each test lists all offenders as file:line.
#include "test_paths.hpp"
#include "tests/tidy/rules.hpp"

#include <catch2/catch.hpp>

#include <algorithm>

namespace replisim::tidy {

namespace {

const std::filesystem::path root = REPLISIM_SOURCE_DIR;

const std::vector<File>& tree() {
  static const std::vector<File> files = read_tree(root);
  return files;
}

template <typename Checker>
void require_clean(Checker checker) {
  Offences offences;
  for (const File& file : tree()) {
    const Offences found = checker(file);
    offences.insert(offences.end(), found.begin(), found.end());
  }
  INFO(to_string(offences));
  REQUIRE(offences.empty());
}

bool has_file(const std::string& path) {
  return std::any_of(tree().begin(), tree().end(), [&](const File& file) { return file.path == path; });
}

} // namespace

TEST_CASE("the tree was found and read") {
  REQUIRE(has_file("CMakeLists.txt"));
  REQUIRE(has_file("models/base/errors.cpp"));
  REQUIRE(has_file("tests/tidy/test_tree.cpp"));
  REQUIRE(has_file(".ci/run"));
}

TEST_CASE("includes follow the layers") { require_clean(check_includes); }
TEST_CASE("only sim/engine names SimGrid") { require_clean(check_simgrid_names); }
TEST_CASE("no banned calls") { require_clean(check_banned_code); }
TEST_CASE("no leftover markers and no paths of one machine") { require_clean(check_banned_words); }
TEST_CASE("files and lines are short") { require_clean(check_size); }
TEST_CASE("functions are short") { require_clean(check_function_length); }
TEST_CASE("files say what they are") { require_clean(check_head); }
TEST_CASE("documents have one top heading") { require_clean(check_headings); }
TEST_CASE("scenario files are complete scenarios by name and opening") { require_clean(check_scenario_file); }

TEST_CASE("no file is orphaned") {
  const Offences offences = check_orphans(tree());
  INFO(to_string(offences));
  REQUIRE(offences.empty());
}

TEST_CASE("a type's name belongs to one header") {
  const Offences offences = check_type_names(tree());
  INFO(to_string(offences));
  REQUIRE(offences.empty());
}

TEST_CASE("links in documents lead somewhere") {
  const auto exists = [](const std::string& path) { return std::filesystem::exists(root / path); };
  const auto read = [](const std::string& path) {
    const auto file =
        std::find_if(tree().begin(), tree().end(), [&](const File& f) { return f.path == path; });
    return file == tree().end() ? std::string() : file->text;
  };
  require_clean([&](const File& file) { return check_links(file, exists, read); });
}

} // namespace replisim::tidy
