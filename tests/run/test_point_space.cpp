// Axes of all kinds and the points they make: ranges, zipped axes, samples.
#include "models/base/errors.hpp"
#include "sim/run/point_space.hpp"
#include "sim/run/sampling.hpp"

#include <catch2/catch.hpp>

#include <algorithm>
#include <set>

using namespace replisim;

namespace {

const std::string memory = "servers.pub.settings.logical_decoding_work_mem";
const std::string undone = "workload.w.transaction[0].rolled_back";

std::vector<std::string> labels_of(const SweepAxis& axis) {
  std::vector<std::string> out;
  for (const auto& value : axis.values)
    out.push_back(value.first);
  return out;
}

using Texts = std::vector<std::string>;

} // namespace

TEST_CASE("a range is even, on a linear or a logarithmic scale, in the setting's own unit") {
  CHECK(labels_of(parse_vary(memory + "=64kB..256kB/4")) == Texts{"64kB", "128kB", "192kB", "256kB"});
  CHECK(labels_of(parse_vary(memory + "=64kB..1MB/5/log")) ==
        Texts{"64kB", "128kB", "256kB", "512kB", "1024kB"});
  CHECK(labels_of(parse_vary(memory + "=64kB..200kB/step=64kB")) == Texts{"64kB", "128kB", "192kB"});
  CHECK(labels_of(parse_vary(undone + "=0%..100%/5")) == Texts{"0%", "25%", "50%", "75%", "100%"});
  CHECK(labels_of(parse_vary("workload.w.transaction[0].rows=1..100/3/log")) == Texts{"1", "10", "100"});
  CHECK(labels_of(parse_vary("links[0].latency=1ms..2ms/3")) == Texts{"0.001s", "0.0015s", "0.002s"});
  // Rounded to whole kB, 4 of the 9 values coincide.
  CHECK(labels_of(parse_vary(memory + "=64kB..68kB/9")) == Texts{"64kB", "65kB", "66kB", "67kB", "68kB"});
}

TEST_CASE("a path that holds dots is no range") {
  const auto axis = parse_vary("hosts.db.machine=../x.yaml,1..2");
  CHECK(labels_of(axis) == Texts{"../x.yaml", "1..2"});
}

TEST_CASE("ranges say what is wrong") {
  using Catch::Contains;
  CHECK_THROWS_WITH(parse_vary(memory + "=1MB..64kB/4"), Contains("the lowest value comes first"));
  CHECK_THROWS_WITH(parse_vary(memory + "=64kB..1MB/1"), Contains("'1' is no number of values; allowed: 2"));
  CHECK_THROWS_WITH(parse_vary(memory + "=64kB..1MB/step=64kB/4"), Contains("not both"));
  CHECK_THROWS_WITH(parse_vary("servers.pub.settings.logical_decoding_work_men=1..2/2"),
                    Contains("there is no field"));
  CHECK_THROWS_WITH(parse_vary("subscriptions.s.streaming=1..2/2"), Contains("`streaming` is no quantity"));
  CHECK_THROWS_WITH(parse_vary("servers.pub.settings.fsync=1..2/2"), Contains("`fsync` is no quantity"));
  CHECK_THROWS_WITH(parse_vary(undone + "=0%..100%/5/log"), Contains("begins above 0"));
}

TEST_CASE("zipped paths change together") {
  const auto axis = parse_vary("a.x, b=[1, on],[2,off]");
  CHECK(axis.path == "a.x, b");
  CHECK(axis_paths(axis) == Texts{"a.x", "b"});
  const PointSpace space({axis, parse_vary("c=5,6")}, std::nullopt);
  CHECK(space.count() == 4);
  CHECK(space.columns() == Texts{"a.x", "b", "c"});
  const SweepPoint point = space.at(2);
  CHECK(point.overrides == std::vector<Override>{{"a.x", "2"}, {"b", "off"}, {"c", "5"}});
  CHECK(point.labels[1] == std::pair<std::string, std::string>{"b", "off"});
  CHECK_THROWS_WITH(parse_vary("a,b=[1,2],[3]"), Catch::Contains("a list of 2 values is wanted"));
}

TEST_CASE("zipped values with names have one column") {
  const PointSpace space({SweepAxis{"a, b", {{"small", "[1, 2]"}, {"big", "[3, 4]"}}, {"a", "b"}}},
                         std::nullopt);
  CHECK(space.columns() == Texts{"a, b"});
  CHECK(space.at(1).labels == std::vector<std::pair<std::string, std::string>>{{"a, b", "big"}});
  CHECK(space.at(1).overrides == std::vector<Override>{{"a", "3"}, {"b", "4"}});
}

TEST_CASE("a Latin hypercube has one sample in each slice of each dimension") {
  for (const std::uint64_t points : {1U, 2U, 7U, 100U, 1000U}) {
    const SamplePlan plan{SampleMethod::LatinHypercube, points, 42};
    for (std::size_t dimension = 0; dimension < 3; ++dimension) {
      std::set<std::uint64_t> slices;
      for (std::uint64_t i = 0; i < points; ++i) {
        const double x = sample_coordinate(plan, i, dimension);
        REQUIRE((x >= 0 and x < 1));
        slices.insert(static_cast<std::uint64_t>(x * static_cast<double>(points)));
      }
      CHECK(slices.size() == points);
    }
  }
}

TEST_CASE("dimensions and seeds of a Latin hypercube are different orders") {
  const auto order = [](std::uint64_t seed, std::size_t dimension) {
    std::vector<int> out;
    for (std::uint64_t i = 0; i < 50; ++i)
      out.push_back(
          static_cast<int>(sample_coordinate({SampleMethod::LatinHypercube, 50, seed}, i, dimension) * 50));
    return out;
  };
  CHECK(order(1, 0) != order(1, 1));
  CHECK(order(1, 0) != order(2, 0));
  CHECK(order(3, 1) == order(3, 1));
  CHECK_FALSE(std::is_sorted(order(1, 0).begin(), order(1, 0).end()));
}

TEST_CASE("a Sobol design fills every slice and every square of two dimensions") {
  const SamplePlan plan{SampleMethod::Sobol, 256, 9};
  for (std::size_t dimension = 0; dimension < sobol_dimensions_max; ++dimension) {
    std::set<int> slices;
    for (std::uint64_t i = 0; i < 256; ++i)
      slices.insert(static_cast<int>(sample_coordinate(plan, i, dimension) * 256));
    CHECK(slices.size() == 256);
  }
  // The first two dimensions are a (0, 2)-sequence: 16 x 16 squares, one sample in each.
  std::set<std::pair<int, int>> squares;
  for (std::uint64_t i = 0; i < 256; ++i)
    squares.emplace(static_cast<int>(sample_coordinate(plan, i, 0) * 16),
                    static_cast<int>(sample_coordinate(plan, i, 1) * 16));
  CHECK(squares.size() == 256);
}

TEST_CASE("sampled ranges and lists combine") {
  const PointSpace space(
      {parse_vary(memory + "=64kB..1MB/log"), parse_vary("s=off,on"), parse_vary(undone + "=0%..50%")},
      parse_sample("latin-hypercube:10"));
  CHECK(space.count() == 20);
  const SweepPoint first = space.at(6);
  const SweepPoint second = space.at(7);
  CHECK(first.overrides[0] == second.overrides[0]); // the same sample with both values of the list
  CHECK(first.overrides[1].value == "off");
  CHECK(second.overrides[1].value == "on");
  CHECK(first.overrides[0].value.ends_with("kB"));
  CHECK(first.overrides[2].value.ends_with("%"));
  CHECK_FALSE(space.at(8).overrides[0] == second.overrides[0]);
  const auto json = axes_json(space.axes());
  CHECK(json[0] == nlohmann::json{{"path", memory}, {"from", "64kB"}, {"to", "1024kB"}, {"scale", "log"}});
  CHECK(sample_json(space.sample()) ==
        nlohmann::json{{"method", "latin-hypercube"}, {"points", 10}, {"seed", 1}});
}

TEST_CASE("samples say what is wrong") {
  using Catch::Contains;
  CHECK_THROWS_WITH(PointSpace({parse_vary(memory + "=64kB..1MB")}, std::nullopt), Contains("--sample"));
  CHECK_THROWS_WITH(parse_sample("sobol"), Contains("METHOD:POINTS"));
  CHECK_THROWS_WITH(parse_sample("sobel:5"), Contains("did you mean 'sobol'?"));
  CHECK_THROWS_WITH(parse_sample("sobol:0"), Contains("allowed: 1 to"));
  CHECK_THROWS_WITH(parse_sample("sobol:many"), Contains("allowed: 1 to"));
}

TEST_CASE("any of a million points is there at once") {
  const PointSpace space({parse_vary(memory + "=64kB..1GB/log"), parse_vary(undone + "=0%..50%")},
                         parse_sample("sobol:1000000"));
  CHECK(space.count() == 1'000'000);
  CHECK(space.at(999'999).overrides.size() == 2);
}
