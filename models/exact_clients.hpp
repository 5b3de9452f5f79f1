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

#include <array>
#include <bit>
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
  /// Whose turn it is: a tree over all clients, each inner node the earlier of its two. Equal dates go by
  /// number, the flush first.
  class Turns {
  public:
    static constexpr int flush = -1;
    explicit Turns(int clients);
    double first_s() const { return std::bit_cast<double>(nodes_[1].date); }
    int first() const { return static_cast<int>(nodes_[1].client); }
    void set(int client, double at_s);
    void unset(int client);

  private:
    struct Node {
      std::uint64_t date; ///< the bits of it
      std::int64_t client;
    };
    std::size_t leaves_ = 1;
    std::vector<Node> nodes_; ///< from 1; the children of n are 2n and 2n + 1
  };
  void schedule(double at_s, int client) { turns_.set(client, at_s); }
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
  /// From one lock to the next, to the first, or from the last to the commit: CPU work as it is at the
  /// moment, and the rest.
  struct Cpu {
    double alone_s = 0, wait_s = 0;
  };
  struct Stretch {
    double server_demand_s, client_demand_s, latency_s;
    Cpu server, client;
  };
  static std::vector<Stretch> ways_of(const ClientDemand& demand);
  void stretch(const CpuStretch& server, const CpuStretch& client);
  double passing_s(const Stretch& way, double from_s);
  double cpu_s(const Cpu& work);
  double uniform() {
    if (next_draw_ == draws_.size())
      draw();
    return draws_[next_draw_++];
  }
  void draw();

  double rate_limit_;
  std::vector<ExactScript> scripts_;
  RandomStream random_;
  std::array<double, 64> draws_{}; ///< in blocks, which take less time each
  std::size_t next_draw_ = draws_.size();
  std::uint64_t drawn_ = 0;
  std::vector<Client> clients_;
  std::vector<Row> rows_;
  std::size_t mask_ = 0;
  Turns turns_;
  bool begun_ = false;
  std::vector<int> flushing_, next_group_;
  double next_start_s_ = 0; ///< with a limited rate
  std::int64_t flushes_ = 0;
  double sync_wait_s_ = 0;
  std::vector<std::vector<Stretch>> ways_; ///< by script; one more than it has locks
  std::vector<ExactTransaction>* committed_ = nullptr;
};

} // namespace replisim
