// Least squares against models one can solve by hand, and what a fit says it cannot tell apart.
#include "calibration/fit/identifiability.hpp"

#include "models/base/errors.hpp"

#include <catch2/catch.hpp>

#include <cmath>
#include <fmt/format.h>
#include <limits>

using namespace replisim;

namespace {

/// y = a + b x at x = 1, 2, 4, 8.
std::vector<double> line(const std::vector<double>& values) {
  std::vector<double> out;
  for (const double x : {1.0, 2.0, 4.0, 8.0})
    out.push_back(values[0] + values[1] * x);
  return out;
}

std::vector<FitObservation> observed(const std::vector<double>& measured, double relative_error) {
  std::vector<FitObservation> out;
  for (const double value : measured)
    out.push_back({fmt::format("y{}", out.size()), value, relative_error});
  return out;
}

/// One parameter, predicted as it is.
std::vector<double> itself(const std::vector<double>& values) { return {values[0]}; }

std::string error_of(const std::function<void()>& action) {
  try {
    action();
  } catch (const UsageError& error) {
    return error.what();
  }
  return "no UsageError";
}

FitSummary fit_least_squares(const std::vector<FitParameter>& parameters,
                             const std::vector<FitObservation>& observations,
                             const std::function<std::vector<double>(const std::vector<double>&)>& model,
                             const FitOptions& options = {}) {
  return replisim::fit_least_squares({parameters, observations, {}, one_by_one(model)}, options);
}

} // namespace

TEST_CASE("least squares recovers planted parameters") {
  const FitSummary fit = fit_least_squares({{"a", 1, 0}, {"b", 1, 0}}, observed(line({3, 0.5}), 0.05), line);
  CHECK(fit.values[0] == Approx(3).epsilon(1e-4));
  CHECK(fit.values[1] == Approx(0.5).epsilon(1e-4));
  // Start: predictions 2, 3, 5, 9 for 3.5, 4, 5, 7.
  const double square =
      std::pow(std::log(2 / 3.5), 2) + std::pow(std::log(0.75), 2) + std::pow(std::log(9.0 / 7), 2);
  CHECK(fit.cost_before == Approx(0.5 * square / 0.0025));
  CHECK(fit.cost_after < 1e-6);
  CHECK(fit.iterations > 1);
  CHECK(fit.iterations < 20);
}

TEST_CASE("a start a factor of thousand away is no obstacle") {
  const FitSummary fit = fit_least_squares({{"a", 3000, 0}, {"b", 5e-4, 0}}, observed(line({3, 0.5}), 0.05),
                                           line, {.max_iterations = 100});
  CHECK(fit.values[0] == Approx(3).epsilon(1e-3));
  CHECK(fit.values[1] == Approx(0.5).epsilon(1e-3));
}

TEST_CASE("measurement and prior meet by their weights") {
  // Minimum of (l / 0.1)^2 + ((l - log 2) / 0.2)^2: l = log 2 * (1 / 0.04) / (1 / 0.01 + 1 / 0.04).
  const FitSummary fit = fit_least_squares({{"a", 2, 0.2}}, observed({1}, 0.1), itself);
  CHECK(fit.values[0] == Approx(std::pow(2, 0.2)));
  // Curvature 125; 2 residuals less 1 parameter leave one degree of freedom for the scatter.
  const double log2 = std::log(2.0);
  const double square = std::pow(0.2 * log2 / 0.1, 2) + std::pow(0.8 * log2 / 0.2, 2);
  CHECK(fit.cost_after == Approx(0.5 * square));
  CHECK(fit.relative_intervals[0] == Approx(1.959964 * std::sqrt(square / 125)));
}

TEST_CASE("scatter below what the observations state does not narrow the interval") {
  const FitSummary fit =
      fit_least_squares({{"a", 2, 0}}, observed({2, 2, 2, 2}, 0.1),
                        [](const std::vector<double>& values) { return std::vector<double>(4, values[0]); });
  CHECK(fit.values[0] == 2);
  CHECK(fit.reason == "no step lowers the cost");
  CHECK(fit.relative_intervals[0] == Approx(1.959964 * 0.1 / 2));
}

TEST_CASE("what nothing determines keeps its start and says so; a prior bounds it") {
  const auto first_only = [](const std::vector<double>& values) { return std::vector<double>(3, values[0]); };
  const auto measured = observed({4, 4, 4}, 0.1);
  const FitSummary free = fit_least_squares({{"a", 1, 0}, {"b", 7, 0}}, measured, first_only);
  CHECK(free.values[0] == Approx(4).epsilon(1e-3));
  CHECK(free.values[1] == Approx(7));
  CHECK(std::isinf(free.relative_intervals[1]));
  CHECK(free.relative_intervals[0] == Approx(1.959964 * 0.1 / std::sqrt(3)).epsilon(0.01));
  const FitSummary bound = fit_least_squares({{"a", 1, 0}, {"b", 7, 0.3}}, measured, first_only);
  CHECK(bound.values[1] == Approx(7));
  CHECK(bound.relative_intervals[1] == Approx(1.959964 * 0.3));
}

TEST_CASE("of two parameters that only show as a product, priors split the change") {
  const auto product = [](const std::vector<double>& values) {
    return std::vector<double>{values[0] * values[1]};
  };
  const FitSummary fit = fit_least_squares({{"a", 1, 0.1}, {"b", 1, 0.3}}, observed({2}, 0.001), product);
  CHECK(fit.values[0] * fit.values[1] == Approx(2).epsilon(1e-3));
  CHECK(std::log(fit.values[1]) / std::log(fit.values[0]) == Approx(9).epsilon(1e-3)); // 0.3^2 / 0.1^2
  const FitSummary free = fit_least_squares({{"a", 1, 0}, {"b", 1, 0}}, observed({2}, 0.001), product);
  CHECK(std::isinf(free.relative_intervals[0]));
  CHECK(std::isinf(free.relative_intervals[1]));
}

TEST_CASE("intervals cover the truth about as often as they promise") {
  // Errors of +-10 % in all 2^8 patterns of sign over eight figures of one parameter. The estimate is the
  // mean of their logarithms, 0.1 (8 - 2 k) / 8 with k signs down; the half width is 1.96 * 0.1 / sqrt(8) =
  // 0.069 where the scatter is not above the stated error, which it is only for k = 3, 4 and 5.
  int covered = 0;
  for (unsigned pattern = 0; pattern < 256; ++pattern) {
    std::vector<double> measured;
    for (unsigned bit = 0; bit < 8; ++bit)
      measured.push_back(std::exp((pattern >> bit & 1U) != 0 ? 0.1 : -0.1));
    const FitSummary fit =
        fit_least_squares({{"a", 1.3, 0}}, observed(measured, 0.1), [](const std::vector<double>& values) {
          return std::vector<double>(8, values[0]);
        });
    covered += std::abs(std::log(fit.values[0])) <= fit.relative_intervals[0] ? 1 : 0;
  }
  // k = 2..6 are within 0.05; k = 0, 1, 7, 8 lie at 0.075 and 0.1: 256 - 2 * (1 + 8).
  CHECK(covered == 238);
}

TEST_CASE("options bound the iterations and report progress") {
  std::vector<int> seen;
  FitOptions options;
  options.max_iterations = 2;
  options.progress = [&](int iteration, double cost) {
    seen.push_back(iteration);
    CHECK(cost > 0);
  };
  const FitSummary fit = fit_least_squares({{"a", 1000, 0}}, observed({1}, 0.1), itself, options);
  CHECK(fit.iterations == 2);
  CHECK(seen == std::vector<int>{1, 2});
  CHECK(fit.reason == "the largest number of iterations was reached");
  CHECK(fit.values[0] == Approx(1000 * std::exp(-2))); // a factor of e a step at most
}

TEST_CASE("an easily pleased fit stops after its first step") {
  const FitSummary fit =
      fit_least_squares({{"a", 2, 0}}, observed({1}, 0.1), itself, {.smallest_improvement = 1});
  CHECK(fit.iterations == 1);
  CHECK(fit.reason == "the cost no longer falls");
}

TEST_CASE("least squares refuses what it cannot fit") {
  const std::vector<FitParameter> one = {{"a", 1, 0}};
  const auto fit = [](const std::vector<FitParameter>& parameters,
                      const std::vector<FitObservation>& measured, const FitOptions& options = {}) {
    return error_of([&] { fit_least_squares(parameters, measured, itself, options); });
  };
  CHECK(fit({}, observed({1}, 0.1)) == "there is no parameter to fit");
  CHECK(fit(one, {}) == "there is no measured figure to fit to");
  CHECK(fit({{"a", 0, 0}}, observed({1}, 0.1)) == "a: the start is 0; it must be a positive number");
  CHECK(fit({{"a", 1, -1}}, observed({1}, 0.1)) ==
        "a: the spread is -1; it must be a positive number, or 0 for no prior");
  CHECK(fit(one, observed({0}, 0.1)) == "y0: the measured figure is 0; it must be a positive number");
  CHECK(fit(one, observed({1}, 0)) == "y0: the relative error is 0; it must be a positive number");
  CHECK(fit(one, observed({1}, 0.1), {.max_iterations = 0}) ==
        "the largest number of iterations is 0; it must be a positive number");
  CHECK(fit(one, observed({1}, 0.1), {.step_for_derivatives = 0}) ==
        "the step for derivatives is 0; it must be a positive number");
  CHECK(fit(one, observed({1}, 0.1), {.smallest_improvement = -1}) ==
        "the smallest improvement is -1; it must be a positive number");
}

TEST_CASE("a prediction that is not positive and finite is an error that names the figure") {
  for (const double bad :
       {0.0, -1.0, std::numeric_limits<double>::quiet_NaN(), std::numeric_limits<double>::infinity()})
    CHECK_THAT(error_of([&] {
                 fit_least_squares({{"a", 1, 0}}, observed({1, 1}, 0.1),
                                   [&](const std::vector<double>& values) {
                                     return std::vector<double>{values[0], bad};
                                   });
               }),
               Catch::StartsWith("y1: the prediction is "));
  CHECK_THROWS_AS(fit_least_squares({{"a", 1, 0}}, observed({1, 1}, 0.1), itself), InvariantViolation);
}

TEST_CASE("the solution comes with its predictions and derivatives") {
  const FitProblem problem{{{"a", 1}, {"b", 1}}, observed(line({3, 0.5}), 0.05), {}, one_by_one(line)};
  const FitSummary fit = replisim::fit_least_squares(problem);
  CHECK(fit.end != FitEnd::MostIterations);
  REQUIRE(fit.predictions.size() == 4);
  CHECK(fit.predictions[3] == Approx(7).epsilon(1e-4));
  // d log(a + b x) / d log a = a / (a + b x); at x = 8: 3 / 7 and 4 / 7, up to the step of 2 %.
  CHECK(fit.sensitivities(3, 0) == Approx(3.0 / 7).epsilon(0.02));
  CHECK(fit.sensitivities(3, 1) == Approx(4.0 / 7).epsilon(0.02));
  CHECK(weighted_sensitivities(problem, fit)(3, 1) == Approx(20 * fit.sensitivities(3, 1)));
  CHECK(fit.scatter == 1);
  // From the solution on with its derivatives, one step that helps nothing is all there is to do.
  const FitBegin begin{fit.values, fit.predictions, fit.sensitivities};
  FitOptions reuse;
  reuse.fresh_derivatives = false;
  CHECK(replisim::fit_least_squares(problem, reuse, &begin).evaluations <= 4);
}

TEST_CASE("a held out figure is predicted and not fitted to") {
  auto measured = observed({3, 3, 30}, 0.1);
  measured[2].relative_error = std::numeric_limits<double>::infinity();
  const FitSummary fit = fit_least_squares({{"a", 2}}, measured, [](const std::vector<double>& values) {
    return std::vector<double>(3, values[0]);
  });
  CHECK(fit.values[0] == Approx(3).epsilon(1e-4));
  CHECK(fit.predictions[2] == Approx(3).epsilon(1e-4));
  CHECK(fit.relative_intervals[0] == Approx(1.959964 * 0.1 / std::sqrt(2)).epsilon(0.01));
}

TEST_CASE("beyond the robust limit a figure pulls by its side and not by its distance") {
  // Nine figures of 1 and one outlier, known to 10 %. Squares put the mean of the logarithms at log(e^5)
  // / 10.
  std::vector<double> values(9, 1.0);
  values.push_back(std::exp(5));
  const auto same = [](const std::vector<double>& at) { return std::vector<double>(10, at[0]); };
  CHECK(std::log(fit_least_squares({{"a", 1.1}}, observed(values, 0.1), same).values[0]) ==
        Approx(0.5).epsilon(0.01));
  // Huber at 2: nine residuals l / 0.1 balance one of size 2: l = 0.2 / 9.
  FitOptions robust;
  robust.robust_limit = 2;
  CHECK(std::log(fit_least_squares({{"a", 1.1}}, observed(values, 0.1), same, robust).values[0]) ==
        Approx(0.2 / 9).epsilon(0.01));
}

TEST_CASE("a prior on a ratio splits what the figures know only together") {
  // a b = 8 and log(a / b) = log 2: a = 4, b = 2.
  const auto product = [](const std::vector<double>& values) {
    return std::vector<double>{values[0] * values[1]};
  };
  FitProblem problem{{{"a", 1}, {"b", 1}}, observed({8}, 0.01), {}, one_by_one(product)};
  problem.priors.push_back({.weights = {1, -1}, .centre = std::log(2.0), .spread = 0.1});
  const FitSummary fit = replisim::fit_least_squares(problem);
  CHECK(fit.values[0] == Approx(4).epsilon(1e-3));
  CHECK(fit.values[1] == Approx(2).epsilon(1e-3));
  // Half the variances of the sum's and of the difference's logarithm, each a quarter: (0.01^2 + 0.1^2) / 4.
  CHECK(fit.relative_intervals[0] == Approx(1.959964 * std::sqrt((1e-4 + 1e-2) / 4)).epsilon(0.01));
}

TEST_CASE("a bound stops one parameter and not the others") {
  // a + b x would need a = 3; at most 2 is allowed, and b makes up for it.
  const FitProblem problem{{{.name = "a", .start = 1, .high = 2}, {.name = "b", .start = 1}},
                           observed(line({3, 0.5}), 0.05),
                           {},
                           one_by_one(line)};
  const FitSummary fit = replisim::fit_least_squares(problem);
  CHECK(fit.values[0] == Approx(2));
  CHECK(fit.values[1] > 0.5);
  CHECK(fit.at_bounds == std::vector<std::string>{"a"});
}

TEST_CASE("two parameters that show only as a sum are named, with what would separate them") {
  // y = a + b, z = c: a and b are confused, c is not; nothing depends on d.
  const auto model = [](const std::vector<double>& v) {
    return std::vector<double>{v[0] + v[1], v[2], v[2]};
  };
  const FitProblem problem{{{"a", 3, 0.5}, {"b", 1, 0.5}, {"c", 2, 0}, {"d", 1, 0.3}},
                           observed({4, 2, 2}, 0.05),
                           {},
                           one_by_one(model)};
  const FitSummary fit = replisim::fit_least_squares(problem);
  const Identifiability known =
      identify(problem, fit, [](const std::string& name) { return "measure " + name + " alone"; });
  REQUIRE(known.singular_values.size() == 4);
  CHECK(known.singular_values[0] == Approx(std::sqrt(2) / 0.05).epsilon(0.01));
  CHECK(known.singular_values[3] < 1e-3);
  REQUIRE(known.confusions.size() == 2);
  CHECK(known.confusions[0].names == std::vector<std::string>{"d"});
  CHECK(known.confusions[0].sentence == "the figures hardly depend on d: nothing here determines it");
  CHECK(known.confusions[1].names == std::vector<std::string>{"a", "b"});
  // 10 % more of 3 is 0.3 of 4; b, a quarter, falls by a factor of 1.1^-3.
  CHECK_THAT(known.confusions[1].sentence,
             Catch::Contains("the first rises by 10 %") && Catch::Contains("the second falls by 25 %"));
  CHECK(known.confusions[1].measurement == "measure a alone");
  CHECK(known.parameters[2].word == "well");
  CHECK(known.parameters[3].word == "by the prior alone");
  // The data leave b to its prior but for what a's prior says of the sum.
  CHECK(known.parameters[1].word != "well");
}

TEST_CASE("three parameters that show in two sums are named as one combination") {
  const auto model = [](const std::vector<double>& v) {
    return std::vector<double>{v[0] + v[1], v[1] + v[2], 2 * v[0] + 3 * v[1] + v[2]};
  };
  const FitProblem problem{
      {{"a", 1, 1}, {"b", 1, 1}, {"c", 1, 1}}, observed({2, 2, 6}, 0.02), {}, one_by_one(model)};
  const Identifiability known =
      identify(problem, replisim::fit_least_squares(problem), [](const std::string&) { return ""; });
  REQUIRE(known.confusions.size() == 1);
  CHECK(known.confusions[0].names == std::vector<std::string>{"a", "b", "c"});
}
