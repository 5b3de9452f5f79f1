// The mathematics of planning: paired differences, the search for an edge, indices of sensitivity.
#include "models/edge_search.hpp"
#include "models/paired.hpp"
#include "models/sensitivity.hpp"
#include "tests/support/random.hpp"

#include <catch2/catch.hpp>

#include <cmath>
#include <numeric>

using namespace replisim;
using replisim::test::Random;

namespace {

/// Yes up to `edge`, No beyond it.
auto keeps_up_to(double edge, int* looks = nullptr) {
  return [edge, looks](const std::vector<double>& values) {
    std::vector<Keeps> out;
    for (const double value : values)
      out.push_back(value <= edge ? Keeps::Yes : Keeps::No);
    if (looks != nullptr)
      *looks += static_cast<int>(values.size());
    return out;
  };
}

template <class Function>
std::vector<SobolIndex> indices_of(std::size_t inputs, std::size_t samples, Function function) {
  Random random(7);
  std::vector<UnitPoint> a(samples, UnitPoint(inputs)), b = a;
  for (auto* sample : {&a, &b})
    for (UnitPoint& point : *sample)
      for (double& x : point)
        x = random.uniform();
  std::vector<double> at_a, at_b;
  for (std::size_t i = 0; i < samples; ++i) {
    at_a.push_back(function(a[i]));
    at_b.push_back(function(b[i]));
  }
  std::vector<std::vector<double>> mixed(inputs);
  for (std::size_t k = 0; k < inputs; ++k)
    for (std::size_t i = 0; i < samples; ++i) {
      UnitPoint point = a[i];
      point[k] = b[i][k];
      mixed[k].push_back(function(point));
    }
  return sobol_indices(at_a, at_b, mixed);
}

} // namespace

TEST_CASE("Student's t: probabilities of the tables") {
  CHECK(student_t_two_sided(1, 1) == Approx(0.5));
  CHECK(student_t_two_sided(12.706205, 1) == Approx(0.05).epsilon(1e-6));
  CHECK(student_t_two_sided(2.262157, 9) == Approx(0.05).epsilon(1e-6));
  CHECK(student_t_two_sided(-3.249836, 9) == Approx(0.01).epsilon(1e-6));
  CHECK(student_t_two_sided(1.96, 100000) == Approx(0.05).epsilon(1e-3));
  CHECK(student_t_two_sided(0, 5) == 1);
}

TEST_CASE("equal samples differ by exactly 0, shifted ones by exactly the shift") {
  const std::vector<double> values = {0.1, 0.7, 1.0 / 3, 12.5};
  const PairedDifference none = paired_difference(values, values);
  CHECK(none.difference == Interval{0, 0});
  CHECK(none.p == 1);
  std::vector<double> shifted = {1, 2, 3, 4}, base = {0, 1, 2, 3};
  const PairedDifference one = paired_difference(base, shifted);
  CHECK(one.difference == Interval{1, 0});
  CHECK(one.p == 0);
  CHECK(one.variance_factor == 0); // the paired variance is 0
}

TEST_CASE("pairing takes out what both samples share") {
  Random random(3);
  std::vector<double> first, second;
  for (int i = 0; i < 200; ++i) {
    const double luck = 10 * random.uniform();
    first.push_back(luck + random.uniform());
    second.push_back(luck + random.uniform() + 0.5);
  }
  const PairedDifference d = paired_difference(first, second);
  CHECK(d.difference.mean == Approx(0.5).margin(d.difference.half_width));
  // Var(luck) 100/12, Var of the rest 1/12: (2 * 101/12) / (2 * 1/12) = 101
  CHECK(d.variance_factor == Approx(101).epsilon(0.25));
}

TEST_CASE("intervals of skewed differences cover their mean as often as they say") {
  Random random(5);
  constexpr int repetitions = 1000, values = 10;
  int covered = 0, by_student = 0;
  for (int r = 0; r < repetitions; ++r) {
    std::vector<double> none(values, 0.0), exponential; // mean 1, skewness 2
    for (int i = 0; i < values; ++i)
      exponential.push_back(-std::log(1 - random.uniform()));
    const Interval found = paired_difference(none, exponential).difference;
    covered += std::abs(found.mean - 1) <= found.half_width ? 1 : 0;
    const Interval student = interval_95(exponential);
    CHECK(found.half_width >= student.half_width);
    by_student += std::abs(student.mean - 1) <= student.half_width ? 1 : 0;
  }
  INFO(covered << " of " << repetitions << ", by Student's t alone " << by_student);
  CHECK(by_student < 915);
  CHECK(covered > 920);
  CHECK(covered < 980);
}

TEST_CASE("Holm rejects step by step") {
  CHECK(rejected_by_holm({0.01, 0.04, 0.03, 0.005}, 0.05) == std::vector<bool>{true, false, false, true});
  CHECK(rejected_by_holm({0.06}, 0.05) == std::vector<bool>{false});
  CHECK(rejected_by_holm({}, 0.05).empty());
}

TEST_CASE("one edge is found to the tolerance, with few looks") {
  for (const bool log : {false, true})
    for (const double edge : {11.0, 123.4, 499.0, 998.0}) {
      int looks = 0;
      const EdgeAnswer answer = find_edge({10, 1000, log, 0, 0.01, 9, true}, keeps_up_to(edge, &looks));
      INFO(edge << " log " << log);
      REQUIRE(answer.keeps);
      REQUIRE(answer.breaks);
      CHECK(*answer.keeps <= edge);
      CHECK(*answer.breaks > edge);
      CHECK(*answer.breaks - *answer.keeps <= 0.0101 * *answer.breaks);
      CHECK(looks <= 9 + 12);
      CHECK(answer.elsewhere.empty());
    }
}

TEST_CASE("the smallest value that keeps is searched from the other end") {
  const auto from = [](const std::vector<double>& values) {
    std::vector<Keeps> out;
    for (const double value : values)
      out.push_back(value >= 64 ? Keeps::Yes : Keeps::No);
    return out;
  };
  const EdgeAnswer answer = find_edge({1, 1024, true, 1, 1e-4, 5, false}, from);
  REQUIRE(answer.keeps);
  CHECK(*answer.keeps == 64);
  CHECK(*answer.breaks == 63);
}

TEST_CASE("ranges that keep everywhere or nowhere say so") {
  const EdgeAnswer all = find_edge({1, 2, false, 0, 0.01, 5, true}, keeps_up_to(99));
  CHECK(all.keeps == 2.0);
  CHECK_FALSE(all.breaks);
  CHECK_FALSE(find_edge({1, 2, false, 0, 0.01, 5, true}, keeps_up_to(0.5)).keeps);
}

TEST_CASE("a second stretch that keeps is seen and not taken for the answer") {
  const auto twice = [](const std::vector<double>& values) {
    std::vector<Keeps> out;
    for (const double v : values)
      out.push_back(v <= 3 or (v >= 6 and v <= 8) ? Keeps::Yes : Keeps::No);
    return out;
  };
  const EdgeAnswer answer = find_edge({1, 10, false, 0, 0.01, 10, true}, twice);
  REQUIRE(answer.keeps);
  CHECK(*answer.keeps == Approx(3).epsilon(0.01));
  REQUIRE(answer.elsewhere.size() == 1);
  CHECK(answer.elsewhere[0] == std::pair(6.0, 8.0));
  const auto island = [](const std::vector<double>& values) {
    std::vector<Keeps> out;
    for (const double v : values)
      out.push_back(v >= 4 and v <= 7.5 ? Keeps::Yes : Keeps::No);
    return out;
  };
  const EdgeAnswer late = find_edge({1, 10, false, 0, 0.01, 10, true}, island);
  CHECK(late.easy_end_breaks);
  CHECK(*late.keeps == Approx(7.5).epsilon(0.01));
}

TEST_CASE("values that cannot be told stay between what surely keeps and what surely breaks") {
  const auto blurred = [](const std::vector<double>& values) {
    std::vector<Keeps> out;
    for (const double v : values)
      out.push_back(v < 4.8 ? Keeps::Yes : v > 5.2 ? Keeps::No : Keeps::Unknown);
    return out;
  };
  const EdgeAnswer answer = find_edge({1, 10, false, 0, 0.005, 4, true}, blurred);
  REQUIRE(answer.keeps);
  REQUIRE(answer.breaks);
  CHECK(*answer.keeps == Approx(4.8).epsilon(0.005));
  CHECK(*answer.breaks == Approx(5.2).epsilon(0.006));
}

TEST_CASE("Morris walks move each input once, within the cube") {
  for (std::uint64_t w = 0; w < 20; ++w) {
    const MorrisWalk walk = morris_walk(5, 1, w);
    REQUIRE(walk.points.size() == 6);
    std::vector<int> moves(5, 0);
    for (std::size_t i = 0; i < 5; ++i) {
      for (std::size_t k = 0; k < 5; ++k) {
        const double moved = std::abs(walk.points[i + 1][k] - walk.points[i][k]);
        CHECK(moved == Approx(k == walk.moved[i] ? 2.0 / 3 : 0.0));
      }
      ++moves[walk.moved[i]];
    }
    CHECK(moves == std::vector<int>(5, 1));
  }
}

TEST_CASE("Morris effects of a linear function are its slopes; of a product they scatter") {
  std::vector<MorrisWalk> walks;
  std::vector<std::vector<double>> values;
  for (std::uint64_t w = 0; w < 30; ++w) {
    walks.push_back(morris_walk(4, 1, w));
    values.emplace_back();
    for (const UnitPoint& x : walks.back().points)
      values.back().push_back(5 * x[0] - 2 * x[1] + 0 * x[2] + x[3] * x[1]);
  }
  const auto effects = morris_effects(walks, values);
  CHECK(effects[0].mean == Approx(5));
  CHECK(effects[0].deviation == Approx(0).margin(1e-9));
  CHECK(effects[2].mean_absolute == Approx(0).margin(1e-9));
  CHECK(effects[1].deviation > 0.1);
  CHECK(effects[0].mean_absolute > effects[1].mean_absolute);
  CHECK(effects[1].mean_absolute > effects[3].mean_absolute);
}

TEST_CASE("Sobol indices of the Ishigami function are the known ones") {
  // Ishigami and Homma (1990), a = 7, b = 0.1: variances by hand.
  const double a = 7, b = 0.1, pi = std::acos(-1.0);
  const auto ishigami = [&](const UnitPoint& u) {
    const double x = pi * (2 * u[0] - 1), y = pi * (2 * u[1] - 1), z = pi * (2 * u[2] - 1);
    return std::sin(x) + a * std::sin(y) * std::sin(y) + b * std::pow(z, 4) * std::sin(x);
  };
  const double p4 = std::pow(pi, 4), p8 = p4 * p4;
  const double variance = a * a / 8 + b * p4 / 5 + b * b * p8 / 18 + 0.5;
  const double v1 = 0.5 * (1 + b * p4 / 5) * (1 + b * p4 / 5), v2 = a * a / 8, v13 = b * b * p8 * 8 / 225;
  const auto indices = indices_of(3, 40'000, ishigami);
  CHECK(indices[0].first == Approx(v1 / variance).margin(0.02));
  CHECK(indices[1].first == Approx(v2 / variance).margin(0.02));
  CHECK(indices[2].first == Approx(0).margin(0.02));
  CHECK(indices[0].total == Approx((v1 + v13) / variance).margin(0.02));
  CHECK(indices[1].total == Approx(v2 / variance).margin(0.02));
  CHECK(indices[2].total == Approx(v13 / variance).margin(0.02));
}

TEST_CASE("Sobol indices of a g-function rank its inputs as its coefficients do") {
  const std::vector<double> coefficient = {0, 1, 4.5, 9, 99};
  const auto g = [&](const UnitPoint& x) {
    double out = 1;
    for (std::size_t i = 0; i < x.size(); ++i)
      out *= (std::abs(4 * x[i] - 2) + coefficient[i]) / (1 + coefficient[i]);
    return out;
  };
  const auto indices = indices_of(5, 20'000, g);
  double whole = 1;
  for (const double c : coefficient)
    whole *= 1 + 1 / (3 * (1 + c) * (1 + c));
  for (std::size_t i = 0; i < 5; ++i) {
    const double own = 1 / (3 * (1 + coefficient[i]) * (1 + coefficient[i]));
    CHECK(indices[i].first == Approx(own / (whole - 1)).margin(0.03));
    if (i > 0)
      CHECK(indices[i].total <= indices[i - 1].total);
  }
}
