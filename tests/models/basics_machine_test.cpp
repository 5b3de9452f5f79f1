// Machines, versions and the price list.
#include "models/base/errors.hpp"
#include "models/cost_profile.hpp"
#include "models/hardware.hpp"
#include "models/version.hpp"

#include <catch2/catch.hpp>

#include <set>

using namespace replisim;

TEST_CASE("a machine fills its cores before their second threads") {
  Machine machine;
  machine.sockets = 2;
  machine.cores_per_socket = 2;
  machine.threads_per_core = 2;
  machine.smt_gain = 1.25;
  CHECK(machine.cores() == 4);
  CHECK(machine.cpus() == 8);
  CHECK(machine.capacity(-1) == 0);
  CHECK(machine.capacity(0) == 0);
  CHECK(machine.capacity(1) == 1);
  CHECK(machine.capacity(4) == 4);
  CHECK(machine.capacity(5) == 4.25);
  CHECK(machine.capacity(8) == 5);
  CHECK(machine.capacity(100) == 5);
}

TEST_CASE("a core with four threads gains in three steps") {
  Machine machine;
  machine.threads_per_core = 4;
  machine.smt_gain = 1.75;
  CHECK(machine.capacity(1) == 1);
  CHECK(machine.capacity(2) == 1.25);
  CHECK(machine.capacity(3) == 1.5);
  CHECK(machine.capacity(4) == 1.75);
  CHECK(machine.capacity(5) == 1.75);
}

TEST_CASE("without second threads the gain plays no part") {
  Machine machine;
  machine.cores_per_socket = 2;
  machine.smt_gain = 1.25;
  CHECK(machine.capacity(2) == 2);
  CHECK(machine.capacity(3) == 2);
}

TEST_CASE("what each version can do") {
  const auto has = [](bool VersionTraits::*trait, int major) { return traits_of({major, 0}).*trait; };
  const auto starts = [&](bool VersionTraits::*trait, int first) {
    for (int major = first_supported_major; major <= last_supported_major; ++major)
      if (has(trait, major) != (major >= first))
        return false;
    return true;
  };
  CHECK(starts(&VersionTraits::streaming_available, 14));
  CHECK(starts(&VersionTraits::skips_empty_transactions, 15));
  CHECK(starts(&VersionTraits::parallel_apply_available, 16));
  CHECK(starts(&VersionTraits::eviction_uses_heap, 17));
  CHECK(starts(&VersionTraits::parallel_is_default_streaming, 18));
  CHECK(starts(&VersionTraits::drops_aborted_at_eviction, 18));
  CHECK_THROWS_AS(traits_of({9, 6}), InvariantViolation);
  CHECK_THROWS_AS(traits_of({20, 0}), InvariantViolation);
}

TEST_CASE("versions are read and written") {
  Version version;
  std::string problem;
  CHECK(parse_version("17.4", version, problem));
  CHECK(version.major == 17);
  CHECK(version.minor == 4);
  CHECK(parse_version("17.10", version, problem));
  CHECK(to_string(version) == "17.10");
  CHECK(parse_version("18.0", version, problem));
  CHECK(to_string(version) == "18.0");
  CHECK(parse_version("13", version, problem));
  CHECK(to_string(version) == "13.23"); // a major means its latest minor
  CHECK(parse_version("10", version, problem));
  CHECK(to_string(version) == "10.23");
  CHECK(problem.empty());
  CHECK_THROWS_AS(latest_minor(20), InvariantViolation);

  for (const char* text :
       {"9.6", "20", "", "17.", ".4", "17.4.1", "18beta1", "-17", "17.-4", "v17", "17 ", "1e1"}) {
    problem.clear();
    version = {16, 1};
    CHECK_FALSE(parse_version(text, version, problem));
    CHECK(to_string(version) == "16.1");
    CHECK(problem == std::string("found '") + text +
                         "'; allowed is a PostgreSQL version from 10 to 19, such as 17 or 17.4");
  }
}

TEST_CASE("each field of the price list has exactly one row") {
  const auto& table = cost_parameters();
  REQUIRE(table.size() == sizeof(CostParameters) / sizeof(double));
  // Each row writes its own field; two rows for one field would leave another at zero.
  CostParameters costs;
  for (const CostParameter& row : table)
    costs.*row.field += 1;
  for (const CostParameter& row : table) {
    INFO(row.name);
    CHECK(costs.*row.field == 1);
  }
  std::set<std::string_view> names;
  for (const CostParameter& row : table) {
    INFO(row.name);
    CHECK(names.insert(row.name).second);
    CHECK(row.name.find('.') != std::string_view::npos);
    CHECK(find_cost_parameter(row.name) == &row);
    CHECK(row.low >= 0);
    CHECK(row.low < row.high);
    CHECK(row.unit.starts_with("s"));
    CHECK(row.sentence.ends_with('.'));
  }
}

TEST_CASE("parameters are found by name and keep to their field") {
  CHECK(find_cost_parameter("apply.insert_row")->field == &CostParameters::apply_insert_row_s);
  CHECK(find_cost_parameter("apply.insert_row")->low == Approx(1e-6));
  CHECK(find_cost_parameter("apply.insert_row")->high == Approx(60e-6));
  CHECK(find_cost_parameter("walsender.wal_read_byte")->field == &CostParameters::wal_read_byte_s);
  CHECK(find_cost_parameter("leader.forward_change")->field == &CostParameters::forward_change_s);
  CHECK(find_cost_parameter("latency.worker_start")->field == &CostParameters::worker_start_s);
  CHECK(find_cost_parameter("walsender.send_byte")->low == 0);
  CHECK(find_cost_parameter("insert_row") == nullptr);
  CHECK(find_cost_parameter("") == nullptr);
}
