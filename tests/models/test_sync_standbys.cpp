// synchronous_standby_names: what it says, and up to where commits are released.
#include "models/sync_standbys.hpp"

#include <catch2/catch.hpp>
#include <fmt/format.h>

using namespace replisim;

namespace {

std::optional<SyncStandbys> read(const std::string& text) {
  std::string problem;
  auto rule = parse_sync_standbys(text, problem);
  CHECK(problem.empty());
  return rule;
}

std::string problem_of(const std::string& text) {
  std::string problem;
  CHECK_FALSE(parse_sync_standbys(text, problem));
  return problem;
}

Lsn released(const std::string& rule, const std::map<std::string, Lsn>& acknowledged) {
  return sync_released(*read(rule), acknowledged).value_or(Lsn{999});
}

} // namespace

TEST_CASE("lists of synchronous standbys in every form") {
  CHECK_FALSE(read(""));
  CHECK_FALSE(read("  "));
  CHECK(read("a, B")->names == std::vector<std::string>{"a", "b"});
  CHECK(read("a")->count == 1);
  CHECK(read("first 2 (a, b, c)")->count == 2);
  CHECK_FALSE(read("FIRST 2 (a, b, c)")->any);
  CHECK(read("3 (a,b,c)")->count == 3);
  CHECK(read("ANY 2 (a, b, c)")->any);
  CHECK(read("any, first")->names == std::vector<std::string>{"any", "first"}); // names like others
  CHECK(read("\"My Sub\"")->lists("My Sub"));
  CHECK(read("*")->lists("whatever"));
  CHECK(read("Sub")->lists("sub"));
  CHECK_FALSE(read("a, b")->lists("c"));
}

TEST_CASE("what is no list of standbys") {
  for (const char* text : {"a b", "a,", ", a", "FIRST 2 a, b", "ANY 0 (a)", "2 (a", "2 ()", "(a)"})
    CHECK(problem_of(text) == fmt::format("'{}' is no list of standbys; write names with commas between "
                                          "them, or FIRST n (names) or ANY n (names)",
                                          text));
}

TEST_CASE("first ones wait for the slowest of the first, a quorum for the n-th latest") {
  const std::map<std::string, Lsn> three = {{"a", {10}}, {"b", {30}}, {"c", {20}}};
  CHECK(released("b, a", three) == Lsn{30});
  CHECK(released("FIRST 2 (b, c, a)", three) == Lsn{20});
  CHECK(released("FIRST 2 (b, a, c)", three) == Lsn{10});
  CHECK(released("ANY 1 (a, b, c)", three) == Lsn{30});
  CHECK(released("ANY 2 (a, b, c)", three) == Lsn{20});
  CHECK(released("ANY 3 (a, b, c)", three) == Lsn{10});
  CHECK(released("x, c", three) == Lsn{20}); // x is not connected: the next one counts
  CHECK(released("FIRST 2 (x, c)", three) == Lsn{999});
  CHECK(released("*", {{"z", {5}}}) == Lsn{5});
}

TEST_CASE("what synchronous_commit waits for beyond the local flush") {
  CHECK(sync_level("off") == SyncLevel::None);
  CHECK(sync_level("local") == SyncLevel::None);
  CHECK(sync_level("remote_write") == SyncLevel::Write);
  CHECK(sync_level("on") == SyncLevel::Flush);
  CHECK(sync_level("remote_apply") == SyncLevel::Apply);
}
