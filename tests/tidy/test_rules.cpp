// The rules find what they are for: each checker against a planted offender and a decoy.
#include "tests/tidy/rules.hpp"

#include <catch2/catch.hpp>

namespace replisim::tidy {

namespace {

/// The lines at which a checker found something.
std::vector<int> lines_at(const Offences& offences) {
  std::vector<int> lines;
  for (const Offence& offence : offences)
    lines.push_back(offence.line);
  return lines;
}

using Lines = std::vector<int>;

} // namespace

TEST_CASE("code_only blanks comments and literals and keeps lines") {
  REQUIRE(code_only("a // b\nc") == "a     \nc");
  REQUIRE(code_only("a /* b\nc */ d") == "a     \n     d");
  REQUIRE(code_only(R"(f("a\"b", 'c'))") == "f(      ,    )");
  REQUIRE(code_only("x = 1'000; // y") == "x = 1'000;     ");
  REQUIRE(code_only("s = R\"x(a \" // )x\"; t") == "s = R             ; t");
  REQUIRE(code_only("// it's\nabort") == "       \nabort");
}

TEST_CASE("includes: rooms") {
  const auto at = [](const char* path, const char* text) { return lines_at(check_includes({path, text})); };
  REQUIRE(at("models/a.cpp", "#include \"models/b.hpp\"\n#include <vector>\n#include <fmt/format.h>\n") ==
          Lines{});
  REQUIRE(at("models/a.cpp", "\n#include \"sim/b.hpp\"\n") == Lines{2});
  REQUIRE(at("models/a.cpp", "#include <unistd.h>\n#include <yaml-cpp/yaml.h>\n") == Lines{1, 2});
  REQUIRE(at("models/base/a.cpp", "#include \"errors.hpp\"\n") == Lines{1});
  REQUIRE(at("sim/run/a.cpp", "#include <unistd.h>\n#include <sys/wait.h>\n") == Lines{});
  REQUIRE(at("sim/run/a.cpp", "#include \"calibration/a.hpp\"\n#include \"cli/a.hpp\"\n") == Lines{1, 2});
  REQUIRE(at("calibration/a.cpp", "#include \"sim/run/a.hpp\"\n#include \"sim/actors/a.hpp\"\n") == Lines{2});
  REQUIRE(at("cli/a.cpp", "#include \"cli/b.hpp\"\n#include <CLI/CLI.hpp>\n#include \"tests/a.hpp\"\n") ==
          Lines{3});
  REQUIRE(at("tests/a.cpp", "#include \"sim/engine/a.hpp\"\n") == Lines{});
}

TEST_CASE("includes: SimGrid is for the engine") {
  const std::string text = "#include <simgrid/s4u.hpp>\n";
  REQUIRE(check_includes({"sim/engine/a.cpp", text}).empty());
  for (const char* path : {"sim/a.cpp", "sim/actors/a.cpp", "calibration/a.cpp", "cli/a.cpp", "models/a.cpp"})
    REQUIRE(lines_at(check_includes({path, text})) == Lines{1});
  REQUIRE(lines_at(check_simgrid_names({"sim/actors/a.cpp", "// simgrid::s4u\nsimgrid::s4u::Host* h;\n"})) ==
          Lines{2});
  REQUIRE(lines_at(check_simgrid_names({"sim/run/a.cpp", "xbt_log_control_set(s);"})) == Lines{1});
  REQUIRE(check_simgrid_names({"sim/engine/a.cpp", "simgrid::s4u::Host* h;"}).empty());
}

TEST_CASE("banned code") {
  const auto at = [](const char* path, const char* text) {
    return lines_at(check_banned_code({path, text}));
  };
  REQUIRE(at("sim/a.cpp", "\nstd::random_device d;\n") == Lines{2});
  REQUIRE(at("sim/a.cpp", "std::unordered_map<int, int> m;") == Lines{1});
  REQUIRE(at("models/a.cpp", "std::normal_distribution<> d;") == Lines{1});
  REQUIRE(at("models/a.cpp", "auto t = std::chrono::steady_clock::now();") == Lines{1});
  REQUIRE(at("sim/run/a.cpp", "auto t = std::chrono::steady_clock::now();") == Lines{});
  REQUIRE(at("sim/a.cpp", "  abort();") == Lines{1});
  REQUIRE(at("sim/a.cpp", "if (x) { std::abort(); }") == Lines{1});
  REQUIRE(at("sim/a.cpp", "buffer.abort(xid); void on_abort(); p->abort(); void Buffer::abort() {}") ==
          Lines{});
  REQUIRE(at("sim/a.cpp", "} catch (...) {") == Lines{1});
  REQUIRE(at("sim/engine/a.cpp", "} catch (...) {") == Lines{});
  REQUIRE(at("sim/run/fork_pool.cpp", "} catch (...) {") == Lines{});
  REQUIRE(at("sim/a.cpp", "static_assert(true); assert(x);") == Lines{1});
  REQUIRE(at("sim/a.cpp", "static_assert(true); // assert(x)\nf(\"abort();\");") == Lines{});
  REQUIRE(at("sim/a.cpp", "std::exit(1); operand(2); rand();") == Lines{1, 1});
}

TEST_CASE("size of files and lines") {
  std::string text;
  for (int i = 0; i < 500; ++i)
    text += "x\n";
  REQUIRE(check_size({"sim/a.cpp", text}).empty());
  REQUIRE(lines_at(check_size({"sim/a.cpp", text + "y\n"})) == Lines{501});
  REQUIRE(check_size({"docs/a.md", text + "y\n" + std::string(200, 'x')}).empty());
  REQUIRE(check_size({"scenarios/a.yaml", std::string(120, 'x')}).empty());
  REQUIRE(lines_at(check_size({"scenarios/a.yaml", "a\n" + std::string(121, 'x')})) == Lines{2});
  std::string umlauts;
  for (int i = 0; i < 120; ++i)
    umlauts += "\u00fc";
  REQUIRE(check_size({"sim/a.cpp", umlauts}).empty());
}

TEST_CASE("length of functions") {
  const auto function = [](const std::string& head, int lines) {
    std::string text = "namespace a {\nstruct B {\n" + head + " {\n";
    for (int i = 0; i < lines - 2; ++i)
      text += "if (x) { f(); }\n";
    return text + "}\n};\n}\n";
  };
  REQUIRE(check_function_length({"sim/a.cpp", function("int f(int x)", 70)}).empty());
  REQUIRE(lines_at(check_function_length({"sim/a.cpp", function("int f(int x)", 71)})) == Lines{3});
  REQUIRE(lines_at(check_function_length({"sim/a.cpp", function("int f(int x) const", 71)})) == Lines{3});
  REQUIRE(check_function_length({"sim/a.cpp", function("const int table[] = ", 200)}).empty());
  REQUIRE(check_function_length({"sim/a.cpp", function("struct C : D", 200)}).empty());
}

TEST_CASE("heads of files") {
  REQUIRE(check_head({"sim/a.hpp", "// What it is.\n// More.\n\n#pragma once\n"}).empty());
  REQUIRE(lines_at(check_head({"sim/a.hpp", "#pragma once\n"})) == Lines{1});
  REQUIRE(lines_at(check_head({"sim/a.hpp", "// What it is.\n#include <map>\n"})) == Lines{2});
  REQUIRE(lines_at(check_head({"sim/a.cpp", "#include <map>\n"})) == Lines{1});
  REQUIRE(check_head({"sim/a.cpp", "// What it is.\n#include <map>\n"}).empty());
  REQUIRE(check_head({"sim/a.cpp", "#include \"sim/a.hpp\"\n"}).empty());
  REQUIRE(lines_at(check_head({"sim/a.cpp", "#include \"sim/b.hpp\"\n"})) == Lines{1});
}

TEST_CASE("orphans") {
  const std::vector<File> files = {{"sim/CMakeLists.txt", "target_sources(x PRIVATE a.cpp run/b.cpp)"},
                                   {"sim/a.cpp", "#include \"sim/a.hpp\"\n"},
                                   {"sim/a.hpp", ""},
                                   {"sim/lost.hpp", "#include \"sim/lost.hpp\""},
                                   {"sim/run/b.cpp", ""},
                                   {"sim/run/c.cpp", ""},
                                   {"sim/ta.cpp", ""}};
  const Offences offences = check_orphans(files);
  REQUIRE(offences.size() == 3);
  REQUIRE(offences[0].path == "sim/lost.hpp");
  REQUIRE(offences[1].path == "sim/run/c.cpp");
  REQUIRE(offences[2].path == "sim/ta.cpp");
}

TEST_CASE("banned words") {
  const auto at = [](const std::string& text) { return lines_at(check_banned_words({"docs/a.md", text})); };
  REQUIRE(at("a\nTO"
             "DO: b") == Lines{2});
  REQUIRE(at("FIX"
             "ME") == Lines{1});
  REQUIRE(at("mktemp result.XXXXXX") == Lines{});
  REQUIRE(at("see ../sha"
             "red/x") == Lines{1});
  REQUIRE(at("in /wo"
             "rk/main") == Lines{1});
  REQUIRE(at("in `/ro"
             "ot/x`") == Lines{1});
  REQUIRE(at("https://example.org/ho"
             "me/x") == Lines{});
  REQUIRE(at("calibration/wo"
             "rk/x") == Lines{});
}

TEST_CASE("types of one name") {
  const File first{"sim/a.hpp", "namespace replisim {\nstruct A {\n};\nstruct B;\n}\n"};
  const auto with = [&](const char* path, const char* text) {
    return lines_at(check_type_names({first, {path, text}}));
  };
  REQUIRE(with("cli/b.hpp", "namespace replisim {\n\nclass A final {\n};\n}\n") == Lines{3});
  REQUIRE(with("cli/b.hpp", "namespace replisim::cli {\nclass A {\n};\n}\n") == Lines{});
  REQUIRE(with("cli/b.hpp", "namespace replisim {\nstruct A;\nstruct B {\n  struct A {};\n};\n}\n") ==
          Lines{});
  REQUIRE(with("tests/b.hpp", "namespace replisim {\nclass A {\n};\n}\n") == Lines{});
}

TEST_CASE("headings") {
  REQUIRE(check_headings({"a.md", "# A\n\n## B\n```sh\n# comment\n```\n"}).empty());
  REQUIRE(lines_at(check_headings({"a.md", "# A\n\n# B\n"})) == Lines{3});
  REQUIRE(lines_at(check_headings({"a.md", "text\n"})) == Lines{1});
  REQUIRE(check_headings({"a.yaml", "# A\n# B\n"}).empty());
}

TEST_CASE("links") {
  const auto exists = [](const std::string& path) { return path == "docs/b.md" or path == "docs/a.md"; };
  const auto read = [](const std::string&) { return std::string("# B\n## Exit codes, all of them\n"); };
  const auto at = [&](const char* text) { return lines_at(check_links({"docs/a.md", text}, exists, read)); };
  REQUIRE(at("[b](b.md) [b](../docs/b.md) [web](https://example.org/x) [m](mailto:a@b.c)") == Lines{});
  REQUIRE(at("\n[c](c.md)") == Lines{2});
  REQUIRE(at("[b](b.md#exit-codes-all-of-them)") == Lines{});
  REQUIRE(at("[b](b.md#exit)") == Lines{1});
  REQUIRE(at("# Top one\n[self](#top-one) [gone](#top-two)") == Lines{2});
  REQUIRE(at("```\n[c](c.md)\n```\n") == Lines{});
}

TEST_CASE("scenario files") {
  REQUIRE(check_scenario_file({"scenarios/lab/a.yaml", "# c\nextends: ../bases/b.yaml\n"}).empty());
  REQUIRE(check_scenario_file({"scenarios/lab/a.yaml", "replisim: 1   # format\n"}).empty());
  REQUIRE(check_scenario_file({"scenarios/bases/a.yaml", "x: 1\n"}).empty());
  REQUIRE(check_scenario_file({"scenarios/README.md", "# Scenarios\n"}).empty());
  REQUIRE(lines_at(check_scenario_file({"scenarios/lab/a.yaml", "name: x\n  replisim: 1\n"})) == Lines{1});
  REQUIRE(lines_at(check_scenario_file({"scenarios/lab/a.yml", "replisim: 1\n"})) == Lines{0});
}

} // namespace replisim::tidy
