#include "tests/reference/publisher_part.hpp"

#include <algorithm>
#include <cmath>

namespace reference {

namespace {

/// What a backend does at a date; which transaction ids that takes is known when all are in order.
struct Deed {
  double at_s = 0;
  std::size_t transaction = 0;
  const Act* act = nullptr; ///< null: COMMIT or ROLLBACK
};

std::vector<Deed> deeds_in_order(const Input& input, std::vector<Dates>& dates) {
  std::vector<Deed> deeds;
  for (std::size_t i = 0; i < input.transactions.size(); ++i) {
    double now_s = input.transactions[i].begin_s;
    for (const Act& act : input.transactions[i].acts) {
      if (const auto* row = std::get_if<Row>(&act))
        now_s += row->execute_s;
      else if (const auto* pause = std::get_if<Pause>(&act))
        now_s += pause->seconds;
      deeds.push_back({now_s, i, &act});
    }
    dates[i].statement_end_s = now_s;
    deeds.push_back({now_s, i, nullptr});
  }
  std::stable_sort(deeds.begin(), deeds.end(), [](const Deed& a, const Deed& b) { return a.at_s < b.at_s; });
  return deeds;
}

/// One session: its transaction id and its stack of savepoints.
struct Session {
  struct Level {
    std::string name;
    int xid = 0;
    std::vector<int> released; ///< subtransactions that have become part of it
  };
  std::vector<Level> levels = {Level{}}; ///< the transaction itself comes first
  int top() const { return levels.front().xid; }
};

class Server {
public:
  explicit Server(const Input& input) : input_(input), sessions_(input.transactions.size()) {}
  Publisher out;

  void run() {
    out.transactions.resize(input_.transactions.size());
    for (const Deed& deed : deeds_in_order(input_, out.transactions)) {
      Session& session = sessions_[deed.transaction];
      if (deed.act == nullptr)
        end(deed, session);
      else if (const auto* row = std::get_if<Row>(deed.act))
        change(deed, session, *row);
      else if (const auto* savepoint = std::get_if<Savepoint>(deed.act))
        session.levels.push_back({savepoint->name, 0, {}});
      else if (const auto* release = std::get_if<Release>(deed.act))
        merge(session, release->name);
      else if (const auto* rollback = std::get_if<RollbackTo>(deed.act))
        undo(deed, session, rollback->name);
    }
    std::int64_t lsn = 0;
    for (Record& record : out.wal)
      record.end = lsn += record.bytes;
  }

private:
  void change(const Deed& deed, Session& session, const Row& row) {
    const bool assigns = session.levels.size() > 1 and session.levels.back().xid == 0;
    for (auto& level : session.levels) // parents before their children
      if (level.xid == 0)
        level.xid = ++xids_;
    Record record{Record::Kind::Change, deed.at_s,       -1,
                  row.wal_bytes,        row.wal_records, 0,
                  deed.transaction,     session.top(),   session.levels.back().xid};
    record.bytes += assigns ? input_.assignment_bytes : 0;
    record.row = row;
    out.wal.push_back(record);
    ++out.transactions[deed.transaction].rows;
  }

  /// RELEASE: from the named savepoint on everything becomes part of the level before it.
  static void merge(Session& session, const std::string& name) {
    bool found = false;
    while (not found) {
      const Session::Level level = session.levels.back();
      session.levels.pop_back();
      found = level.name == name;
      if (level.xid == 0)
        continue;
      auto& into = session.levels.back().released;
      into.push_back(level.xid);
      into.insert(into.end(), level.released.begin(), level.released.end());
    }
  }

  void undo(const Deed& deed, Session& session, const std::string& name) {
    while (session.levels.back().name != name)
      abort_innermost(deed, session);
    abort_innermost(deed, session);
    session.levels.push_back({name, 0, {}});
  }

  void abort_innermost(const Deed& deed, Session& session) {
    const Session::Level level = session.levels.back();
    session.levels.pop_back();
    if (level.xid == 0)
      return;
    const int top = session.levels.empty() ? level.xid : session.top();
    const std::int64_t bytes = input_.abort_record_bytes.at(level.released.size());
    const Record record{Record::Kind::Abort, deed.at_s, -1,        bytes,         1, 0,
                        deed.transaction,    top,       level.xid, level.released};
    out.wal.push_back(record);
    out.aborted_s[level.xid] = deed.at_s;
    for (const int xid : level.released)
      out.aborted_s[xid] = deed.at_s;
  }

  void end(const Deed& deed, Session& session) {
    if (input_.transactions[deed.transaction].rolls_back) {
      while (not session.levels.empty())
        abort_innermost(deed, session);
    } else if (session.top() != 0) {
      out.wal.push_back({Record::Kind::Commit, deed.at_s, -1, input_.commit_record_bytes, 1, 0,
                         deed.transaction, session.top(), session.top()});
    }
  }

  const Input& input_;
  std::vector<Session> sessions_;
  int xids_ = 0;
};

/// The disk that holds WAL, and who asks it to flush: commits, and the WAL writer, whose ticks lie half a
/// delay off the clock. Requests are served in order; each writes all that has been inserted.
class Flushing {
public:
  Flushing(const Input& input, std::vector<Record>& wal) : input_(input), wal_(wal) {}

  void run(std::vector<Dates>& transactions) {
    std::vector<std::size_t> commits;
    for (std::size_t i = 0; i < wal_.size(); ++i)
      if (wal_[i].kind == Record::Kind::Commit) {
        transactions[wal_[i].transaction].commit_s = wal_[i].inserted_s;
        if (input_.commit_waits)
          commits.push_back(i);
      }
    std::size_t next_commit = 0;
    double tick_s = next_tick(0);
    while (next_commit < commits.size() or flushed_ < wal_.size()) {
      const bool commit = next_commit < commits.size() and wal_[commits[next_commit]].inserted_s < tick_s;
      if (commit) {
        const std::size_t record = commits[next_commit++];
        flush_through(record, wal_[record].inserted_s);
        transactions[wal_[record].transaction].commit_s = wal_[record].flushed_s;
        continue;
      }
      const std::size_t inserted = inserted_by(tick_s);
      double free_s = tick_s;
      if (inserted > 0)
        free_s = flush_through(inserted - 1, tick_s);
      tick_s = next_tick(free_s);
    }
  }

private:
  double next_tick(double after_s) const {
    return (std::floor(after_s / input_.wal_writer_delay_s + 0.5) + 0.5) * input_.wal_writer_delay_s;
  }

  std::size_t inserted_by(double date_s) const {
    std::size_t count = 0;
    while (count < wal_.size() and wal_[count].inserted_s <= date_s)
      ++count;
    return count;
  }

  /// Returns when `record` is flushed.
  double flush_through(std::size_t record, double asked_s) {
    if (record < flushed_)
      return std::max(asked_s, wal_[record].flushed_s);
    const double begun_s = std::max(asked_s, disk_free_s_);
    const std::size_t target = std::max(record + 1, inserted_by(begun_s));
    std::int64_t bytes = 0;
    for (std::size_t i = flushed_; i < target; ++i)
      bytes += wal_[i].bytes;
    disk_free_s_ = begun_s;
    if (input_.flushes)
      disk_free_s_ += input_.flush_latency_s + static_cast<double>(bytes) / input_.flush_bytes_per_s;
    for (; flushed_ < target; ++flushed_)
      wal_[flushed_].flushed_s = disk_free_s_;
    return disk_free_s_;
  }

  const Input& input_;
  std::vector<Record>& wal_;
  std::size_t flushed_ = 0; ///< records
  double disk_free_s_ = 0;
};

} // namespace

Publisher publish(const Input& input) {
  Server server(input);
  server.run();
  Flushing(input, server.out.wal).run(server.out.transactions);
  return server.out;
}

} // namespace reference
