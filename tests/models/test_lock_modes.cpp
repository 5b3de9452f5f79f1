// Lock modes against the tables of PostgreSQL's documentation, chapter "Explicit Locking".
#include "models/lock_modes.hpp"

#include <catch2/catch.hpp>

using namespace replisim;
using enum LockMode;

TEST_CASE("table locks conflict as PostgreSQL documents it") {
  // Rows and columns in the order of the modes; x is a conflict.
  const std::vector<std::string> documented = {
      ".......x", // access share
      "......xx", // row share
      "....xxxx", // row exclusive
      "...xxxxx", // share update exclusive
      "..xx.xxx", // share
      "..xxxxxx", // share row exclusive
      ".xxxxxxx", // exclusive
      "xxxxxxxx"  // access exclusive
  };
  for (std::size_t a = 0; a < documented.size(); ++a)
    for (std::size_t b = 0; b < documented.size(); ++b) {
      CAPTURE(to_string(static_cast<LockMode>(a)), to_string(static_cast<LockMode>(b)));
      CHECK(conflicts(static_cast<LockMode>(a), static_cast<LockMode>(b)) == (documented[a][b] == 'x'));
    }
}

TEST_CASE("row locks conflict as PostgreSQL documents it") {
  const std::vector<std::string> documented = {
      "...x", // key share
      "..xx", // share
      ".xxx", // no key update
      "xxxx"  // update
  };
  for (std::size_t a = 0; a < documented.size(); ++a)
    for (std::size_t b = 0; b < documented.size(); ++b) {
      CAPTURE(a, b);
      CHECK(conflicts(static_cast<RowLock>(a), static_cast<RowLock>(b)) == (documented[a][b] == 'x'));
    }
}

TEST_CASE("lock modes are spelled as LOCK TABLE spells them") {
  CHECK(to_string(ShareUpdateExclusive) == "share update exclusive");
  CHECK(parse_lock_mode("access exclusive") == AccessExclusive);
  CHECK(parse_lock_mode("row share") == RowShare);
  CHECK_FALSE(parse_lock_mode("ACCESS EXCLUSIVE").has_value());
  CHECK(lock_mode_names().size() == 8);
}

TEST_CASE("an update leaves the key alone and an insert locks no row anybody sees") {
  CHECK(row_lock_of(Operation::Update) == RowLock::NoKeyUpdate);
  CHECK(row_lock_of(Operation::Delete) == RowLock::Update);
  CHECK_FALSE(row_lock_of(Operation::Insert).has_value());
}
