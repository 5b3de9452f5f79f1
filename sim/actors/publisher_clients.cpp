#include "sim/actors/publisher_clients.hpp"

#include "models/base/random.hpp"
#include "models/row_shape.hpp"
#include "models/wal_volume.hpp"

#include <algorithm>
#include <cmath>

namespace replisim {

namespace {
/// Weight of the last tick in the mean number of other threads, and the change of it that matters.
constexpr double others_weight = 0.1;
constexpr double others_tolerance = 0.01;
/// Change of the wait for synchronous standbys that matters: part of it, and seconds.
constexpr double sync_tolerance = 0.01;
constexpr double sync_resolution_s = 1e-6;
/// Change of the CPU of a transaction that matters, where dead row versions come and go.
constexpr double demand_tolerance = 0.01;
/// Response times drawn per tick; each stands for its share of the tick's transactions.
constexpr int draws = 16;
/// Ticks that took longer are made good by shorter ones up to this many ticks.
constexpr double most_behind = 2;

/// The scripts of a load, each with its own demands, and its locks by table.
std::vector<ExactScript> exact_scripts(const PublisherClients::Params& params) {
  std::vector<ExactScript> out;
  std::vector<std::string> names;
  for (std::size_t i = 0; i < params.load->scripts.size(); ++i) {
    ClientLoad alone = *params.load;
    alone.scripts = {params.load->scripts[i]};
    ExactScript script;
    script.share = script_share(*params.load, i);
    script.demand = client_demand(alone, *params.tables, *params.costs, params.route);
    // Locks come in the order of the statements that take them, as client_demand lists them.
    for (const ClientStatement& statement : alone.scripts.front().statements) {
      if (not statement.change or statement.change->operation == Operation::Insert or
          params.tables->at(statement.table).initial_rows == 0)
        continue;
      auto name = std::find(names.begin(), names.end(), statement.table);
      if (name == names.end())
        name = names.insert(names.end(), statement.table);
      script.lock_tables.push_back(static_cast<int>(name - names.begin()));
    }
    out.push_back(std::move(script));
  }
  return out;
}
} // namespace

PublisherClients::PublisherClients(engine::World& world, Params params, WalLog& wal, PublisherState& state,
                                   RunLog& log, std::size_t first_flow, ClientRecord& record)
    : world_(world), params_(std::move(params)), wal_(wal), state_(state), log_(log), first_flow_(first_flow),
      record_(record), demand_(client_demand(*params_.load, *params_.tables, *params_.costs, params_.route)),
      own_cpu_s_(demand_.server_cpu_s), network_(params_.pool, demand_),
      script_carried_(params_.load->scripts.size(), 0.0),
      program_wanted_(world, params_.load->name + " (client program)"),
      program_done_(world, params_.load->name + " (answers)"),
      commits_wanted_(world, params_.load->name + " (commits)") {
  if (params_.exact)
    exact_ = std::make_unique<ExactClients>(params_.pool.clients, params_.pool.rate_limit,
                                            exact_scripts(params_), params_.seed, params_.load->name);
}

/// Whole threads whose mean is `mean`.
int PublisherClients::Threads::next(double mean) {
  carried += mean;
  const int threads = std::max(1, static_cast<int>(std::floor(carried + 0.5)));
  carried = std::clamp(carried - threads, -1.0, 1.0);
  return threads;
}

/// Threads of others since the last look, smoothed.
OtherThreads PublisherClients::others() {
  const double elapsed_s = world_.now() - measured_s_;
  const double server_s = world_.thread_seconds(params_.server);
  const double client_s = world_.thread_seconds(params_.client);
  const bool together = params_.server.value == params_.client.value;
  const double own_s = backends_.used, program_s = program_.used;
  if (elapsed_s > 0) {
    const double own_here_s = own_s - own_server_s_ + (together ? program_s - own_client_s_ : 0);
    const double own_there_s = program_s - own_client_s_ + (together ? own_s - own_server_s_ : 0);
    const auto approach = [](double& mean, double value) {
      mean += others_weight * (std::max(0.0, value) - mean);
    };
    approach(others_.server, (server_s - server_threads_s_ - own_here_s) / elapsed_s);
    approach(others_.client, (client_s - client_threads_s_ - own_there_s) / elapsed_s);
  }
  measured_s_ = world_.now();
  server_threads_s_ = server_s;
  client_threads_s_ = client_s;
  own_server_s_ = own_s;
  own_client_s_ = program_s;
  return others_;
}

/// Renewal theory: over a time t the number of transactions of n clients has variance n t V / R^3 for cycles
/// of mean R and variance V; with a limited rate they come at random.
double PublisherClients::transactions_of(double seconds, std::uint64_t tick) {
  const double mean = cycle_.tps * seconds;
  const double cycle_s = params_.pool.clients / cycle_.tps;
  const bool limited = params_.pool.rate_limit > 0 and cycle_.tps > 0.999 * params_.pool.rate_limit;
  const double variance = limited ? mean : mean * cycle_.response_variance / (cycle_s * cycle_s);
  const RandomStream random(params_.seed, params_.load->name + " transactions");
  const double radius = std::sqrt(-2 * std::log(1 - random.uniform(2 * tick)));
  const double normal = radius * std::cos(2 * M_PI * random.uniform(2 * tick + 1));
  carried_ += mean + std::sqrt(variance) * normal;
  const double whole = std::max(0.0, std::floor(carried_));
  carried_ -= whole;
  return whole;
}

/// The clients go on for a tick; CPUs take what the closed network finds beside the others.
double PublisherClients::run_one_by_one(double seconds) {
  const auto stretch = [](double demand_s, double residence_s, double speed) {
    const double alone = 1 / speed;
    return CpuStretch{alone, demand_s > 0 ? std::max(alone, residence_s / demand_s) : alone};
  };
  done_.clear();
  unacknowledged_ = params_.pool.clients;
  exact_from_s_ = exact_to_s_;
  exact_to_s_ += seconds;
  exact_->run(exact_to_s_, stretch(own_cpu_s_, cycle_.server_cpu_s, params_.pool.server->speed),
              stretch(demand_.client_cpu_s, cycle_.client_cpu_s, params_.pool.client->speed), done_);
  flushes_per_s_ = static_cast<double>(exact_->flushes() - exact_flushes_) / seconds;
  exact_flushes_ = exact_->flushes();
  return static_cast<double>(done_.size());
}

/// The dates of a script's transactions in a tick that took from `from_s` to `to_s`.
std::vector<TransactionDates> PublisherClients::dates_of(std::size_t script, double from_s,
                                                         double to_s) const {
  std::vector<TransactionDates> dates;
  const double pace = (to_s - from_s) / (exact_to_s_ - exact_from_s_);
  for (const ExactTransaction& one : done_)
    if (static_cast<std::size_t>(one.script) == script) {
      const double commit_s = from_s + (one.commit_s - exact_from_s_) * pace + params_.route.flush_s;
      dates.push_back({std::max(0.0, commit_s - (one.commit_s - one.begin_s)), commit_s});
    }
  return dates;
}

void PublisherClients::note_one_by_one(double late_s) {
  for (const ExactTransaction& one : done_) {
    record_.response.add(one.commit_s - one.begin_s + late_s, 1);
    record_.lock_wait.add(one.lock_wait_s, 1);
    record_.times.lock_wait_s += one.lock_wait_s;
  }
}

void PublisherClients::run(engine::Process& process) {
  const ClientLoad& load = *params_.load;
  process.sleep(load.from_s, engine::Activity::Starved);
  record_.begun_s = record_.ended_s = measured_s_ = process.now();
  server_threads_s_ = world_.thread_seconds(params_.server);
  client_threads_s_ = world_.thread_seconds(params_.client);
  cycle_ = network_.solve(others_);
  double due_s = process.now();
  const auto over = [&] {
    return state_.stopped or (load.until_s > 0 and std::max(due_s, process.now()) >= load.until_s - 1e-9);
  };
  for (std::uint64_t tick = 1; not over(); ++tick) {
    const double from_s = process.now();
    due_s = std::max(due_s, from_s - most_behind * params_.tick_s);
    behind_ = std::clamp((from_s - due_s) / params_.tick_s, 0.0, 1.0);
    const double planned_s =
        load.until_s > 0 ? std::min(params_.tick_s, load.until_s - due_s) : params_.tick_s;
    due_s += planned_s;
    heed_dead_versions();
    flushes_per_s_ = cycle_.flushes_per_s;
    const bool goes_on = heed_standbys();
    const double transactions = not goes_on ? 0
                                : exact_    ? run_one_by_one(planned_s)
                                            : started(transactions_of(planned_s, tick));
    execute(process, transactions);
    process.sleep(std::max(0.0, due_s - process.now()), engine::Activity::Starved);
    commit(process, transactions, from_s, process.now());
    note(transactions, planned_s, process.now() - from_s, tick);
    const OtherThreads now = others();
    if (std::abs(now.server - solved_for_.server) > others_tolerance or
        std::abs(now.client - solved_for_.client) > others_tolerance)
      solve(now);
  }
}

void PublisherClients::solve(OtherThreads others) {
  network_.set_sync_wait(sync_wait_s_);
  cycle_ = network_.solve(others);
  solved_for_ = others;
  solved_sync_wait_s_ = sync_wait_s_;
}

/// Until the first one is acknowledged each client has one commit under way and no more.
double PublisherClients::started(double transactions) {
  if (params_.sync == nullptr or not params_.sync->unknown_wait())
    return transactions;
  const double started = std::min(transactions, params_.pool.clients - unacknowledged_);
  unacknowledged_ += started;
  return started;
}

/// Whether commits return at all; how long they wait for it.
bool PublisherClients::heed_standbys() {
  const auto wait_s = params_.sync == nullptr ? 0 : params_.sync->commit_wait_s();
  if (not wait_s)
    return false;
  const bool unknown = params_.sync != nullptr and params_.sync->unknown_wait();
  if (not unknown)
    unacknowledged_ = 0;
  else if (unacknowledged_ >= params_.pool.clients)
    return false;
  sync_wait_s_ = *wait_s;
  if (std::abs(sync_wait_s_ - solved_sync_wait_s_) >
      sync_tolerance * solved_sync_wait_s_ + sync_resolution_s) {
    solve(solved_for_);
    if (exact_)
      exact_->set_sync_wait(sync_wait_s_);
  }
  return true;
}

/// Dead versions that had to stay make statements cost more.
void PublisherClients::heed_dead_versions() {
  if (params_.dead == nullptr)
    return;
  const ClientDemand now =
      client_demand(*params_.load, *params_.tables, *params_.costs, params_.route, params_.dead);
  if (std::abs(now.server_cpu_s - demand_.server_cpu_s) <= demand_tolerance * demand_.server_cpu_s)
    return;
  demand_ = now;
  network_.set_demand(now);
  solve(solved_for_);
}

/// Backends and client program at once, each on its own host.
void PublisherClients::execute(engine::Process& process, double transactions) {
  program_work_s_ = transactions * demand_.client_cpu_s;
  program_busy_ = program_work_s_ > 0;
  if (program_busy_)
    program_wanted_.notify();
  const int threads = backends_.next(
      std::min(cycle_.running_backends * (1 + behind_), static_cast<double>(params_.pool.clients)));
  const double begun_s = process.now();
  process.cpu_on(threads, transactions * demand_.server_cpu_s);
  backends_.used += threads * (process.now() - begun_s);
  while (program_busy_)
    process.wait(program_done_, engine::Activity::Starved);
}

void PublisherClients::run_program(engine::Process& process) {
  while (true) {
    while (not program_busy_)
      process.wait(program_wanted_, engine::Activity::Starved);
    const int threads = program_.next(cycle_.running_clients * (1 + behind_));
    const double begun_s = process.now();
    process.cpu_on(threads, program_work_s_);
    program_.used += threads * (process.now() - begun_s);
    program_busy_ = false;
    program_done_.notify();
  }
}

void PublisherClients::run_commits(engine::Process& process) {
  while (true) {
    while (wal_.flushed() >= to_flush_)
      process.wait(commits_wanted_, engine::Activity::Starved);
    wal_.flush(process, to_flush_);
  }
}

Bytes PublisherClients::wal_bytes(std::size_t script, std::int64_t transactions, std::int64_t& records) {
  const FlowLoad& flow = params_.load->scripts[script].flow;
  const double count = static_cast<double>(transactions);
  ClientWal sum{bytes_carried_ + count * static_cast<double>(commit_record_bytes()),
                records_carried_ + count};
  for (const StatementStep& step : flow.transaction) {
    const Table& table = params_.tables->at(step.table);
    const double rows = count * static_cast<double>(step.rows);
    ClientWal more;
    if (step.operation == Operation::Update) {
      TouchedRows before = touched_[step.table];
      double& touched = state_.touched[step.table]; // cleared by checkpoints, shared with others
      before.since_checkpoint = touched;
      const double lost_hot = params_.dead != nullptr ? params_.dead->lost_hot(step.table) : 0;
      more = random_update_wal(table, before, rows, params_.page_images, lost_hot);
      touched += rows;
      touched_[step.table].since_start += rows;
    } else {
      more = row_wal(table, step.operation);
      more.bytes *= rows;
      more.records *= rows;
    }
    sum.bytes += more.bytes;
    sum.records += more.records;
  }
  records = static_cast<std::int64_t>(sum.records);
  records_carried_ = sum.records - static_cast<double>(records);
  const auto bytes = static_cast<Bytes>(sum.bytes);
  bytes_carried_ = sum.bytes - static_cast<double>(bytes);
  return bytes;
}

/// The commits return evenly over the tick, each when its group has been flushed.
void PublisherClients::commit(engine::Process& process, double transactions, double from_s, double to_s) {
  const std::size_t scripts = params_.load->scripts.size();
  for (std::size_t i = 0; i < scripts; ++i) {
    const FlowLoad& flow = params_.load->scripts[i].flow;
    std::vector<TransactionDates> dates;
    if (exact_)
      dates = dates_of(i, from_s, to_s);
    script_carried_[i] +=
        exact_ ? static_cast<double>(dates.size()) : transactions * script_share(*params_.load, i);
    const auto count = static_cast<std::int64_t>(std::floor(script_carried_[i] + 1e-9));
    script_carried_[i] -= static_cast<double>(count);
    if (flow.transaction.empty() or count == 0)
      continue;
    const double first_s = from_s + (to_s - from_s) / static_cast<double>(count);
    WalEntry entry;
    entry.top = entry.xid = params_.accounted_as[i];
    const Bytes bytes = wal_bytes(i, count, entry.records);
    Bytes queued = 0;
    for (const StatementStep& step : flow.transaction)
      queued += count * step.rows * row_shape(params_.tables->at(step.table), step).bytes();
    const double share = static_cast<double>(count) / std::max(1.0, transactions * demand_.flush_share);
    FlowCommitted what;
    what.flow = &flow;
    what.transactions = count;
    what.first_commit_s = first_s + params_.route.flush_s;
    what.last_commit_s = to_s + params_.route.flush_s;
    what.queued_bytes = queued;
    what.commit_groups = flushes_per_s_ * (to_s - from_s) * share;
    what.span_s = what.gathered_s = to_s - from_s;
    what.first_begin_s = std::max(0.0, what.first_commit_s - cycle_.latency_s);
    what.last_begin_s = std::max(0.0, what.last_commit_s - cycle_.latency_s);
    if (exact_) {
      what.first_begin_s = dates.front().begin_s, what.last_begin_s = dates.back().begin_s;
      what.first_commit_s = dates.front().commit_s, what.last_commit_s = dates.back().commit_s;
      what.dates = std::make_shared<const std::vector<TransactionDates>>(std::move(dates));
      what.all_noted = true;
    }
    entry.what = what;
    TransactionRecord& record = log_.flows[first_flow_ + i];
    record.wal_bytes += bytes;
    record.transactions += count;
    for (const StatementStep& step : flow.transaction)
      record.rows_written += step.rows * count;
    const Lsn end = wal_.insert(process, bytes, std::move(entry));
    state_.last_commit = std::max(state_.last_commit, end);
    record.commit_s = process.now();
    if (params_.route.flush_s > 0)
      to_flush_ = end;
  }
  if (wal_.flushed() < to_flush_)
    commits_wanted_.notify();
}

void PublisherClients::note(double transactions, double planned_s, double seconds, std::uint64_t tick) {
  record_.transactions += transactions;
  record_.ended_s = world_.now();
  lateness_ += others_weight * (seconds / planned_s - 1 - lateness_);
  ClientCycle& sum = record_.times;
  sum.server_cpu_s += transactions * cycle_.server_cpu_s;
  sum.client_cpu_s += transactions * cycle_.client_cpu_s;
  sum.latency_s += transactions * cycle_.latency_s;
  sum.lock_wait_s += exact_ ? 0 : transactions * cycle_.lock_wait_s;
  sum.flush_s += transactions * cycle_.flush_s;
  sum.pause_s += transactions * cycle_.pause_s;
  sum.sync_wait_s += transactions * cycle_.sync_wait_s;
  sum.flushes_per_s += flushes_per_s_ * seconds;
  if (transactions <= 0)
    return;
  // Where ticks keep taking longer than foreseen, each transaction waits for cores.
  const double late_s = std::max(0.0, lateness_) * params_.pool.clients / cycle_.tps;
  if (exact_) {
    note_one_by_one(late_s);
    return;
  }
  std::uint64_t next = tick << 12;
  const RandomStream random(params_.seed, params_.load->name + " response times");
  for (int i = 0; i < draws; ++i)
    record_.response.add(network_.sample_response_s([&] { return random.uniform(next++); }) + late_s,
                         transactions / draws);
}

} // namespace replisim
