#include "calibration/live/loads.hpp"

#include "calibration/live/clock.hpp"
#include "models/base/errors.hpp"
#include "sim/run/fork_pool.hpp"

#include <algorithm>
#include <csignal>
#include <fstream>
#include <iterator>

#include <fmt/format.h>

namespace replisim::live {

namespace {

/// A small generator of our own (splitmix64): which rows sessions take.
std::uint64_t next_number(std::uint64_t& state) {
  state += 0x9E3779B97F4A7C15ULL;
  std::uint64_t z = state;
  z = (z ^ (z >> 30U)) * 0xBF58476D1CE4E5B9ULL;
  z = (z ^ (z >> 27U)) * 0x94D049BB133111EBULL;
  return z ^ (z >> 31U);
}

void wait_until(double moment_s) {
  const double left_s = moment_s - now_s();
  if (left_s > 0)
    wait_s(left_s);
  check_interrupt();
}

} // namespace

void require_loads(const Scenario& scenario) {
  const auto refuse = [&](bool has, const char* what) {
    if (has)
      throw UsageError(
          fmt::format("{}: the lab cannot run {}; it runs transactions at given times, pgbench's mixes, "
                      "ddl, sessions and decoding through SQL",
                      scenario.file, what));
  };
  refuse(not scenario.flows.empty(), "flows (`rate`)");
  refuse(not scenario.replays.empty(), "replays");
  refuse(not scenario.other_wal.empty(), "`other_wal`");
  refuse(not scenario.consumers.empty(), "consumers");
  refuse(scenario.clients.size() > 1, "more than one entry of `clients`");
  for (const ClientLoad& load : scenario.clients)
    pgbench_mix(load);
  for (const SessionLoad& load : scenario.sessions)
    refuse(load.rate_per_s > 0, "sessions in an open loop (`rate`)");
  if (scenario.batches.empty() and scenario.clients.empty())
    throw UsageError(fmt::format(
        "{}: nothing happens on the publisher; the lab needs a transaction or clients", scenario.file));
}

Loads::Loads(const Scenario& scenario, const ThrowawayServer& pub, const ThrowawayServer& sub)
    : scenario_(scenario), pub_(pub), sub_(sub), book_(scenario) {}

Loads::~Loads() {
  stop_sessions_ = true;
  for (auto* threads : {&batch_threads_, &session_threads_})
    for (std::thread& thread : *threads)
      if (thread.joinable())
        thread.join();
}

std::string Loads::extra_tables_sql() const {
  std::int64_t most = 0;
  for (const DdlLoad& load : scenario_.ddl)
    most = std::max(most, load.times);
  std::string out;
  for (std::int64_t run = 1; run <= most; ++run)
    out += fmt::format("create table unrelated{} (a int primary key, b text);\n", run);
  return out;
}

void Loads::prepare() {
  for (const BatchLoad& load : scenario_.batches) {
    batch_connections_.emplace_back();
    for (int i = 0; i < load.sessions; ++i)
      batch_connections_.back().push_back(pub_.connect());
  }
  for (const SessionLoad& load : scenario_.sessions)
    for (int i = 0; i < load.clients; ++i)
      session_connections_.push_back(sub_.connect());
  for (std::size_t i = 0; i < scenario_.ddl.size(); ++i)
    ddl_connections_.push_back(pub_.connect());
}

template <class Work>
std::thread Loads::guarded(Work work) {
  return std::thread([this, work] {
    try {
      work();
    } catch (const Interrupted&) {
      const std::scoped_lock lock(mutex_);
      error_ = std::current_exception();
    } catch (const UsageError&) {
      const std::scoped_lock lock(mutex_);
      error_ = std::current_exception();
    }
  });
}

void Loads::start() {
  zero_s_ = now_s();
  for (std::size_t i = 0; i < scenario_.batches.size(); ++i)
    batch_threads_.push_back(guarded([this, i] { run_batch(scenario_.batches[i], batch_connections_[i]); }));
  for (std::size_t i = 0; i < scenario_.ddl.size(); ++i)
    batch_threads_.push_back(guarded([this, i] { run_ddl(scenario_.ddl[i], ddl_connections_[i]); }));
  std::size_t connection = 0;
  for (const SessionLoad& load : scenario_.sessions)
    for (int i = 0; i < load.clients; ++i, ++connection)
      session_threads_.push_back(guarded([this, &load, connection] {
        run_session(load, session_connections_[connection], connection + 1);
      }));
}

void Loads::rethrow() {
  if (error_ != nullptr)
    std::rethrow_exception(error_);
}

void Loads::finish_batches() {
  for (std::thread& thread : batch_threads_)
    thread.join();
  batch_threads_.clear();
  rethrow();
}

void Loads::stop_sessions() {
  stop_sessions_ = true;
  for (std::thread& thread : session_threads_)
    thread.join();
  session_threads_.clear();
  rethrow();
}

void Loads::note(const BatchTimes& times) {
  const std::scoped_lock lock(mutex_);
  if (times_.begin_s == 0 or times.begin_s < times_.begin_s)
    times_.begin_s = times.begin_s;
  times_.statement_s = std::max(times_.statement_s, times.statement_s);
  times_.commit_s = std::max(times_.commit_s, times.commit_s);
}

void Loads::run_batch(const BatchLoad& load, std::vector<Connection>& connections) {
  double due_s = zero_s_ + load.at_s;
  for (std::int64_t run = 0; run < load.times; ++run) {
    wait_until(due_s);
    run_once(load, connections);
    due_s += load.every_s;
  }
}

void Loads::run_once(const BatchLoad& load, std::vector<Connection>& connections) {
  BatchTimes times;
  times.begin_s = now_s();
  for (Connection& connection : connections)
    connection.run("begin");
  const auto before = book_.state();
  std::map<std::string, std::map<std::string, RowRange>> savepoints;
  const auto everywhere = [&](const std::string& sql) {
    for (Connection& connection : connections)
      connection.run(sql);
  };
  for (const TransactionStep& step : load.transaction) {
    if (const auto* statement = std::get_if<StatementStep>(&step)) {
      for (Connection& connection : connections) {
        std::string sql;
        {
          const std::scoped_lock lock(mutex_);
          sql = book_.statement(*statement);
        }
        connection.run(sql);
      }
    } else if (const auto* savepoint = std::get_if<SavepointStep>(&step)) {
      savepoints[savepoint->name] = book_.state();
      everywhere(fmt::format("savepoint {}", quoted_name(savepoint->name)));
    } else if (const auto* back = std::get_if<RollbackToStep>(&step)) {
      book_.restore(savepoints[back->savepoint]);
      everywhere(fmt::format("rollback to {}", quoted_name(back->savepoint)));
    } else if (const auto* release = std::get_if<ReleaseStep>(&step)) {
      everywhere(fmt::format("release {}", quoted_name(release->savepoint)));
    } else if (const auto* pause = std::get_if<PauseStep>(&step)) {
      wait_s(pause->seconds);
    }
  }
  times.statement_s = now_s();
  everywhere(load.rolls_back ? "rollback" : "commit");
  if (load.rolls_back)
    book_.restore(before);
  times.commit_s = now_s();
  note(times);
}

void Loads::run_session(const SessionLoad& load, Connection& connection, std::uint64_t seed) {
  std::uint64_t state = seed;
  wait_until(zero_s_ + load.from_s);
  for (std::int64_t run = 0; load.times == 0 or run < load.times; ++run) {
    if (stop_sessions_ or (load.until_s > 0 and now_s() - zero_s_ >= load.until_s))
      return;
    const double begin_s = now_s();
    connection.run("begin");
    for (const SessionStep& step : load.transaction) {
      if (step.kind == SessionStep::Kind::Pause) {
        wait_s(step.takes_s);
        continue;
      }
      const auto choices = static_cast<std::uint64_t>(std::max<Rows>(1, step.to_row - step.from_row + 1));
      const Rows row = step.first_row > 0 ? step.first_row
                                          : step.from_row + static_cast<Rows>(next_number(state) % choices);
      connection.run(session_sql(step, scenario_.tables.at(step.table), row));
    }
    connection.run(load.rolls_back ? "rollback" : "commit");
    {
      const std::scoped_lock lock(mutex_);
      session_figures_.latencies_s.push_back(now_s() - begin_s);
    }
    // A session begins its next transaction `every` after the end of this one, as the simulator's does.
    const double next_s = std::max(begin_s + load.every_s, now_s());
    while (not stop_sessions_ and now_s() < next_s)
      wait_s(std::min(0.005, next_s - now_s()));
  }
}

void Loads::run_ddl(const DdlLoad& load, Connection& connection) {
  for (std::int64_t run = 1; run <= load.times; ++run) {
    wait_until(zero_s_ + load.at_s + static_cast<double>(run - 1) * load.every_s);
    connection.run(ddl_sql(load, scenario_, run));
  }
}

std::string pgbench_mix(const ClientLoad& load) {
  const bool is_one = load.scripts.size() == 1;
  const std::size_t statements = is_one ? load.scripts.front().statements.size() : 0;
  bool is_pgbench = is_one;
  for (const ClientScript& script : load.scripts)
    for (const ClientStatement& statement : script.statements)
      is_pgbench = is_pgbench and is_pgbench_table(statement.table);
  if (is_pgbench and statements == 5)
    return "tpcb-like";
  if (is_pgbench and statements == 3)
    return "simple-update";
  if (is_pgbench and statements == 1)
    return "select-only";
  throw UsageError(
      fmt::format("workload.{}: the lab runs pgbench's own mixes (`mix: tpcb-like`, simple-update, "
                  "select-only) and no others",
                  load.name));
}

std::int64_t pgbench_scale(const Scenario& scenario) {
  const auto branches = scenario.tables.find("pgbench_branches");
  if (branches != scenario.tables.end())
    return std::max<std::int64_t>(1, branches->second.initial_rows);
  return 1;
}

namespace {

std::vector<std::string> pgbench_to(const ThrowawayServer& server, const Binaries& binaries) {
  if (binaries.pgbench.empty())
    throw UsageError(
        "pgbench is nowhere to be found; install it (apt-get install postgresql-contrib or postgresql-15), "
        "or leave experiments with `mix` out of the plan");
  return {binaries.pgbench.string(),
          "-h",
          server.socket_folder().string(),
          "-p",
          std::to_string(server.port()),
          "-U",
          "postgres"};
}

double number_behind(const std::string& text, const std::string& words) {
  const std::size_t at = text.rfind(words);
  return at == std::string::npos ? 0 : std::strtod(text.c_str() + at + words.size(), nullptr);
}

} // namespace

void initialise_pgbench(std::int64_t scale, const ThrowawayServer& server, Workspace& workspace,
                        const Binaries& binaries) {
  std::vector<std::string> command = pgbench_to(server, binaries);
  for (const std::string& word : {std::string("-i"), std::string("-q"), std::string("-s"),
                                  std::to_string(scale), std::string("postgres")})
    command.push_back(word);
  const auto output = workspace.path() / "pgbench.init.txt";
  const int code = workspace.run("pgbench", command, {output, {}, true});
  if (code != 0)
    throw UsageError(fmt::format("pgbench -i failed on the {} with exit code {}: {}", server.name(), code,
                                 server.last_words()));
}

PgbenchFigures run_pgbench(const ClientLoad& load, const ThrowawayServer& pub, Workspace& workspace,
                           const Binaries& binaries) {
  std::vector<std::string> command = pgbench_to(pub, binaries);
  const int seconds = std::max(1, static_cast<int>(load.until_s - load.from_s + 0.5));
  for (const std::string& word :
       {std::string("-n"), std::string("-c"), std::to_string(load.clients), std::string("-j"),
        std::to_string(load.threads), std::string("-T"), std::to_string(seconds), std::string("-P"),
        std::string("1"), std::string("-b"), pgbench_mix(load)})
    command.push_back(word);
  if (load.rate_per_s > 0) {
    command.emplace_back("-R");
    command.push_back(fmt::format("{}", load.rate_per_s));
  }
  command.emplace_back("postgres");
  const auto output = workspace.path() / fmt::format("pgbench-{:.0f}.txt", now_s() * 1e6);
  PgbenchFigures figures;
  const double begin_s = now_s();
  const int code = workspace.run("pgbench", command, {output, {}, true});
  figures.wall_s = now_s() - begin_s;
  std::ifstream file(output);
  figures.output.assign(std::istreambuf_iterator<char>(file), {});
  if (code != 0)
    throw UsageError(fmt::format("pgbench ended with exit code {}: {}", code, pub.last_words()));
  figures.tps = number_behind(figures.output, "tps = ");
  figures.latency_s = number_behind(figures.output, "latency average = ") * 1e-3;
  figures.transactions = number_behind(figures.output, "actually processed: ");
  return figures;
}

} // namespace replisim::live
