// Medians, improvements, errors and the noise floor.
#include "calibration/csv.hpp"
#include "calibration/repeats.hpp"
#include "test_paths.hpp"

#include "models/base/errors.hpp"

#include <catch2/catch.hpp>

#include <cmath>

using namespace replisim;

TEST_CASE("the median of odd, even and single counts") {
  CHECK(median({3, 1, 2}) == 2);
  CHECK(median({4, 1, 3, 2}) == 2.5);
  CHECK(median({7}) == 7);
  CHECK_THROWS_AS(median({}), InvariantViolation);
}

TEST_CASE("signed errors in percent of the measured value") {
  CHECK(error_pct(200, 210) == Approx(5));
  CHECK(error_pct(200, 190) == Approx(-5));
  CHECK(error_pct(0, 0) == 0);
  CHECK(std::isnan(error_pct(0, 1)));
}

TEST_CASE("each repeat is predicted by the median of the others") {
  const std::vector<double> errors = leave_one_out_errors_pct({4, 5, 8});
  REQUIRE(errors.size() == 3);
  CHECK(errors[0] == Approx((6.5 - 4) / 4 * 100));
  CHECK(errors[1] == Approx((6.0 - 5) / 5 * 100));
  CHECK(errors[2] == Approx((8 - 4.5) / 8 * 100));
  CHECK(leave_one_out_errors_pct({4}).empty());
  CHECK(leave_one_out_errors_pct({0, 2}) == std::vector<double>{100});
}

TEST_CASE("the posted improvements follow from the posted times within 0.002") {
  const CsvTable table = read_measured(REPLISIM_SOURCE_DIR, "seeds/streaming_parallel_vs_off.csv",
                                       {"scenario", "work_mem_kb", "parallel_s", "off_s", "improvement_pct"});
  REQUIRE(table.row_count() == 21);
  for (std::size_t row = 0; row < table.row_count(); ++row)
    CHECK(improvement_pct(table.number(row, "off_s"), table.number(row, "parallel_s")) ==
          Approx(table.number(row, "improvement_pct")).margin(0.002).epsilon(0));
}
