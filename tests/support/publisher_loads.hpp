// Scenarios of the publisher's side: flows, other databases, consumers, and readers of the timeline.
#pragma once

#include "tests/support/scenario_builder.hpp"

#include <map>

namespace replisim::test {

/// Single-row inserts into `t` at a rate, on server `pub`.
inline FlowLoad flow_of(double rate_per_s, double until_s = 0, const std::string& table = "t") {
  FlowLoad flow;
  flow.name = std::string("flow");
  flow.server = std::string("pub");
  flow.rate_per_s = rate_per_s;
  flow.until_s = until_s;
  flow.transaction = {insert(table, 1)};
  return flow;
}

inline OtherWalLoad other_wal_of(double bytes_per_s, double until_s = 0) {
  OtherWalLoad load;
  load.name = std::string("other");
  load.server = std::string("pub");
  load.bytes_per_s = bytes_per_s;
  load.until_s = until_s;
  return load;
}

/// A client on the publisher's host that reads publication `p` and takes no time.
inline Consumer consumer_of(const std::string& name) {
  Consumer consumer;
  consumer.name = name;
  consumer.publication = std::string("p");
  consumer.host = std::string("db");
  return consumer;
}

/// Adds `consumer` in the place of the subscription `s`, or beside others.
inline Scenario& with_consumer(Scenario& scenario, const Consumer& consumer) {
  scenario.subscriptions.erase("s");
  scenario.consumers[consumer.name] = consumer;
  return scenario;
}

inline Scenario& until(Scenario& scenario, double until_s, double interval_s = 1) {
  scenario.observe = {until_s, interval_s};
  return scenario;
}

/// The column of a timeline.
inline Numbers column(const RunResult& result, const std::string& name) {
  const auto& columns = result.timeline.columns;
  const auto it = std::find(columns.begin(), columns.end(), name);
  REPLISIM_REQUIRE(it != columns.end(), "no column {}", name);
  const auto index = static_cast<std::size_t>(it - columns.begin());
  Numbers values;
  for (const auto& row : result.timeline.rows)
    values.push_back(row.at(index));
  return values;
}

/// The value of a column at the last sample not after `t_s`.
inline double value_at(const RunResult& result, const std::string& name, double t_s) {
  const Numbers times = column(result, "t_s"), values = column(result, name);
  double value = 0;
  for (std::size_t i = 0; i < times.size() and times[i] <= t_s + 1e-9; ++i)
    value = values[i];
  return value;
}

/// A run with its timeline, in a child of its own.
inline RunResult run_with_timeline(const Scenario& scenario, std::uint64_t seed = 1) {
  return run_simulation(scenario, seed);
}

} // namespace replisim::test
