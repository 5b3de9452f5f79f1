#include "models/exact_clients.hpp"

#include "models/base/check.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>
#include <utility>

namespace replisim {

namespace {

constexpr double never = std::numeric_limits<double>::infinity();
/// CPU work between two locks varies evenly by up to this part of its mean: a squared coefficient of
/// variation of 0.25, as the closed network takes it. Without it clients would march in step with the
/// flushes.
constexpr double variation = 0.8660254037844386;
/// Waits shorter than this part of the work itself are not drawn.
constexpr double no_wait = 1e-3;

std::uint64_t row_key(int table, double row) {
  return (static_cast<std::uint64_t>(table + 1) << 40) | static_cast<std::uint64_t>(row);
}

std::uint64_t mixed(std::uint64_t key) {
  key *= 0x9e3779b97f4a7c15ULL;
  return key ^ (key >> 29);
}

} // namespace

/// What is left to do at each lock tells what lies between it and the next one.
std::vector<ExactClients::Stretch> ExactClients::ways_of(const ClientDemand& demand) {
  std::vector<Stretch> ways;
  HotRows left{.server_cpu_s = demand.server_cpu_s,
               .client_cpu_s = demand.client_cpu_s,
               .latency_s = demand.latency_s};
  for (std::size_t i = 0; i <= demand.locks.size(); ++i) {
    const HotRows next = i < demand.locks.size() ? demand.locks[i] : HotRows{};
    ways.push_back({left.server_cpu_s - next.server_cpu_s,
                    left.client_cpu_s - next.client_cpu_s,
                    std::max(0.0, left.latency_s - next.latency_s),
                    {},
                    {}});
    left = next;
  }
  return ways;
}

ExactClients::ExactClients(int clients, double rate_limit, std::vector<ExactScript> scripts,
                           std::uint64_t seed, const std::string& name)
    : rate_limit_(rate_limit), scripts_(std::move(scripts)), random_(seed, name + " transactions one by one"),
      turns_(clients) {
  REPLISIM_REQUIRE(clients >= 1 and not scripts_.empty(), "{} clients with {} scripts", clients,
                   scripts_.size());
  std::size_t most_locks = 1;
  for (ExactScript& script : scripts_) {
    REPLISIM_REQUIRE(script.lock_tables.size() == script.demand.locks.size(), "a lock without its table");
    // A statement that changes several rows takes their locks at one moment.
    std::vector<HotRows> locks;
    std::vector<int> tables;
    for (std::size_t i = 0; i < script.lock_tables.size(); ++i)
      for (long long k = 0; k < std::max(1LL, std::llround(script.demand.locks[i].share)); ++k) {
        locks.push_back(script.demand.locks[i]);
        tables.push_back(script.lock_tables[i]);
      }
    script.demand.locks = std::move(locks);
    script.lock_tables = std::move(tables);
    most_locks = std::max(most_locks, script.lock_tables.size());
    ways_.push_back(ways_of(script.demand));
  }
  std::size_t size = 64;
  while (size < 4 * static_cast<std::size_t>(clients) * most_locks)
    size *= 2;
  rows_.resize(size);
  mask_ = size - 1;
  clients_.resize(static_cast<std::size_t>(clients));
}

ExactClients::Turns::Turns(int clients) {
  while (leaves_ < static_cast<std::size_t>(clients) + 1)
    leaves_ *= 2;
  nodes_.resize(2 * leaves_, {std::bit_cast<std::uint64_t>(never), flush});
}

/// Dates are not negative: their bits are in the order of their values. Nothing here branches.
void ExactClients::Turns::set(int client, double at_s) {
  std::size_t at = leaves_ + static_cast<std::size_t>(client - flush);
  Node earliest = nodes_[at] = {std::bit_cast<std::uint64_t>(at_s), client};
  for (; at > 1; at /= 2) {
    const Node other = nodes_[at ^ 1];
    const bool is_other = other.date < earliest.date + (at & 1); // the lower number goes first
    earliest.date = is_other ? other.date : earliest.date;
    earliest.client = is_other ? other.client : earliest.client;
    nodes_[at / 2] = earliest;
  }
}

void ExactClients::Turns::unset(int client) { set(client, never); }

void ExactClients::run(double until_s, const CpuStretch& server, const CpuStretch& client,
                       std::vector<ExactTransaction>& committed) {
  stretch(server, client);
  committed_ = &committed;
  if (not std::exchange(begun_, true))
    for (int i = 0; i < static_cast<int>(clients_.size()); ++i)
      begin(i, 0);
  // Whoever's turn it is gets another one, or is taken out of turn until somebody gives it one.
  while (turns_.first_s() < until_s) {
    const double now_s = turns_.first_s();
    if (turns_.first() == Turns::flush)
      flush_over(now_s);
    else
      walk(turns_.first(), now_s);
  }
}

/// CPUs are as fast as they are from now on.
void ExactClients::stretch(const CpuStretch& server, const CpuStretch& client) {
  const auto cpu = [](double demand_s, const CpuStretch& by) {
    return demand_s > 0 ? Cpu{demand_s * by.alone, demand_s * (by.with_waits - by.alone)} : Cpu{};
  };
  for (std::vector<Stretch>& ways : ways_)
    for (Stretch& way : ways) {
      way.server = cpu(way.server_demand_s, server);
      way.client = cpu(way.client_demand_s, client);
    }
}

void ExactClients::draw() {
  for (double& next : draws_)
    next = random_.uniform(drawn_++);
  next_draw_ = 0;
}

double ExactClients::cpu_s(const Cpu& work) {
  if (work.alone_s <= 0)
    return 0;
  const double alone_s = work.alone_s * (1 + variation * (2 * uniform() - 1));
  return work.wait_s > no_wait * alone_s ? alone_s - std::log1p(-uniform()) * work.wait_s : alone_s;
}

/// The date at which a client has gone this way.
double ExactClients::passing_s(const Stretch& way, double from_s) {
  const double served_s = from_s + cpu_s(way.server);
  return served_s + cpu_s(way.client) + way.latency_s;
}

/// A pause, then the way to the first lock, or to the commit.
void ExactClients::begin(int index, double now_s) {
  Client& client = clients_[static_cast<std::size_t>(index)];
  int chosen = 0;
  if (scripts_.size() > 1)
    for (double left = uniform(); chosen + 1 < static_cast<int>(scripts_.size()); ++chosen)
      if ((left -= scripts_[static_cast<std::size_t>(chosen)].share) < 0)
        break;
  const ClientDemand& demand = scripts_[static_cast<std::size_t>(chosen)].demand;
  double from_s = now_s + demand.think_s;
  if (rate_limit_ > 0) {
    next_start_s_ -= std::log1p(-uniform()) / rate_limit_;
    from_s = std::max(from_s, next_start_s_);
    next_start_s_ = std::max(next_start_s_, from_s - static_cast<double>(clients_.size()) / rate_limit_);
  }
  client.transaction = {from_s, 0, 0, chosen};
  client.next_lock = 0;
  schedule(passing_s(ways_[static_cast<std::size_t>(chosen)].front(), from_s), index);
}

/// The client is at its next lock, or has none left.
void ExactClients::walk(int index, double now_s) {
  const Client& client = clients_[static_cast<std::size_t>(index)];
  const ExactScript& script = scripts_[static_cast<std::size_t>(client.transaction.script)];
  if (client.flushed)
    finish(index, now_s);
  else if (client.next_lock < script.lock_tables.size())
    reach_lock(index, now_s);
  else
    reach_commit(index, now_s);
}

void ExactClients::reach_lock(int index, double now_s) {
  Client& client = clients_[static_cast<std::size_t>(index)];
  const ExactScript& script = scripts_[static_cast<std::size_t>(client.transaction.script)];
  const HotRows& hot = script.demand.locks[client.next_lock];
  const std::uint64_t key =
      row_key(script.lock_tables[client.next_lock], std::floor(uniform() * std::max(1.0, hot.rows)));
  const std::size_t at = find(key);
  Row& row = rows_[at];
  if (row.key == key and row.holder != index and not would_deadlock(index, row.holder)) {
    client.waits_since_s = now_s;
    client.waits_for = row.holder;
    client.next_waiter = -1;
    (row.last_waiter < 0 ? row.first_waiter
                         : clients_[static_cast<std::size_t>(row.last_waiter)].next_waiter) = index;
    row.last_waiter = index;
    turns_.unset(index);
    return;
  }
  if (row.key == 0) {
    row = {key, index, -1, -1};
    client.held.push_back(key);
  }
  leave_lock(index, now_s);
}

/// The client has its lock: the way to the next one, or to the commit.
void ExactClients::leave_lock(int index, double now_s) {
  Client& client = clients_[static_cast<std::size_t>(index)];
  ++client.next_lock;
  schedule(passing_s(ways_[static_cast<std::size_t>(client.transaction.script)][client.next_lock], now_s),
           index);
}

/// Waiting in a circle is what PostgreSQL breaks after deadlock_timeout; here it does not come about.
bool ExactClients::would_deadlock(int index, int holder) const {
  for (int at = holder; at >= 0; at = clients_[static_cast<std::size_t>(at)].waits_for)
    if (at == index)
      return true;
  return false;
}

void ExactClients::reach_commit(int index, double now_s) {
  const Client& client = clients_[static_cast<std::size_t>(index)];
  const ClientDemand& demand = scripts_[static_cast<std::size_t>(client.transaction.script)].demand;
  if (demand.flush_share <= 0 or demand.flush_s <= 0) {
    (demand.write_share > 0 ? acknowledge(index, now_s) : finish(index, now_s));
    return;
  }
  turns_.unset(index);
  if (not flushing_.empty()) {
    next_group_.push_back(index);
    return;
  }
  flushing_.push_back(index);
  schedule(now_s + demand.flush_s, Turns::flush);
}

void ExactClients::flush_over(double now_s) {
  ++flushes_;
  std::vector<int> done;
  std::swap(done, flushing_);
  std::swap(flushing_, next_group_);
  if (flushing_.empty()) {
    turns_.unset(Turns::flush);
  } else {
    const Client& first = clients_[static_cast<std::size_t>(flushing_.front())];
    schedule(now_s + scripts_[static_cast<std::size_t>(first.transaction.script)].demand.flush_s,
             Turns::flush);
  }
  for (const int index : done)
    acknowledge(index, now_s);
  if (next_group_.empty()) {
    done.clear();
    std::swap(next_group_, done); // keeps its memory
  }
}

/// SyncRepWaitForLSN: the transaction is safe here and still shows as running.
void ExactClients::acknowledge(int index, double now_s) {
  if (sync_wait_s_ <= 0) {
    finish(index, now_s);
    return;
  }
  clients_[static_cast<std::size_t>(index)].flushed = true;
  schedule(now_s + sync_wait_s_, index);
}

/// COMMIT returns: locks go to who waits for them, and the client begins anew.
void ExactClients::finish(int index, double now_s) {
  Client& client = clients_[static_cast<std::size_t>(index)];
  client.transaction.commit_s = now_s;
  client.flushed = false;
  committed_->push_back(client.transaction);
  for (const std::uint64_t key : client.held)
    release(key, now_s);
  client.held.clear();
  begin(index, now_s);
}

void ExactClients::release(std::uint64_t key, double now_s) {
  const std::size_t at = find(key);
  Row& row = rows_[at];
  if (row.first_waiter < 0) {
    erase(at);
    return;
  }
  const int next = row.first_waiter;
  Client& client = clients_[static_cast<std::size_t>(next)];
  row.first_waiter = client.next_waiter;
  if (row.first_waiter < 0)
    row.last_waiter = -1;
  row.holder = next;
  for (int waiter = row.first_waiter; waiter >= 0;
       waiter = clients_[static_cast<std::size_t>(waiter)].next_waiter)
    clients_[static_cast<std::size_t>(waiter)].waits_for = next;
  client.waits_for = -1;
  client.transaction.lock_wait_s += now_s - client.waits_since_s;
  client.held.push_back(key);
  leave_lock(next, now_s);
}

/// The place of a key, or the free place where it would go.
std::size_t ExactClients::find(std::uint64_t key) const {
  std::size_t at = mixed(key) & mask_;
  while (rows_[at].key != 0 and rows_[at].key != key)
    at = (at + 1) & mask_;
  return at;
}

void ExactClients::erase(std::size_t at) {
  for (std::size_t next = (at + 1) & mask_; rows_[next].key != 0; next = (next + 1) & mask_) {
    const std::size_t home = mixed(rows_[next].key) & mask_;
    if (((next - home) & mask_) < ((next - at) & mask_))
      continue; // it stands between its home and the gap
    rows_[at] = rows_[next];
    at = next;
  }
  rows_[at] = {};
}

} // namespace replisim
