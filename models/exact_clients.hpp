// Clients in a closed loop, one by one: each transaction takes its row locks, waits for who holds them, and
// joins a commit flush by itself. The counterpart of models/closed_network, which knows means.
//
// What happens within a client's transaction is played through in order of time: the way to each lock, the
// queue of the row (first come first served, held to the end of the commit), group commit (who comes during a
// flush shares the next one). CPUs are stretched by the contention that the closed network finds; the wait
// for one is exponential.
#pragma once

#include "models/base/random.hpp"
#include "models/closed_network.hpp"

#include <cstdint>
#include <string>
#include <vector>

namespace replisim {

/// One script of a mix: its demands alone, and the table of each lock in `demand.locks`.
struct ExactScript {
  double share = 1; ///< of the transactions
  ClientDemand demand;
  std::vector<int> lock_tables;
};

/// One transaction as it was.
struct ExactTransaction {
  double begin_s = 0;
  double commit_s = 0; ///< COMMIT returned
  double lock_wait_s = 0;
  int script = 0;
};

/// Seconds that a second of reference CPU takes, alone and with its waits.
struct CpuStretch {
  double alone = 1;
  double with_waits = 1;
};

class ExactClients {
public:
  /// `rate_limit`: transactions per second at most, which then begin at random; 0: none.
  ExactClients(int clients, double rate_limit, std::vector<ExactScript> scripts, std::uint64_t seed,
               const std::string& name);

  /// Goes on up to `until_s`; appends what was committed, in order of time.
  void run(double until_s, const CpuStretch& server, const CpuStretch& client,
           std::vector<ExactTransaction>& committed);
  std::int64_t flushes() const { return flushes_; }
  /// Each commit waits so much longer for synchronous standbys, its locks still held.
  void set_sync_wait(double seconds) { sync_wait_s_ = seconds; }

private:
  struct Client {
    ExactTransaction transaction;
    std::size_t next_lock = 0;
    bool flushed = false; ///< and waits for synchronous standbys
    double waits_since_s = 0;
    int waits_for = -1; ///< index of a row in `rows_`
    int next_waiter = -1;
    std::vector<std::uint64_t> held;
  };
  /// A row that somebody has locked: open addressing, keys move together when one goes.
  struct Row {
    std::uint64_t key = 0; ///< 0: free
    int holder = -1, first_waiter = -1, last_waiter = -1;
  };
  struct Event {
    double at_s;
    int client; ///< negative: the flush is over
    bool operator>(const Event& other) const {
      return at_s > other.at_s or (at_s == other.at_s and client > other.client);
    }
  };
  void schedule(double at_s, int client);
  void begin(int client, double now_s);
  void walk(int client, double now_s);
  void reach_lock(int client, double now_s);
  void leave_lock(int client, double now_s);
  void reach_commit(int client, double now_s);
  void flush_over(double now_s);
  void acknowledge(int client, double now_s);
  void finish(int client, double now_s);
  void release(std::uint64_t key, double now_s);
  bool would_deadlock(int client, int holder) const;
  std::size_t find(std::uint64_t key) const;
  void erase(std::size_t at);
  double cpu_s(double demand_s, const CpuStretch& stretch);
  double uniform() { return random_.uniform(drawn_++); }

  double rate_limit_;
  std::vector<ExactScript> scripts_;
  RandomStream random_;
  std::uint64_t drawn_ = 0;
  std::vector<Client> clients_;
  std::vector<Row> rows_;
  std::size_t mask_ = 0;
  std::vector<Event> events_; ///< a heap, the earliest in front
  std::vector<int> flushing_, next_group_;
  double next_start_s_ = 0; ///< with a limited rate
  std::int64_t flushes_ = 0;
  double sync_wait_s_ = 0;
  CpuStretch server_, client_;
  std::vector<ExactTransaction>* committed_ = nullptr;
};

} // namespace replisim
