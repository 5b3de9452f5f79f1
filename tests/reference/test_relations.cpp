// Relations between runs of random small scenarios: what must not matter, and what must matter by a known
// amount. The same on chosen scenarios: tests/pipeline/test_metamorphic.cpp, test_monotonic.cpp. The list of
// all: docs/relations.md.
#include "sim/scenario/loader.hpp"
#include "tests/reference/comparison.hpp"
#include "tests/support/random.hpp"
#include "tests/support/results.hpp"
#include "tests/support/scenario_builder.hpp"

#include <catch2/catch.hpp>

#include <filesystem>
#include <fstream>
#include <functional>
#include <regex>

using namespace replisim;
using namespace replisim::test;

namespace {

struct Pair {
  Case made;
  Scenario before, after;
};

struct Runs {
  RunResult before, after;
};

std::vector<Runs> run_pairs(const std::vector<Pair>& pairs) {
  std::vector<Scenario> scenarios;
  for (const Pair& pair : pairs) {
    scenarios.push_back(pair.before);
    scenarios.push_back(pair.after);
  }
  auto results = run_all(scenarios);
  std::vector<Runs> runs;
  for (std::size_t i = 0; i < pairs.size(); ++i)
    runs.push_back({std::move(results[2 * i]), std::move(results[2 * i + 1])});
  return runs;
}

/// Random cases, and for each another that follows from it.
using Change = std::function<void(Case&)>;
std::vector<Pair> cases(std::uint64_t first, std::uint64_t count, const Change& prepare,
                        const Change& change) {
  std::vector<Pair> pairs;
  for (std::uint64_t seed = first; seed < first + count; ++seed) {
    Pair pair{random_case(seed), {}, {}};
    prepare(pair.made);
    pair.before = scenario_of(pair.made);
    Case changed = pair.made;
    change(changed);
    pair.after = scenario_of(changed);
    pairs.push_back(std::move(pair));
  }
  return pairs;
}

const std::vector<const char*> counters = {"spill_txns",   "spill_count",        "spill_bytes", "stream_txns",
                                           "stream_count", "stream_bytes",       "total_txns",  "total_bytes",
                                           "sent_bytes",   "without_worker_txns"};

/// Counters of a subscription, and rows, equal; dates `factor` times as late.
void check_same(const Pair& pair, const RunResult& before, const RunResult& after, double factor = 1,
                const std::string& suffix = "") {
  for (const char* counter : counters) {
    INFO(counter);
    CHECK(after.subscriptions.at("s" + suffix).at(counter) == before.subscriptions.at("s").at(counter));
  }
  for (const BatchLoad& load : pair.made.transactions) {
    INFO(load.name);
    const TransactionResult& was = transaction_of(before, load.name);
    const TransactionResult& is = transaction_of(after, load.name + suffix);
    CHECK(is.rows == was.rows);
    CHECK(is.rows_applied == was.rows_applied);
    CHECK(is.statement_end_s == Approx(was.statement_end_s * factor).margin(1e-9));
    CHECK(is.commit_s == Approx(was.commit_s * factor).margin(1e-9));
    CHECK(is.applied_s == Approx(was.applied_s * factor).margin(1e-9));
    CHECK(is.lock_hold_s == Approx(was.lock_hold_s * factor).margin(1e-9));
  }
}

double end_of(const RunResult& result) {
  double end_s = 0;
  for (const TransactionResult& transaction : result.transactions)
    end_s = std::max({end_s, transaction.commit_s, transaction.applied_s});
  return end_s;
}

/// Which orders of events a coarser or faster machine leaves alone: the last commit is applied no later,
/// within what a batch of rows takes.
void check_no_later(const std::vector<Pair>& pairs, double least_gained) {
  const auto runs = run_pairs(pairs);
  std::uint64_t gained = 0;
  for (std::size_t i = 0; i < pairs.size(); ++i) {
    INFO(yaml_of(pairs[i].made));
    const double before_s = end_of(runs[i].before), after_s = end_of(runs[i].after);
    const auto input = reference_input(pairs[i].made);
    CHECK(after_s <= before_s + resolution_s(pairs[i].made, input, reference::solve(input)));
    gained += after_s < before_s * (1 - 1e-9) ? 1 : 0;
    for (const BatchLoad& load : pairs[i].made.transactions) {
      INFO(load.name);
      CHECK(transaction_of(runs[i].after, load.name).rows_applied ==
            transaction_of(runs[i].before, load.name).rows_applied);
    }
  }
  CHECK(static_cast<double>(gained) >= least_gained * static_cast<double>(pairs.size()));
}

void faster_disk(std::uint64_t first, std::uint64_t count) {
  check_no_later(
      cases(
          first, count, [](Case& made) { made.fsync = true; }, [](Case& made) { made.fsync_latency_s /= 4; }),
      0.5);
}

void faster_link(std::uint64_t first, std::uint64_t count) {
  const auto linked = [](Case& made) {
    if (not made.link)
      made.link = Link{"db", "other", 2e7, 1 * ms, 100'000};
  };
  check_no_later(cases(first, count, linked, [](Case& made) { made.link->bandwidth_bytes_per_s *= 2; }), 0.1);
  check_no_later(cases(first, count, linked, [](Case& made) { made.link->latency_s /= 2; }), 0.3);
  check_no_later(cases(first, count, linked, [](Case& made) { made.link->window_bytes *= 2; }), 0.05);
}

void faster_machine(std::uint64_t first, std::uint64_t count) {
  auto pairs = cases(
      first, count, [](Case&) {}, [](Case&) {});
  for (Pair& pair : pairs)
    for (auto& [name, host] : pair.after.hosts)
      host.speed = 2;
  check_no_later(pairs, 0.9);
}

/// Time itself half as long: CPUs twice as fast, and all that is no CPU time halved.
void half_of_everything(std::uint64_t first, std::uint64_t count) {
  auto pairs = cases(
      first, count, [](Case& made) { made.wal_writer_delay_ms = 2 + 2 * (made.wal_writer_delay_ms / 4); },
      [](Case& made) {
        made.wal_writer_delay_ms /= 2;
        made.fsync_latency_s /= 2;
        made.costs.worker_start_s /= 2;
        made.costs.wakeup_latency_s /= 2;
        if (made.link) {
          made.link->latency_s /= 2;
          made.link->bandwidth_bytes_per_s *= 2;
        }
        for (BatchLoad& load : made.transactions) {
          load.at_s /= 2;
          for (auto& step : load.transaction)
            if (auto* pause = std::get_if<PauseStep>(&step))
              pause->seconds /= 2;
        }
      });
  for (Pair& pair : pairs) {
    // The resolution is a number of rows by the profile's costs, which are the same.
    pair.after.time_resolution_s = pair.before.time_resolution_s;
    for (auto& [name, host] : pair.after.hosts) {
      host.speed = 2;
      host.disks.front().write_bandwidth_bytes_per_s *= 2;
      host.disks.front().read_bandwidth_bytes_per_s *= 2;
    }
  }
  const auto runs = run_pairs(pairs);
  for (std::size_t i = 0; i < pairs.size(); ++i) {
    INFO(yaml_of(pairs[i].made));
    check_same(pairs[i], runs[i].before, runs[i].after, 0.5);
  }
}

/// Nothing but the CPUs is slow: a run's length goes with their speed.
void cpu_bound(std::uint64_t first, std::uint64_t count) {
  auto pairs = cases(
      first, count,
      [](Case& made) {
        made.fsync = false;
        made.link.reset();
        made.costs.wakeup_latency_s = made.costs.worker_start_s = 0;
        made.wal_writer_delay_ms = 10;
        made.transactions.resize(1);
        made.transactions.front().at_s = 0;
        made.transactions.front().rolls_back = false;
        auto& steps = made.transactions.front().transaction;
        std::erase_if(steps,
                      [](const TransactionStep& step) { return std::holds_alternative<PauseStep>(step); });
        for (auto& step : steps)
          if (auto* statement = std::get_if<StatementStep>(&step))
            statement->rows = std::max<Rows>(1, statement->rows / 8);
        made.commit_waits = true; // the commit makes all of it visible before the WAL writer's first tick
        made.version = std::min(made.version, 17);
      },
      [](Case&) {});
  std::erase_if(pairs, [](const Pair& pair) {
    return reference::solve(reference_input(pair.made)).transactions.front().commit_s > 4.9 * ms;
  });
  CHECK(pairs.size() > count / 3);
  for (Pair& pair : pairs)
    for (auto& [name, host] : pair.after.hosts)
      host.speed = 2;
  const auto runs = run_pairs(pairs);
  for (std::size_t i = 0; i < pairs.size(); ++i) {
    INFO(yaml_of(pairs[i].made));
    check_same(pairs[i], runs[i].before, runs[i].after, 0.5);
  }
}

/// Each statement in two; how many that is more. A batch is not charged for a statement by itself (clients
/// are: backend.statement).
std::int64_t split_statements(BatchLoad& load) {
  std::vector<TransactionStep> steps;
  std::int64_t more = 0;
  for (const TransactionStep& step : load.transaction) {
    const auto* statement = std::get_if<StatementStep>(&step);
    if (statement == nullptr or statement->rows < 2) {
      steps.push_back(step);
      continue;
    }
    StatementStep half = *statement;
    half.rows = statement->rows / 2;
    steps.emplace_back(half);
    half.rows = statement->rows - half.rows;
    steps.emplace_back(half);
    ++more;
  }
  load.transaction = std::move(steps);
  return more;
}

void statements_in_two(std::uint64_t first, std::uint64_t count) {
  constexpr double rounding_bytes = 3 * 4'400; // half a page, in each of three indexes at most
  const auto pairs = cases(
      first, count, [](Case& made) { made.batch_rows = 1; },
      [](Case& made) {
        for (BatchLoad& load : made.transactions)
          split_statements(load);
      });
  const auto runs = run_pairs(pairs);
  for (std::size_t i = 0; i < pairs.size(); ++i) {
    INFO(yaml_of(pairs[i].made));
    const auto input = reference_input(pairs[i].made);
    const double within_s = resolution_s(pairs[i].made, input, reference::solve(input));
    std::int64_t splits = 0;
    for (BatchLoad load : pairs[i].made.transactions) {
      splits += split_statements(load);
      INFO(load.name);
      const TransactionResult& was = transaction_of(runs[i].before, load.name);
      const TransactionResult& is = transaction_of(runs[i].after, load.name);
      CHECK(is.rows_applied == was.rows_applied);
      CHECK(is.statement_end_s == Approx(was.statement_end_s).margin(1e-9));
      CHECK(is.commit_s == Approx(was.commit_s).margin(within_s));
      CHECK(is.applied_s == Approx(was.applied_s).margin(within_s));
    }
    // Index pages that split are counted for each statement from the table's state at the start.
    CHECK(std::abs(runs[i].after.metrics.at("wal_bytes") - runs[i].before.metrics.at("wal_bytes")) <=
          static_cast<double>(splits) * rounding_bytes);
    for (const char* counter : counters) {
      INFO(counter);
      CHECK(runs[i].after.subscriptions.at("s").at(counter) ==
            runs[i].before.subscriptions.at("s").at(counter));
    }
  }
}

/// Tables' names travel in Relation messages: another one, as long.
std::string as_long(const std::string& table, const std::string& suffix) { return suffix + table.substr(1); }

/// `scenario` with everything in it named otherwise.
Scenario renamed(const Scenario& scenario, const std::string& suffix) {
  Scenario out = scenario;
  const auto rename = [&](auto& map) {
    std::remove_reference_t<decltype(map)> with;
    for (auto& [name, value] : map) {
      if constexpr (requires { value.name; })
        value.name += suffix;
      with.emplace(name + suffix, std::move(value));
    }
    map = std::move(with);
  };
  rename(out.hosts);
  rename(out.servers);
  out.tables.clear();
  for (const auto& [name, table] : scenario.tables) {
    out.tables[as_long(name, suffix)] = table;
    out.tables.at(as_long(name, suffix)).name = as_long(name, suffix);
  }
  rename(out.publications);
  rename(out.subscriptions);
  for (auto& [name, server] : out.servers)
    server.host += suffix;
  for (auto& [name, publication] : out.publications) {
    publication.server += suffix;
    for (std::string& table : publication.tables)
      table = as_long(table, suffix);
  }
  for (auto& [name, subscription] : out.subscriptions) {
    subscription.server += suffix;
    subscription.publication += suffix;
  }
  for (Link& link : out.links) {
    link.from += suffix;
    link.to += suffix;
  }
  for (BatchLoad& load : out.batches) {
    load.name += suffix;
    load.server += suffix;
    for (auto& step : load.transaction)
      if (auto* statement = std::get_if<StatementStep>(&step))
        statement->table = as_long(statement->table, suffix);
  }
  return out;
}

Scenario both(const Scenario& one, const Scenario& other) {
  Scenario out = one;
  out.hosts.insert(other.hosts.begin(), other.hosts.end());
  out.servers.insert(other.servers.begin(), other.servers.end());
  out.tables.insert(other.tables.begin(), other.tables.end());
  out.publications.insert(other.publications.begin(), other.publications.end());
  out.subscriptions.insert(other.subscriptions.begin(), other.subscriptions.end());
  out.links.insert(out.links.end(), other.links.begin(), other.links.end());
  out.batches.insert(out.batches.end(), other.batches.begin(), other.batches.end());
  return out;
}

/// Two pipelines on hosts of their own, in either order: each is as if it were alone.
void side_by_side(std::uint64_t first, std::uint64_t count) {
  std::vector<Scenario> scenarios;
  std::vector<Pair> ones, others;
  for (std::uint64_t seed = first; seed < first + count; ++seed) {
    Pair one{random_case(2 * seed), {}, {}}, other{random_case(2 * seed + 1), {}, {}};
    one.made.batch_rows = other.made.batch_rows = 1;
    other.made.costs = one.made.costs; // a scenario has one profile
    one.before = scenario_of(one.made);
    other.before = scenario_of(other.made);
    one.before.time_resolution_s = other.before.time_resolution_s = 1e-9;
    Scenario together = both(one.before, renamed(other.before, "x"));
    Scenario turned = both(renamed(other.before, "x"), one.before);
    std::reverse(turned.batches.begin(), turned.batches.end());
    for (const Scenario& scenario : {one.before, other.before, together, turned})
      scenarios.push_back(scenario);
    ones.push_back(std::move(one));
    others.push_back(std::move(other));
  }
  const auto results = run_all(scenarios);
  for (std::size_t i = 0; i < ones.size(); ++i)
    for (const std::size_t joint : {2, 3}) {
      INFO(yaml_of(ones[i].made) << yaml_of(others[i].made));
      check_same(ones[i], results[4 * i], results[4 * i + joint]);
      check_same(others[i], results[4 * i + 1], results[4 * i + joint], 1, "x");
    }
}

/// Two subscriptions to one publisher on servers of their own: whichever comes first, and whatever all is
/// called, each gets the same.
void in_any_order(std::uint64_t first, std::uint64_t count) {
  std::vector<Scenario> scenarios;
  std::vector<Pair> pairs;
  const auto second_to = [](Scenario scenario, const std::string& name, const std::string& server) {
    scenario.hosts["far"] = scenario.hosts.at("db");
    scenario.servers[server] = scenario.servers.at("sub");
    scenario.servers.at(server).name = server;
    scenario.servers.at(server).host = "far";
    scenario.links.push_back({"db", "far", 1e8, 0.4 * ms, 50'000});
    scenario.subscriptions[name] = {name, server, "p", Streaming::Off, false};
    return scenario;
  };
  for (std::uint64_t seed = first; seed < first + count; ++seed) {
    Pair pair{random_case(seed), {}, {}};
    pair.before = scenario_of(pair.made);
    pair.made.transactions = pair.before.batches;
    scenarios.push_back(pair.before);
    scenarios.push_back(second_to(pair.before, "zz", "zz"));
    Scenario turned = second_to(pair.before, "aa", "aa");
    std::reverse(turned.batches.begin(), turned.batches.end());
    std::reverse(turned.links.begin(), turned.links.end());
    std::reverse(turned.publications.at("p").tables.begin(), turned.publications.at("p").tables.end());
    scenarios.push_back(renamed(turned, "x"));
    pairs.push_back(std::move(pair));
  }
  const auto results = run_all(scenarios);
  for (std::size_t i = 0; i < pairs.size(); ++i) {
    INFO(yaml_of(pairs[i].made));
    const RunResult &alone = results[3 * i], &with = results[3 * i + 1], &turned = results[3 * i + 2];
    check_same(pairs[i], with, turned, 1, "x");
    for (const char* counter : counters) {
      INFO(counter);
      CHECK(with.subscriptions.at("s").at(counter) == alone.subscriptions.at("s").at(counter));
      CHECK(turned.subscriptions.at("aax").at(counter) == with.subscriptions.at("zz").at(counter));
    }
    CHECK(with.subscriptions.at("s").at("total_s") ==
          Approx(alone.subscriptions.at("s").at("total_s")).margin(1e-9));
    CHECK(turned.subscriptions.at("aax").at("total_s") ==
          Approx(with.subscriptions.at("zz").at("total_s")).margin(1e-9));
  }
}

/// Microseconds in milliseconds, seconds and nanoseconds, rates and sizes in smaller units.
std::string in_other_units(const std::string& yaml, Random& random) {
  static const std::regex quantity(R"((\d[\d.e+-]*)(us|kB/s|kB)\b)");
  std::string out;
  auto rest = yaml.cbegin();
  std::smatch found;
  while (std::regex_search(rest, yaml.cend(), found, quantity)) {
    out.append(rest, found[0].first);
    const double value = std::stod(found[1]);
    const auto unit = random.between(0, 2);
    if (found[2] == "us")
      out += unit == 0   ? fmt::format("{:.17g}ms", value / 1e3)
             : unit == 1 ? fmt::format("{:.17g}s", value / 1e6)
                         : fmt::format("{:.17g}ns", value * 1e3);
    else
      out += fmt::format("{:.17g}{}", value * 1024, found[2] == "kB" ? "B" : "B/s");
    rest = found[0].second;
  }
  out.append(rest, yaml.cend());
  return out;
}

Scenario loaded(const std::string& yaml) {
  const auto path = std::filesystem::temp_directory_path() / "replisim_relations.yaml";
  std::ofstream(path) << yaml;
  Scenario scenario = load_scenario(path, {}, find_library());
  std::filesystem::remove(path);
  return scenario;
}

void other_units(std::uint64_t first, std::uint64_t count) {
  std::vector<Pair> pairs;
  for (std::uint64_t seed = first; seed < first + count; ++seed) {
    Random random(seed, 9);
    Pair pair{random_case(seed), {}, {}};
    const std::string yaml = yaml_of(pair.made), other = in_other_units(yaml, random);
    CHECK(other != yaml);
    pair.before = loaded(yaml);
    pair.after = loaded(other);
    pairs.push_back(std::move(pair));
  }
  const auto runs = run_pairs(pairs);
  for (std::size_t i = 0; i < pairs.size(); ++i) {
    INFO(yaml_of(pairs[i].made));
    check_same(pairs[i], runs[i].before, runs[i].after);
  }
}

constexpr std::uint64_t some = sanitized ? 4 : 25, many = 1'000;

} // namespace

TEST_CASE("random scenarios: a faster disk makes nothing later") { faster_disk(20'001, some); }
TEST_CASE("random scenarios: a faster link makes nothing later") { faster_link(21'001, some); }
TEST_CASE("random scenarios: a faster machine makes nothing later") { faster_machine(22'001, some); }
TEST_CASE("random scenarios: twice the speed and half of every wait is half the time") {
  half_of_everything(23'001, some);
}
TEST_CASE("random scenarios: what only CPUs slow down takes half the time at twice the speed") {
  cpu_bound(24'001, some);
}
TEST_CASE("random scenarios: a statement in two changes nothing but index splits") {
  statements_in_two(25'001, some);
}
TEST_CASE("random scenarios: two pipelines on hosts of their own are each as if alone") {
  side_by_side(26'001, some);
}
TEST_CASE("random scenarios: names and order change nothing, nor does another subscription elsewhere") {
  in_any_order(27'001, some);
}
TEST_CASE("random scenarios: other units are the same quantity") { other_units(28'001, some); }

TEST_CASE("relations hold on many random scenarios", "[.][relations]") {
  faster_disk(30'001, many);
  faster_link(31'001, many);
  faster_machine(32'001, many);
  half_of_everything(33'001, many);
  cpu_bound(34'001, many);
  statements_in_two(35'001, many);
  side_by_side(36'001, many);
  in_any_order(37'001, many);
  other_units(38'001, many);
}
