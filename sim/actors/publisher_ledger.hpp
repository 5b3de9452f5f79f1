// What a publisher's WAL says so far: transactions in progress, and how many rows of each table are
// committed. Kept where tables are copied to new subscriptions: a copy holds what was committed at its
// snapshot.
//
// Counterpart: snapbuild.c (SnapBuildFindSnapshot): decoding on a new slot can start once every transaction
// that ran at the first record has ended, and then every one that ran when that was so.
#pragma once

#include "sim/actors/wal_log.hpp"

#include <map>
#include <set>
#include <string>
#include <vector>

namespace replisim {

/// Where a new slot starts.
struct SlotStart {
  Lsn restart;    ///< WAL is read from here on: all that is in progress at `consistent` began behind it
  Lsn consistent; ///< the snapshot: what is committed later is decoded
};

class PublisherLedger {
public:
  explicit PublisherLedger(WalLog& wal) : wal_(wal) {
    wal_.on_entry([this](const WalEntry& entry) { observe(entry); });
  }

  /// CREATE_REPLICATION_SLOT: returns when a consistent point is found. `woken` is the caller's own.
  SlotStart find_start(engine::Process& process, engine::Signal& woken);

  Lsn written() const { return wal_.inserted(); }
  const std::set<Xid>& running() const { return running_; }
  /// Row changes of a table committed so far, and inserts less deletes among them.
  Rows changes(const std::string& table) const;
  Rows growth(const std::string& table) const;

private:
  struct Sum {
    Rows changes = 0;
    Rows growth = 0;
  };
  using Sums = std::map<std::string, Sum>;

  void observe(const WalEntry& entry);
  void ended(Xid top);
  void wait_for(engine::Process& process, engine::Signal& woken, const std::set<Xid>& xids);

  WalLog& wal_;
  std::set<Xid> running_;
  std::map<Xid, std::map<Xid, Sums>> open_; ///< by top-level transaction and (sub)transaction
  Sums committed_;
  std::vector<engine::Signal*> waiting_;
};

} // namespace replisim
