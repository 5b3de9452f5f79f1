// Faults during a run: what they cost by the closed forms, and that nothing is lost or applied twice.
#include "models/flow_shape.hpp"
#include "tests/support/publisher_loads.hpp"

#include <catch2/catch.hpp>

using namespace replisim;
using namespace replisim::test;

namespace {

constexpr double hour = 3600;
constexpr double capacity = 250; ///< rows applied a second

Event event_of(Event::Kind kind, double at_s, double for_s) {
  Event event;
  event.kind = kind;
  event.at_s = at_s;
  event.for_s = for_s;
  return event;
}

Event down(double at_s, double for_s) {
  Event event = event_of(Event::Kind::SubscriberDown, at_s, for_s);
  event.server = std::string("sub");
  return event;
}

Event crash(Event::Process process, double at_s) {
  Event event = event_of(Event::Kind::Crash, at_s, 0);
  event.process = process;
  event.subscription = std::string("s");
  return event;
}

Event partition(double at_s, double for_s) {
  Event event = event_of(Event::Kind::Partition, at_s, for_s);
  event.host = std::string("db");
  event.other_host = std::string("other");
  return event;
}

/// 100 rows a second, 250 can be applied; the subscriber is away for an hour.
Scenario outage() {
  CostParameters costs;
  costs.apply_insert_row_s = 1 / capacity;
  costs.apply_delete_row_s = 1 / capacity;
  Scenario scenario = cluster(costs, Streaming::Off, "64MB");
  scenario.flows = {flow_of(100)};
  scenario.events = {down(605, hour)};
  return until(scenario, 8000, 5);
}

double wal_per_row(const Scenario& scenario) {
  return flow_shape(scenario.flows.front(), scenario.tables, scenario.profile.costs).wal_bytes;
}

const FaultResult& fault_of(const RunResult& result, std::size_t i = 0) {
  return result.upheaval.faults.at(i);
}

Rows applied(const RunResult& result) {
  return static_cast<Rows>(std::llround(result.subscriptions.at("s").at("apply_tps") * result.simulated_s));
}

} // namespace

TEST_CASE("an hour's outage: WAL held back and catch-up time are the closed forms") {
  const Scenario scenario = outage();
  const auto result = run(scenario);
  const auto& fault = fault_of(result);
  const double rate = 100 * wal_per_row(scenario);
  CHECK(fault.event == "subscriber sub down");
  CHECK(static_cast<double>(fault.backlog_bytes) == Approx(rate * hour).epsilon(0.01));
  CHECK(static_cast<double>(fault.retained_at_end_bytes) == Approx(rate * hour).epsilon(0.01));
  CHECK(fault.caught_up_s - fault.ended_s == Approx(100 * hour / (capacity - 100)).epsilon(0.01));
  CHECK(result.metrics.at("catch_up_s") == fault.caught_up_s - fault.ended_s);
}

TEST_CASE("the cap on a slot's WAL is reached after cap over rate, and the slot is lost at a checkpoint") {
  Scenario scenario = outage();
  set(scenario.servers.at("pub"), "max_slot_wal_keep_size", "48MB");
  const double rate = 100 * wal_per_row(scenario);
  const double cap = 48 * 1024.0 * 1024;
  const auto result = run(scenario);
  const auto& fault = fault_of(result);
  REQUIRE(cap / rate < hour);
  CHECK(fault.cap_passed_s - fault.begun_s == Approx(cap / rate).epsilon(0.01));
  const auto lost = std::find_if(result.outcomes.begin(), result.outcomes.end(),
                                 [](const Outcome& outcome) { return outcome.kind == "slot_lost"; });
  REQUIRE(lost != result.outcomes.end());
  CHECK(lost->t_s > fault.cap_passed_s);
}

TEST_CASE("with a daily curve an outage costs what its integral says") {
  Scenario scenario = outage();
  // While it is away: 1, 2 and 0.5 times the rate.
  scenario.flows.front().curve = {{0, 1}, {1800, 2}, {3000, 0.5}, {6000, 1.5}};
  const auto result = run(scenario);
  const auto& fault = fault_of(result);
  // Worked out second by second, without the model's own integral.
  const auto rate = [](double t_s) {
    return 100 * (t_s < 1800 ? 1 : t_s < 3000 ? 2 : t_s < 6000 ? 0.5 : 1.5);
  };
  double backlog = 0, t_s = 605;
  for (; t_s < 4205; t_s += 0.1)
    backlog += 0.1 * rate(t_s);
  CHECK(static_cast<double>(fault.backlog_bytes) == Approx(backlog * wal_per_row(scenario)).epsilon(0.01));
  for (; backlog > 0; t_s += 0.1)
    backlog += 0.1 * (rate(t_s) - capacity);
  CHECK(fault.caught_up_s - fault.ended_s == Approx(t_s - 4205).epsilon(0.01));
}

TEST_CASE("nothing is lost or applied twice when processes end, the subscriber stops or a link breaks") {
  Scenario scenario = cluster(typical_costs(), Streaming::Off);
  with_link(scenario, 1 * ms, 1e8);
  set(scenario.servers.at("pub"), "wal_sender_timeout", "3s");
  set(scenario.servers.at("sub"), "wal_receiver_timeout", "3s");
  set(scenario.servers.at("sub"), "wal_retrieve_retry_interval", "500ms");
  scenario.flows = {flow_of(2000, 30)};
  with_batch(scenario, {insert("t", 50'000)}, "b", 4);
  scenario.events = {crash(Event::Process::Walsender, 4.5), down(8, 2), partition(12, 1), partition(15, 5),
                     crash(Event::Process::ApplyWorker, 4.4)};
  for (const Streaming streaming : {Streaming::Off, Streaming::On, Streaming::Parallel}) {
    INFO(to_string(streaming));
    scenario.subscriptions.at("s").streaming = streaming;
    const auto result = run(scenario);
    CHECK(applied(result) == 60'000);
    CHECK(result.transactions.front().rows_applied == 50'000);
    CHECK(result.metrics.at("lag_bytes") == 0);
    CHECK(result.subscriptions.at("s").at("connections") >= 4);
    for (const FaultResult& fault : result.upheaval.faults)
      CHECK(fault.caught_up_s >= fault.ended_s);
  }
}

TEST_CASE(
    "a partition shorter than the time-outs delays what is under way, a longer one breaks the connection") {
  Scenario scenario = cluster({}, Streaming::Off);
  with_link(scenario);
  set(scenario.servers.at("pub"), "wal_sender_timeout", "10s");
  scenario.flows = {flow_of(100, 60)};
  scenario.events = {partition(20, 8)};
  const auto brief = run(scenario);
  CHECK(brief.subscriptions.at("s").at("connections") == 1);
  CHECK(brief.subscriptions.at("s").at("lag_s_max") == Approx(8).epsilon(0.02));
  scenario.events = {partition(20, 20)};
  const auto longer = run(scenario);
  CHECK(longer.subscriptions.at("s").at("sender_timeouts") == 1);
  CHECK(longer.subscriptions.at("s").at("last_timeout_s") == Approx(30));
  CHECK(longer.subscriptions.at("s").at("connections") == 2);
  CHECK(applied(longer) == 6000);
}

TEST_CASE("a slow disk, taken CPUs, used-up credits and another link last as long as they are to") {
  Scenario scenario = cluster({}, Streaming::Off, "64MB", 2);
  with_link(scenario, 1 * ms, 1e6);
  scenario.profile.costs.apply_insert_row_s = 1 * ms;
  scenario.profile.costs.apply_delete_row_s = 1 * ms;
  with_batch(scenario, {insert("t", 2000)}, "b", 10);
  const auto total_s = [&](const std::vector<Event>& events) {
    scenario.events = events;
    return run(scenario).metrics.at("total_s");
  };
  const double calm_s = total_s({});
  CHECK(calm_s == Approx(2).epsilon(0.05));
  Event busy = event_of(Event::Kind::CpuTaken, 10, 1);
  busy.host = std::string("other");
  busy.cores = 6; // seven threads on two CPUs, for a second
  CHECK(total_s({busy}) == Approx(calm_s + 1 - 2.0 / 7).epsilon(0.05));
  Event link = event_of(Event::Kind::LinkChange, 10, 100);
  link.host = std::string("db");
  link.other_host = std::string("other");
  link.bandwidth_bytes_per_s = 10'000; // 49 bytes of body and 30 of frame a row
  CHECK(total_s({link}) == Approx(2000 * 79 / 10'000.0).epsilon(0.05));
  Event disk = event_of(Event::Kind::SlowDisk, 0, 100);
  disk.server = std::string("pub");
  disk.factor = 1000;
  set(scenario.servers.at("pub"), "fsync", "on"); // 1 ms a flush
  const double flushed_s = total_s({});
  CHECK(total_s({disk}) > flushed_s + 1);
  scenario.hosts.at("other").baseline = 0.25; // half a CPU of two
  scenario.hosts.at("other").cpu_credits_s = 1000;
  Event credits = event_of(Event::Kind::CreditsUsedUp, 10.001, 0);
  credits.host = std::string("other");
  const double plenty_s = total_s({});
  CHECK(total_s({credits}) == Approx(plenty_s + 2).epsilon(0.1));
}

TEST_CASE("a setting can change while the run goes on") {
  Scenario scenario = outage();
  scenario.events.push_back(event_of(Event::Kind::SettingChange, 1000, 0));
  Event& change = scenario.events.back();
  change.server = std::string("pub");
  change.setting = std::string("max_slot_wal_keep_size");
  change.value = {32.0 * 1024 * 1024, ""};
  const auto result = run(scenario);
  CHECK(std::any_of(result.outcomes.begin(), result.outcomes.end(),
                    [](const Outcome& outcome) { return outcome.kind == "slot_lost"; }));
}

TEST_CASE("a link whose latency and bandwidth change over time delays what passes meanwhile, and no more") {
  Scenario scenario = cluster({}, Streaming::Off);
  with_link(scenario, 1 * ms, 1e8);
  scenario.flows = {flow_of(100, 20)};
  const auto change = [](double at_s, double for_s, double latency_s, double bandwidth) {
    Event event = event_of(Event::Kind::LinkChange, at_s, for_s);
    event.host = std::string("db");
    event.other_host = std::string("other");
    event.latency_s = latency_s;
    event.bandwidth_bytes_per_s = bandwidth;
    return event;
  };
  const auto calm = run(scenario);
  scenario.events = {change(5, 3, 0.2, 0), change(10, 3, 0.5, 0)};
  const auto slower = run(scenario);
  const auto lag = [](const RunResult& result, const char* name) {
    return result.subscriptions.at("s").at(name);
  };
  // Three seconds of twenty at 0.2 s and three at 0.5 s; what is sent in the 0.2 s and 0.5 s after each does
  // not overtake what is on its way.
  const double more_s = 3 * (0.199 + 0.499) + (0.2 * 0.2 + 0.5 * 0.5) / 2;
  CHECK(lag(slower, "lag_s_mean") - lag(calm, "lag_s_mean") == Approx(more_s / 20).epsilon(0.01));
  CHECK(lag(slower, "lag_s_max") - lag(calm, "lag_s_max") == Approx(0.499).epsilon(0.02));
  CHECK(applied(slower) == 2000);
  // 100 rows a second are some 15 kB: at 5 kB/s they pile up for two seconds.
  scenario.events = {change(5, 2, -1, 5000)};
  const auto narrow = run(scenario);
  const double sent_per_s = lag(calm, "sent_bytes") / 20;
  REQUIRE(sent_per_s > 7500);
  CHECK(lag(narrow, "lag_s_max") == Approx(2 * (1 - 5000 / sent_per_s)).epsilon(0.15));
  CHECK(applied(narrow) == 2000);
}
