// The suites of clients in a closed loop: what they compare with, and that they pass.
#include "calibration/suites/suite.hpp"
#include "tests/scenario/scenario_files.hpp"

#include <catch2/catch.hpp>

#include <algorithm>

using namespace replisim;
using namespace replisim::test;

namespace {

const Cell& cell_of(const Suite& suite, const std::string& id) {
  const auto found =
      std::find_if(suite.cells.begin(), suite.cells.end(), [&](const Cell& cell) { return cell.id == id; });
  REQUIRE(found != suite.cells.end());
  return *found;
}

} // namespace

TEST_CASE("lab-pgbench compares with medians per number of clients") {
  const Suite suite = make_suite("lab-pgbench", shipped_library());
  CHECK(suite.cells.size() == 6 * 4);
  CHECK(cell_of(suite, "8/tps").measured == Approx(2090.464257));
  CHECK(cell_of(suite, "8/tps").measured_high == Approx(2160.433679));
  // 3.07 s / 52,264, 3.06 s / 54,066 and 2.97 s / 48,391
  CHECK(cell_of(suite, "8/transaction_cpu_pub.walsender_s").measured == Approx(3.07 / 52264));
  CHECK(cell_of(suite, "1/transaction_wal_bytes").measured == Approx(163760320.0 / 18252).epsilon(0.03));
  // 12 %, or more where the repeats differ by more.
  const Cell& four = cell_of(suite, "4/tps");
  CHECK(four.accepted.at(0).low == Approx(1772.32788 * 0.88));
}

TEST_CASE("seed-publisher-tps compares with the medians of all ten runs") {
  const Suite suite = make_suite("seed-publisher-tps", shipped_library());
  REQUIRE(suite.cells.size() == 4);
  CHECK(cell_of(suite, "head").measured == Approx(57675.117805)); // the mail says 57708.24016
  CHECK(cell_of(suite, "head_interval_1s").measured == Approx(57620.6193).epsilon(1e-8));
  CHECK(cell_of(suite, "patch_on").measured == Approx(58598.98634));
  CHECK(cell_of(suite, "patch_on_interval_1s").measured == Approx(58549.6975));
}
