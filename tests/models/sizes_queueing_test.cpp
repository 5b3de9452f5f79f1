// Queueing formulas against textbook values.
#include "models/base/errors.hpp"
#include "models/queueing.hpp"

#include <catch2/catch.hpp>

#include <cmath>

using namespace replisim;
using namespace replisim::queueing;

TEST_CASE("M/M/1") {
  CHECK(mm1_response_s(8, 10) == Approx(0.5));
  CHECK(mm1_number(8, 10) == Approx(4));
  CHECK(mm1_number(0, 10) == 0);
  CHECK(mm1_response_quantile_s(8, 10, 0.5) == Approx(0.5 * std::log(2)));
  CHECK(mm1_response_quantile_s(8, 10, 0.95) == Approx(0.5 * std::log(20)));
  CHECK(std::isinf(mm1_response_s(10, 10)));
  CHECK(std::isinf(mm1_number(11, 10)));
  CHECK_THROWS_AS(mm1_response_quantile_s(8, 10, 1), InvariantViolation);
}

TEST_CASE("M/D/1 waits half as long as M/M/1") {
  CHECK(md1_wait_s(8, 0.1) == Approx(0.2));
  CHECK(md1_response_s(8, 0.1) == Approx(0.3));
  CHECK(mg1_wait_s(8, 0.1, 1) == Approx(mm1_response_s(8, 10) - 0.1));
  CHECK(std::isinf(md1_wait_s(10, 0.1)));
}

TEST_CASE("M/M/c") {
  CHECK(erlang_c(1, 8, 10) == Approx(0.8)); // one server: the utilisation
  // two servers, offered load 1: 1/3; offered load 1.5: 9/14
  CHECK(erlang_c(2, 1, 1) == Approx(1.0 / 3));
  CHECK(erlang_c(2, 1.5, 1) == Approx(9.0 / 14));
  // five servers, offered load 4: (4^5 / 5!) * 5 / (sum of 4^k / k!, k < 5, + that) = 0.55411
  CHECK(erlang_c(5, 4, 1) == Approx(0.554112).epsilon(1e-5));
  CHECK(mmc_wait_s(2, 1, 1) == Approx(1.0 / 3));
  CHECK(mmc_response_s(2, 1, 1) == Approx(4.0 / 3));
  CHECK(mmc_response_s(1, 8, 10) == Approx(mm1_response_s(8, 10)));
  CHECK(erlang_c(2, 2, 1) == 1);
  CHECK(std::isinf(mmc_response_s(2, 2, 1)));
  CHECK_THROWS_AS(erlang_c(0, 1, 1), InvariantViolation);
}

TEST_CASE("processor sharing stretches a job by the idle share") {
  CHECK(ps_response_s(0.1, 0.75) == Approx(0.4));
  CHECK(ps_response_s(0.1, 0) == Approx(0.1));
  CHECK(std::isinf(ps_response_s(0.1, 1)));
}

TEST_CASE("jobs that start together on shared cores") {
  CHECK(ps_completion_s({}, 2).empty());
  CHECK(ps_completion_s({1, 1, 1, 1}, 2) == std::vector<double>{2, 2, 2, 2});
  CHECK(ps_completion_s({1, 2}, 4) == std::vector<double>{1, 2});
  // three on two cores at 2/3 each until 1.5; then two left at full speed
  CHECK(ps_completion_s({3, 1, 2}, 2) == std::vector<double>{3.5, 1.5, 2.5});
  CHECK_THROWS_AS(ps_completion_s({1}, 0), InvariantViolation);
}
