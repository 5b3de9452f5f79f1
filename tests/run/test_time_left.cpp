// The time left: nothing before anybody could know, then the pace of the last while.
#include "sim/run/time_left.hpp"

#include <catch2/catch.hpp>

using namespace replisim;

TEST_CASE("no promise without evidence") {
  TimeLeft left;
  CHECK_FALSE(left.seconds());
  left.update(1.5, 10, 100);
  CHECK_FALSE(left.seconds());
  left.update(2.5, 2, 100);
  CHECK_FALSE(left.seconds());
}

TEST_CASE("a steady pace is extrapolated") {
  TimeLeft left;
  for (int second = 1; second <= 8; ++second)
    left.update(second, static_cast<std::uint64_t>(second) * 10, 1000);
  CHECK(left.seconds().value() == Approx(92));
}

TEST_CASE("a pace that changes is followed: the last quarter counts") {
  TimeLeft left;
  for (int second = 1; second <= 100; ++second)
    left.update(second, static_cast<std::uint64_t>(second) * 10, 2000);
  for (int second = 101; second <= 200; ++second)
    left.update(second, 1000 + static_cast<std::uint64_t>(second - 100), 2000);
  // 900 to go at one a second; the average since the start would promise 164 s.
  CHECK(left.seconds().value() == Approx(900));
}

TEST_CASE("another series begins anew") {
  TimeLeft left;
  for (int second = 1; second <= 20; ++second)
    left.update(second, static_cast<std::uint64_t>(second) * 5, 100);
  left.update(21, 1, 50);
  CHECK_FALSE(left.seconds());
  left.update(25, 9, 49);
  CHECK(left.seconds().value() == Approx(4.0 / 9 * 40));
}

TEST_CASE("a standstill has no end") {
  TimeLeft left;
  left.update(3, 30, 100);
  for (int second = 4; second <= 30; ++second)
    left.update(second, 30, 100);
  CHECK_FALSE(left.seconds());
}

TEST_CASE("the line shows a bar, counts and the time") {
  CHECK(progress_line("runs", 25, 100, 80.2) == "runs [#####...............] 25/100 25%, about 81 s left");
  CHECK(progress_line("runs", 999, 1000, {}) == "runs [###################.] 999/1000 99%");
  CHECK(progress_line("runs", 0, 10, 600) == "runs [....................] 0/10 0%, about 10 min left");
  CHECK(progress_line("runs", 0, 10, 7260) == "runs [....................] 0/10 0%, about 2 h 01 min left");
}
