// A result with every field filled, and scenarios small enough to reason about by hand.
#pragma once

#include "sim/run/result.hpp"

namespace replisim::test {

inline RunResult sample_result() {
  RunResult r;
  r.scenario = "one big insert";
  r.scenario_hash = "00ff00ff00ff00ff";
  r.version = "0.1.0";
  r.seed = 18446744073709551615ULL;
  r.metrics = {{"total_s", 37.304},      {"spill_count", 1401}, {"spill_bytes", 92'000'000},
               {"stream_count", 0},      {"third", 1.0 / 3},    {"cpu_pub.walsender_s", 2},
               {"wal_bytes", 89'308'376}};
  r.subscriptions = {{"s", {{"total_s", 0.1 + 0.2}}}};
  r.verdicts["s"] = {"falling behind; network (window) is to blame",
                     "falling behind",
                     "network",
                     "window",
                     0.75,
                     "pub.walsender",
                     "decoding",
                     0.5};
  LagParts parts;
  parts.ns = {5, 1, 2, 3, 4, 5, 6, 7, 8, 9, 11};
  r.lag_anatomies["s"] = {3, {0.5, 0.25, 1, 2}, {}};
  r.lag_anatomies["s"].stages[8] = {0.125, 0, 0.5, 0.75};
  r.outcomes = {{12.5, "slot_lost", "s", "slot s is lost: too far behind"}};
  r.stages = {{"walsender", {0.75, 0.25, 0}}, {"apply", {0.5, 0.125, 0.375}}};
  r.bottleneck = "walsender";
  r.bottleneck_reason = "it never waits for output";
  r.transactions = {{"batch",
                     731,
                     5'000'000,
                     4'000'000,
                     0,
                     11.5,
                     12.25,
                     37.304,
                     20.5,
                     {{"s", parts}},
                     {{"s", {0.25, 0.5, 36, 0.75, -1, 37.25, 2}}}}};
  r.warnings = {"a \"quoted\" warning"};
  r.guesses = {{"hosts.db.machine", "seed1-host", "nobody said"}};
  r.timeline = {{"t_s", "lag_bytes"}, {{0, 1}, {0.05, 1e300}, {0.1, -0.1}}};
  r.fingerprint = 0xdeadbeefcafef00dULL;
  r.events = 12345;
  r.simulated_s = 37.5;
  r.wall_s = 0.015;
  r.engine_options = {{"network/model", "CM02"}};
  return r;
}

} // namespace replisim::test
