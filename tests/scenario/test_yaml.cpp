// YAML text to a tree: positions, duplicate keys, limits, bytes that are no text.
#include "tests/scenario/scenario_files.hpp"

#include "sim/scenario/yaml_document.hpp"

#include <catch2/catch.hpp>

using namespace replisim;
using namespace replisim::test;

namespace {

struct Parsed {
  std::optional<Node> root;
  Lines problems;
};

Parsed parse(const std::string& text) {
  Problems problems;
  Position origin{std::make_shared<const std::string>("f"), 1, 1, 1};
  Parsed out{parse_yaml(text, origin, problems), {}};
  for (const Diagnostic& d : problems.sorted())
    out.problems.push_back(d.to_string());
  return out;
}

std::string repeated(const std::string& text, int times) {
  std::string out;
  for (int i = 0; i < times; ++i)
    out += text;
  return out;
}

} // namespace

TEST_CASE("values and keys know where they stand") {
  const Parsed parsed = parse("a:\n  b: [x, {c: y}]\n");
  REQUIRE(parsed.problems.empty());
  const Node& list = *parsed.root->find("a")->find("b");
  CHECK(list.at.line == 2);
  CHECK(list.at.column == 6);
  CHECK(parsed.root->find("a")->entries[0].at.column == 3);
  const Node& y = *list.items[1].find("c");
  CHECK(y.text == "y");
  CHECK(y.at.column == 14);
}

TEST_CASE("scalars stay text, whatever YAML would make of them") {
  const Parsed parsed = parse("[off, on, 010, 1_000, 0x10, 'quoted', null, ~]");
  REQUIRE(parsed.problems.empty());
  const auto& items = parsed.root->items;
  REQUIRE(items.size() == 8);
  CHECK(items[0].text == "off");
  CHECK(items[2].text == "010");
  CHECK(items[4].text == "0x10");
  CHECK(items[5].text == "quoted");
  CHECK(items[6].kind == Node::Kind::Null);
  CHECK(items[7].kind == Node::Kind::Null);
}

TEST_CASE("a duplicate key names both places") {
  CHECK(parse("a: 1\nb: {c: 2, c: 3}\na: 4\n").problems ==
        Lines{"f:2:11: duplicate key 'c'; it was already given in line 2, column 5",
              "f:3:1: duplicate key 'a'; it was already given in line 1, column 1"});
}

TEST_CASE("bytes that are no text have a position") {
  CHECK(parse(std::string("a: 1\nb: \0x", 9)).problems ==
        Lines{"f:2:4: byte 0x00: this is not a UTF-8 text file"});
  CHECK(parse("ab\xff").problems == Lines{"f:1:3: byte 0xff: this is not a UTF-8 text file"});
  CHECK(parse("a: \xc3\xa4").problems.empty());     // a two-byte letter
  CHECK(not parse("a: \xc3").problems.empty());     // half of it
  CHECK(not parse("a: \xc0\xaf").problems.empty()); // an overlong one
}

TEST_CASE("a tab as indentation is named; tabs elsewhere are harmless") {
  CHECK(parse("a:\n\tb: 1\n").problems == Lines{"f:2:1: a tab is used as indentation; YAML wants spaces"});
  CHECK(parse("a:\t1\nb: x\ty\n").problems.empty());
}

TEST_CASE("syntax errors, tags and second documents have a position") {
  CHECK(parse("a: [1, 2\nb: 3\n").problems ==
        Lines{"f:2:2: not valid YAML: a list opened with '[' is not closed up to here; is a comma, a quote "
              "or a ']' missing?"});
  CHECK_THAT(parse("a: {b: 1\nc: 3\n").problems.at(0), Catch::Contains("opened with '{' is not closed"));
  CHECK(parse("a: !!int 3\n").problems.at(0).find("f:1:4: YAML tags such as '") == 0);
  CHECK(parse("a: 1\n---\nb: 2\n").problems.at(0).find("a second YAML document begins here") !=
        std::string::npos);
  CHECK(parse("? [x]\n: 1\n").problems.at(0).find("a key must be a plain name") != std::string::npos);
}

TEST_CASE("nesting stops at 50 levels") {
  CHECK(parse(repeated("[", 50) + repeated("]", 50)).problems.empty());
  CHECK(parse(repeated("[", 51) + repeated("]", 51)).problems ==
        Lines{"f:1:51: nested deeper than 50 levels"});
  CHECK(parse(repeated("[", 100'000)).problems.size() == 1);
}

TEST_CASE("aliases repeat a value, but cannot explode") {
  const Parsed parsed = parse("a: &x {k: 1}\nb: *x\n");
  REQUIRE(parsed.problems.empty());
  CHECK(parsed.root->find("b")->find("k")->text == "1");

  std::string bomb = "a0: &a0 [x, x, x, x, x, x, x, x, x, x]\n";
  for (int i = 1; i < 10; ++i) {
    const std::string number = std::to_string(i);
    std::string last = "*a";
    last += std::to_string(i - 1);
    bomb.append("a").append(number).append(": &a").append(number).append(" [").append(last);
    for (int copy = 0; copy < 9; ++copy)
      bomb.append(", ").append(last);
    bomb += "]\n";
  }
  const Parsed exploded = parse(bomb);
  REQUIRE(exploded.problems.size() == 1);
  CHECK(exploded.problems[0].find("more than 200000 values, counting what aliases repeat") !=
        std::string::npos);
  CHECK(parse("a: &x [1, *x]\n").problems.size() == 1);
}

TEST_CASE("a map has so many keys at most, since each is compared with those before") {
  std::string text;
  for (int i = 0; i < 10'000; ++i)
    text.append("k").append(std::to_string(i)).append(": 1\n");
  CHECK(parse(text).problems.empty());
  CHECK(parse(text + "one_more: 1\n").problems == Lines{"f:10001:1: more than 10000 keys in one map"});
}

TEST_CASE("an empty text is nothing, not a mistake of the parser") {
  CHECK(parse("").root->kind == Node::Kind::Null);
  CHECK(parse("# only a remark\n").root->kind == Node::Kind::Null);
}

TEST_CASE("a tree written in one line reads back as the same tree") {
  const std::string text =
      "{a: [off, \"x: y\", 64kB], \"b c\": {}, n: null, q: \"null\", e: \"\", t: \"a\\\"b\"}";
  const Parsed parsed = parse(text);
  REQUIRE(parsed.problems.empty());
  const std::string flow = flow_text(*parsed.root);
  const Parsed again = parse(flow);
  REQUIRE(again.problems.empty());
  CHECK(flow_text(*again.root) == flow);
  CHECK(again.root->find("q")->kind == Node::Kind::Scalar);
  CHECK(again.root->find("n")->kind == Node::Kind::Null);
  CHECK(again.root->find("t")->text == "a\"b");
}

TEST_CASE("files above 4 MB are refused unread") {
  const Folder folder;
  const auto file = folder.write("big.yaml", std::string(largest_file_bytes + 1, ' '));
  CHECK_THROWS_WITH(read_text_file(file), file.string() + ": larger than 4 MB, which no scenario is");
  CHECK_THROWS_AS(read_text_file(folder.root()), UsageError);
  CHECK_THROWS_AS(read_text_file(folder.root() / "missing.yaml"), UsageError);
}
