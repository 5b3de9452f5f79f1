// `run --trace` keeps to the Trace Event Format, is bounded, and does not change what is simulated.
#include "models/base/errors.hpp"
#include "sim/report/openmetrics.hpp"
#include "sim/report/trace.hpp"
#include "sim/run/result_json.hpp"
#include "sim/run/run_simulation.hpp"
#include "sim/scenario/loader.hpp"
#include "test_paths.hpp"

#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <set>
#include <sstream>
#include <string>
#include <vector>

using namespace replisim;
using nlohmann::json;

namespace {

constexpr Bytes megabyte = 1'000'000;

Scenario scenario_of(const std::string& file, const std::vector<std::string>& changes = {}) {
  std::vector<Override> overrides;
  for (const auto& change : changes)
    overrides.push_back(parse_override(change));
  return load_scenario(std::string(REPLISIM_SOURCE_DIR) + "/scenarios/" + file, overrides,
                       Library{REPLISIM_SOURCE_DIR});
}

const std::string headline = "published/streaming_insert.yaml";

using Track = std::pair<int, int>;

struct Slice {
  double from_us = 0, to_us = 0;
};

/// What the events of a trace say, sorted by kind.
struct Reading {
  std::map<int, std::string> groups;
  std::map<Track, std::string> tracks;
  std::map<Track, std::vector<Slice>> slices;
  std::map<std::int64_t, std::vector<json>> flows;
  std::map<std::string, std::vector<double>> counter_times;
};

/// Keys an event of each kind must have, and none that the kind does not know.
void check_keys(const json& event) {
  static const std::map<std::string, std::set<std::string>> required = {
      {"M", {"ph", "pid", "tid", "name", "args"}},
      {"X", {"ph", "pid", "tid", "name", "cat", "ts", "dur"}},
      {"C", {"ph", "pid", "tid", "name", "ts", "args"}},
      {"s", {"ph", "pid", "tid", "name", "cat", "ts", "id"}},
      {"t", {"ph", "pid", "tid", "name", "cat", "ts", "id"}},
      {"f", {"ph", "pid", "tid", "name", "cat", "ts", "id", "bp"}}};
  const auto kind = required.find(event.at("ph").get<std::string>());
  REQUIRE(kind != required.end());
  for (const auto& key : kind->second)
    REQUIRE(event.contains(key));
  for (const auto& [key, value] : event.items())
    REQUIRE((kind->second.contains(key) or (key == "args" and kind->first == "X")));
  for (const char* number : {"pid", "tid"})
    REQUIRE(event.at(number).is_number_integer());
  for (const char* number : {"ts", "dur"})
    if (event.contains(number)) {
      REQUIRE(event.at(number).is_number());
      REQUIRE(event.at(number).get<double>() >= 0);
    }
}

Reading read_trace(const std::string& text) {
  const json trace = json::parse(text);
  REQUIRE(trace.is_object());
  REQUIRE(trace.at("traceEvents").is_array());
  REQUIRE((trace.at("displayTimeUnit") == "ms" or trace.at("displayTimeUnit") == "ns"));
  REQUIRE(trace.at("otherData").is_object());
  Reading out;
  for (const auto& event : trace.at("traceEvents")) {
    check_keys(event);
    const std::string kind = event.at("ph");
    const Track track{event.at("pid").get<int>(), event.at("tid").get<int>()};
    if (event.at("name") == "process_name")
      out.groups[track.first] = event.at("args").at("name");
    else if (event.at("name") == "thread_name")
      out.tracks[track] = event.at("args").at("name");
    else if (kind == "X")
      out.slices[track].push_back(
          {event.at("ts").get<double>(), event.at("ts").get<double>() + event.at("dur").get<double>()});
    else if (kind == "C") {
      for (const auto& [name, value] : event.at("args").items())
        REQUIRE(value.is_number());
      out.counter_times[event.at("name")].push_back(event.at("ts").get<double>());
    } else if (kind != "M")
      out.flows[event.at("id").get<std::int64_t>()].push_back(event);
  }
  return out;
}

/// Slices of a track lie beside each other: a process does one thing at a time.
void check_slices(Reading& reading) {
  constexpr double rounding_us = 1e-3;
  for (auto& [track, slices] : reading.slices) {
    REQUIRE(reading.tracks.contains(track));
    REQUIRE(reading.groups.contains(track.first));
    std::sort(slices.begin(), slices.end(),
              [](const Slice& a, const Slice& b) { return a.from_us < b.from_us; });
    for (std::size_t i = 1; i < slices.size(); ++i)
      REQUIRE(slices[i].from_us >= slices[i - 1].to_us - rounding_us);
  }
}

bool inside_slice(const Reading& reading, const Track& track, double at_us) {
  const auto slices = reading.slices.find(track);
  constexpr double rounding_us = 2e-3;
  return slices != reading.slices.end() and
         std::any_of(slices->second.begin(), slices->second.end(), [&](const Slice& slice) {
           return slice.from_us <= at_us + rounding_us and at_us <= slice.to_us + rounding_us;
         });
}

/// An arrow begins with `s`, ends with `f`, never goes back in time, and each end lies in a slice.
void check_flows(const Reading& reading) {
  for (const auto& [id, events] : reading.flows) {
    REQUIRE(events.size() >= 2);
    for (std::size_t i = 0; i < events.size(); ++i) {
      const std::string expected = i == 0 ? "s" : (i + 1 == events.size() ? "f" : "t");
      REQUIRE(events[i].at("ph") == expected);
      REQUIRE(events[i].at("name") == events[0].at("name"));
      REQUIRE(events[i].at("cat") == events[0].at("cat"));
      if (i > 0)
        REQUIRE(events[i].at("ts").get<double>() >= events[i - 1].at("ts").get<double>());
      REQUIRE(inside_slice(reading, {events[i].at("pid").get<int>(), events[i].at("tid").get<int>()},
                           events[i].at("ts").get<double>()));
    }
  }
}

Reading checked(const std::string& text) {
  Reading reading = read_trace(text);
  check_slices(reading);
  check_flows(reading);
  for (const auto& [name, times] : reading.counter_times)
    REQUIRE(std::is_sorted(times.begin(), times.end()));
  return reading;
}

/// Names of the tracks an arrow touches, in order.
std::vector<std::string> stops_of(const Reading& reading, const std::vector<json>& flow) {
  std::vector<std::string> out;
  for (const auto& event : flow)
    out.push_back(reading.tracks.at({event.at("pid").get<int>(), event.at("tid").get<int>()}));
  return out;
}

} // namespace

TEST_CASE("the trace of the headline scenario follows batches from backend to apply", "[trace]") {
  const Scenario scenario = scenario_of(headline);
  const Trace trace = traced_simulation(scenario, 1, 50 * megabyte);
  CHECK(trace.fingerprint == run_simulation(scenario, 1).fingerprint);
  const Reading reading = checked(trace.text);
  CHECK(json::parse(trace.text).at("otherData").at("sampled") == false);
  CHECK(reading.tracks.size() >= 5);
  REQUIRE(reading.flows.size() > 100);
  std::size_t whole = 0;
  for (const auto& [id, flow] : reading.flows) {
    const auto stops = stops_of(reading, flow);
    whole += stops.size() == 4 ? 1 : 0;
    if (stops.size() != 4)
      continue;
    CHECK(stops[0].find("backend") != std::string::npos);
    CHECK(stops[1].find("walsender") != std::string::npos);
    CHECK(stops[2].find("apply") != std::string::npos);
    CHECK(stops[3].find("parallel") != std::string::npos);
  }
  CHECK(static_cast<double>(whole) > 0.9 * static_cast<double>(reading.flows.size()));
  for (const char* counter :
       {"bytes behind wal_lsn", "reorder_buffer_bytes", "spill_file_bytes", "retained_wal_bytes"})
    CHECK(reading.counter_times.at(counter).size() > 100);
}

TEST_CASE("with streaming off arrows end at the leader apply worker", "[trace]") {
  const Scenario scenario =
      scenario_of(headline, {"subscriptions.s.streaming=off", "workload.batch.transaction[0].rows=300000"});
  const Reading reading = checked(traced_simulation(scenario, 1, 50 * megabyte).text);
  REQUIRE_FALSE(reading.flows.empty());
  for (const auto& [id, flow] : reading.flows)
    CHECK(stops_of(reading, flow).size() == 3);
}

TEST_CASE("small transactions have arrows, too", "[trace]") {
  const Scenario scenario = scenario_of("lab/pgbench.yaml", {"observe.until=3s"});
  const Reading reading = checked(traced_simulation(scenario, 1, 50 * megabyte).text);
  CHECK_FALSE(reading.flows.empty());
}

TEST_CASE("a long run is sampled: the file stays within its bound and within the format", "[trace]") {
  const Scenario scenario = scenario_of("lab/pgbench.yaml", {"observe.until=120s"});
  const Trace trace = traced_simulation(scenario, 1, smallest_trace_bytes);
  CHECK(static_cast<Bytes>(trace.text.size()) <= smallest_trace_bytes);
  CHECK(static_cast<Bytes>(trace.text.size()) > smallest_trace_bytes / 10);
  const json about = json::parse(trace.text).at("otherData");
  CHECK(about.at("sampled") == true);
  CHECK(about.at("sampling").get<std::string>().find("of every") == 0);
  const Reading reading = checked(trace.text);
  CHECK_FALSE(reading.slices.empty());
  double last_us = 0;
  for (const auto& [track, slices] : reading.slices)
    last_us = std::max(last_us, slices.back().to_us);
  CHECK(last_us > 60e6); // samples of the whole run, not of its beginning
}

TEST_CASE("OpenMetrics: families in one piece, escaped labels, an end", "[openmetrics]") {
  Scenario scenario = scenario_of(headline, {"workload.batch.transaction[0].rows=100000"});
  scenario.name = "a \"quoted\" name\nof two \\ lines";
  const Replications replications = run_replications(scenario, 1, 1, {});
  for (const auto& start :
       {std::optional<double>(), std::optional<double>(parse_epoch("2026-05-01T12:00:00Z"))}) {
    const std::string text = run_openmetrics(replications, start);
    REQUIRE(text.ends_with("# EOF\n"));
    std::istringstream lines(text);
    std::string line, family;
    std::set<std::string> seen, units;
    std::map<std::string, double> last;
    while (std::getline(lines, line) and line != "# EOF") {
      if (line.starts_with("# TYPE ")) {
        family = line.substr(7, line.find(' ', 7) - 7);
        REQUIRE(seen.insert(family).second);
        continue;
      }
      if (line.starts_with("# HELP ")) {
        REQUIRE(line.substr(7, family.size()) == family);
        continue;
      }
      if (line.starts_with("# UNIT ")) {
        // The name of a family that has a unit ends with it.
        REQUIRE(line.substr(7, family.size() + 1) == family + " ");
        const std::string unit = line.substr(family.size() + 8);
        REQUIRE((unit == "bytes" or unit == "seconds"));
        REQUIRE(family.ends_with("_" + unit));
        units.insert(family);
        continue;
      }
      REQUIRE(line.starts_with(family));
      REQUIRE((line[family.size()] == '{' or line[family.size()] == ' '));
      const auto close = line.rfind('}');
      const std::string labels = close == std::string::npos ? family : line.substr(0, close + 1);
      std::istringstream values(line.substr(labels.size()));
      double value = 0, at_s = 0;
      REQUIRE(values >> value);
      CHECK(static_cast<bool>(values >> at_s) == start.has_value());
      if (start) {
        CHECK((not last.contains(labels) or last[labels] < at_s));
        last[labels] = at_s;
      }
    }
    for (const char* column :
         {"pg_stat_replication_slots_stream_count", "pg_stat_replication_slots_spill_bytes",
          "pg_replication_slots_restart_lsn", "replisim_total_s", "replisim_cpu_seconds"})
      CHECK(seen.contains(column));
    CHECK(seen.contains("pg_stat_replication_sent_lsn") == start.has_value());
    for (const auto& name : seen)
      CHECK(units.contains(name) == (name.ends_with("_bytes") or name.ends_with("_seconds")));
    CHECK(text.find(R"(scenario="a \"quoted\" name\nof two \\ lines")") != std::string::npos);
    const auto& slot = replications.runs.front().subscriptions.at("s");
    CHECK(text.find(fmt::format("pg_stat_replication_slots_stream_count{{slot_name=\"s\"}} {}",
                                slot.at("stream_count"))) != std::string::npos);
  }
  CHECK_THROWS_AS(parse_epoch("yesterday"), UsageError);
  CHECK(parse_epoch("1777636800") == parse_epoch("2026-05-01T12:00:00Z"));
}
