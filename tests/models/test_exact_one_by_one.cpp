// Clients one by one against the same story told plainly: a list of what happens next, rows with their
// queues, one flush at a time. The two share the numbers drawn and nothing else.
#include "models/exact_clients.hpp"

#include <catch2/catch.hpp>

#include <algorithm>
#include <cmath>
#include <list>
#include <map>
#include <set>

using namespace replisim;

namespace {

const char* const name = "plain";
constexpr std::uint64_t seed = 7;

struct Story {
  int clients = 1;
  double rate_limit = 0;
  std::vector<ExactScript> scripts;
  CpuStretch server, client;
};

class Plain {
public:
  explicit Plain(Story story)
      : story_(std::move(story)), random_(seed, std::string(name) + " transactions one by one") {
    clients_.resize(static_cast<std::size_t>(story_.clients));
    for (int i = 0; i < story_.clients; ++i)
      begin(i, 0);
  }

  std::vector<ExactTransaction> until(double end_s) {
    while (not next_.empty() and next_.begin()->first < end_s) {
      const auto [now_s, who] = *next_.begin();
      next_.erase(next_.begin());
      if (who < 0)
        flushed(now_s);
      else
        go_on(who, now_s);
    }
    return done_;
  }

private:
  using RowName = std::pair<int, double>; // table, number
  struct Client {
    ExactTransaction transaction;
    std::size_t locks = 0;
    std::vector<RowName> held;
    const RowName* wanted = nullptr;
    double wanted_since_s = 0;
  };

  double draw() { return random_.uniform(drawn_++); }
  Client& at(int who) { return clients_[static_cast<std::size_t>(who)]; }
  const ExactScript& script_of(int who) {
    return story_.scripts[static_cast<std::size_t>(at(who).transaction.script)];
  }

  /// Work varies evenly by sqrt(3) / 2 of its mean; waits for a core are exponential.
  double worked(double seconds, const CpuStretch& by) {
    if (seconds <= 0)
      return 0;
    const double own_s = seconds * by.alone * (1 + std::sqrt(0.75) * (2 * draw() - 1));
    const double mean_wait_s = seconds * (by.with_waits - by.alone);
    return own_s + (mean_wait_s > own_s / 1000 ? -std::log(1 - draw()) * mean_wait_s : 0);
  }

  /// On the way from one point, of which `from` says what is left to do, to another.
  void travel(int who, double now_s, const HotRows& from, const HotRows& to) {
    const double server_s = worked(from.server_cpu_s - to.server_cpu_s, story_.server);
    const double client_s = worked(from.client_cpu_s - to.client_cpu_s, story_.client);
    next_.emplace(now_s + server_s + client_s + std::max(0.0, from.latency_s - to.latency_s), who);
  }

  HotRows left_at(int who, std::size_t lock) {
    const auto& locks = script_of(who).demand.locks;
    return lock < locks.size() ? locks[lock] : HotRows{};
  }

  void begin(int who, double now_s) {
    int script = 0;
    if (story_.scripts.size() > 1)
      for (double x = draw(); (x -= story_.scripts[static_cast<std::size_t>(script)].share) >= 0;)
        if (++script + 1 == static_cast<int>(story_.scripts.size()))
          break;
    at(who) = {};
    at(who).transaction.script = script;
    const ClientDemand& demand = script_of(who).demand;
    double from_s = now_s + demand.think_s;
    if (story_.rate_limit > 0) { // the schedule goes on at random, and forgets what nobody was free for
      schedule_s_ += -std::log(1 - draw()) / story_.rate_limit;
      from_s = std::max(from_s, schedule_s_);
      schedule_s_ = std::max(schedule_s_, from_s - story_.clients / story_.rate_limit);
    }
    at(who).transaction.begin_s = from_s;
    travel(who, from_s,
           {.server_cpu_s = demand.server_cpu_s,
            .client_cpu_s = demand.client_cpu_s,
            .latency_s = demand.latency_s},
           left_at(who, 0));
  }

  bool closes_a_circle(int who, int holder) {
    while (holder != who) {
      if (at(holder).wanted == nullptr)
        return false;
      holder = rows_.at(*at(holder).wanted).front();
    }
    return true;
  }

  void go_on(int who, double now_s) {
    Client& client = at(who);
    if (client.locks == script_of(who).demand.locks.size()) {
      (flushing_.empty() ? flushing_ : waiting_).push_back(who);
      if (waiting_.empty() and flushing_.size() == 1)
        next_.emplace(now_s + script_of(who).demand.flush_s, -1);
      return;
    }
    const RowName row{script_of(who).lock_tables[client.locks],
                      std::floor(draw() * script_of(who).demand.locks[client.locks].rows)};
    std::list<int>& queue = rows_[row];
    if (not queue.empty() and queue.front() != who and not closes_a_circle(who, queue.front())) {
      client.wanted = &rows_.find(row)->first;
      client.wanted_since_s = now_s;
      queue.push_back(who);
      return;
    }
    if (queue.empty()) {
      queue.push_back(who);
      client.held.push_back(row);
    }
    has_lock(who, now_s);
  }

  void has_lock(int who, double now_s) {
    const std::size_t lock = at(who).locks++;
    travel(who, now_s, left_at(who, lock), left_at(who, lock + 1));
  }

  void flushed(double now_s) {
    const std::vector<int> committed = std::move(flushing_);
    flushing_ = std::move(waiting_);
    waiting_.clear();
    if (not flushing_.empty())
      next_.emplace(now_s + script_of(flushing_.front()).demand.flush_s, -1);
    for (const int who : committed) {
      at(who).transaction.commit_s = now_s;
      done_.push_back(at(who).transaction);
      for (const RowName& row : at(who).held)
        pass_on(row, now_s);
      begin(who, now_s);
    }
  }

  void pass_on(const RowName& row, double now_s) {
    std::list<int>& queue = rows_.at(row);
    queue.pop_front();
    if (queue.empty()) {
      rows_.erase(row);
      return;
    }
    Client& heir = at(queue.front());
    heir.wanted = nullptr;
    heir.held.push_back(row);
    heir.transaction.lock_wait_s += now_s - heir.wanted_since_s;
    has_lock(queue.front(), now_s);
  }

  Story story_;
  RandomStream random_;
  std::uint64_t drawn_ = 0;
  std::vector<Client> clients_;
  std::set<std::pair<double, int>> next_;  ///< date, client; -1: the flush is over
  std::map<RowName, std::list<int>> rows_; ///< in front: who holds it
  std::vector<int> flushing_, waiting_;
  double schedule_s_ = 0;
  std::vector<ExactTransaction> done_;
};

ClientDemand demand_of(std::vector<HotRows> locks) {
  ClientDemand demand;
  demand.server_cpu_s = 600e-6;
  demand.client_cpu_s = 150e-6;
  demand.latency_s = 70e-6;
  demand.flush_s = 200e-6;
  demand.locks = std::move(locks);
  return demand;
}

/// A hundred transactions of a run, drawn at random, in both tellings.
void check_hundred(const Story& story, double end_s, bool waits_expected) {
  ExactClients clients(story.clients, story.rate_limit, story.scripts, seed, name);
  std::vector<ExactTransaction> found;
  for (int tick = 1; tick <= 100; ++tick) // as in a run: a little at a time
    clients.run(end_s * tick / 100, story.server, story.client, found);
  const std::vector<ExactTransaction> expected = Plain(story).until(end_s);
  REQUIRE(found.size() == expected.size());
  REQUIRE(found.size() > 5'000);
  const RandomStream which(1, "which");
  int waited = 0;
  for (std::uint64_t i = 0; i < 100; ++i) {
    const auto at = static_cast<std::size_t>(which.uniform(i) * static_cast<double>(found.size()));
    INFO("transaction " << at);
    CHECK(found[at].script == expected[at].script);
    CHECK(std::abs(found[at].begin_s - expected[at].begin_s) < 1e-9);
    CHECK(std::abs(found[at].commit_s - expected[at].commit_s) < 1e-9);
    CHECK(std::abs(found[at].lock_wait_s - expected[at].lock_wait_s) < 1e-9);
    waited += expected[at].lock_wait_s > 0 ? 1 : 0;
  }
  CHECK((waited > 10) == waits_expected);
}

} // namespace

TEST_CASE("a hundred transactions drawn at random are as a plain computation says, to 1 ns") {
  const std::vector<HotRows> locks = {
      {1e6, 1, 500e-6, 120e-6, 60e-6}, {100, 1, 300e-6, 80e-6, 40e-6}, {10, 1, 200e-6, 50e-6, 20e-6}};
  const std::vector<HotRows> other_way = {{10, 1, 400e-6, 90e-6, 50e-6}, {100, 1, 100e-6, 40e-6, 10e-6}};
  SECTION("one script, cores to spare") {
    check_hundred({60, 0, {{1, demand_of(locks), {0, 1, 2}}}, {}, {}}, 1, true);
  }
  SECTION("two scripts that take their locks in opposite orders, and wait for cores") {
    check_hundred({40,
                   0,
                   {{0.7, demand_of(locks), {0, 1, 2}}, {0.3, demand_of(other_way), {2, 1}}},
                   {1, 1.4},
                   {1, 1.2}},
                  1, true);
  }
  SECTION("a limited rate, and a pause") {
    ClientDemand demand = demand_of({});
    demand.think_s = 1e-3;
    check_hundred({30, 4'000, {{1, demand, {}}}, {1.5, 1.5}, {}}, 3, false);
  }
}
