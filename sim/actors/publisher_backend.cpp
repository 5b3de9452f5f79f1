#include "sim/actors/publisher_backend.hpp"

#include "models/backend_cost.hpp"
#include "models/base/check.hpp"
#include "models/row_shape.hpp"
#include "models/wal_volume.hpp"

#include <algorithm>

namespace replisim {

PublisherBackend::PublisherBackend(Params params, WalLog& wal, PublisherState& state, RunLog& log)
    : params_(params), wal_(wal), state_(state), log_(log) {}

void PublisherBackend::run(engine::Process& process) {
  if (params_.load == nullptr) {
    run_replay(process);
    return;
  }
  for (std::int64_t i = 0; i < params_.load->times; ++i) {
    const double start_s = params_.load->at_s + static_cast<double>(i) * params_.load->every_s;
    process.sleep(std::max(0.0, start_s - process.now()), engine::Activity::Starved);
    if (state_.stopped)
      return;
    run_once(process, {params_.load->name, params_.load->server, params_.load->transaction,
                       params_.load->rolls_back, 0, params_.load->prepared_for_s});
  }
}

void PublisherBackend::run_replay(engine::Process& process) {
  const ReplayLoad& load = *params_.replay.load;
  for (const std::size_t turn : params_.replay.turns) {
    const ReplayedTransaction& recorded = load.transactions[turn];
    process.sleep(std::max(0.0, recorded.at_s - process.now()), engine::Activity::Starved);
    if (state_.stopped)
      return;
    run_once(process, {load.name, load.server, load.distinct[recorded.steps], recorded.rolls_back,
                       recorded.lasts_s, -1});
  }
}

void PublisherBackend::run_once(engine::Process& process, const Work& work) {
  index_ = log_.transactions.size();
  log_.transactions.emplace_back();
  top_ = {};
  savepoints_.clear();
  released_.clear();
  record().name = work.name;
  record().server = work.server;
  record().begin_s = process.now();
  lasts_s_ = work.lasts_s;
  rows_to_do_ = 0;
  for (const auto& step : work.steps)
    if (const auto* statement = std::get_if<StatementStep>(&step))
      rows_to_do_ += statement->rows;
  for (const auto& step : work.steps) {
    if (const auto* statement = std::get_if<StatementStep>(&step))
      execute(process, *statement);
    else if (const auto* savepoint = std::get_if<SavepointStep>(&step))
      savepoints_.push_back({savepoint->name, {}, record().rows_written - record().rows_rolled_back, {}});
    else if (const auto* pause = std::get_if<PauseStep>(&step))
      process.sleep(pause->seconds, engine::Activity::Starved);
    else if (const auto* released = std::get_if<ReleaseStep>(&step))
      release(released->savepoint);
    else
      rollback_to(process, std::get<RollbackToStep>(step).savepoint);
  }
  record().statement_end_s = process.now();
  const bool prepared = work.prepared_for_s >= 0 and top_.valid();
  if (prepared) {
    prepare(process);
    process.sleep(work.prepared_for_s, engine::Activity::Starved);
  }
  if (work.rolls_back)
    roll_back(process, prepared);
  else
    commit(process, prepared);
}

Xid PublisherBackend::current_xid() {
  if (not top_.valid()) {
    top_ = state_.xids.next();
    record().xid = top_;
  }
  if (savepoints_.empty())
    return top_;
  for (auto& savepoint : savepoints_) // parents get their xids before their children
    if (not savepoint.subxid.valid())
      savepoint.subxid = state_.xids.next();
  return savepoints_.back().subxid;
}

void PublisherBackend::execute(engine::Process& process, const StatementStep& statement) {
  const Table& table = params_.tables->at(statement.table);
  const double seconds = backend_row_seconds(*params_.costs, table, statement);
  Rows first = 1;
  if (statement.operation == Operation::Insert) {
    first = state_.next_row.at(statement.table);
    state_.next_row.at(statement.table) += statement.rows;
  }
  WalVolume before;
  for (Rows done = 0; done < statement.rows;) {
    const Rows rows = std::min(params_.batch_rows, statement.rows - done);
    process.cpu(static_cast<double>(rows) * seconds);
    done += rows;
    const WalVolume after = statement_wal(table, statement, done, params_.full_page_images);
    const Xid known = savepoints_.empty() ? top_ : savepoints_.back().subxid;
    const Xid xid = current_xid();
    // A subtransaction's first record also carries the top-level xid.
    const Bytes assignment = xid != top_ and not known.valid() ? top_xid_bytes() : 0;
    WalEntry entry{{},
                   {},
                   top_,
                   xid,
                   after.records - before.records,
                   RowsWritten{&statement, &table, {first + done - rows, rows}}};
    wal_.insert(process, after.bytes - before.bytes + assignment, std::move(entry));
    record().wal_bytes += after.bytes - before.bytes + assignment;
    record().rows_written += rows;
    before = after;
    keep_pace(process, record().rows_written);
  }
}

/// A replayed transaction is not faster than it was; its rows come evenly.
void PublisherBackend::keep_pace(engine::Process& process, Rows done) {
  if (lasts_s_ <= 0 or rows_to_do_ == 0)
    return;
  const double due_s =
      record().begin_s + lasts_s_ * static_cast<double>(done) / static_cast<double>(rows_to_do_);
  process.sleep(std::max(0.0, due_s - process.now()), engine::Activity::Starved);
}

/// The subtransaction is over, with those within it: they are part of the level above
/// (AtSubCommit_childXids).
void PublisherBackend::release(const std::string& name) {
  for (bool found = false; not found;) {
    REPLISIM_REQUIRE(not savepoints_.empty(), "release of unknown savepoint {}", name);
    const Savepoint inner = savepoints_.back();
    savepoints_.pop_back();
    found = inner.name == name;
    if (not inner.subxid.valid())
      continue;
    auto& into = savepoints_.empty() ? released_ : savepoints_.back().released;
    into.push_back(inner.subxid);
    into.insert(into.end(), inner.released.begin(), inner.released.end());
  }
}

void PublisherBackend::rollback_to(engine::Process& process, const std::string& name) {
  for (bool found = false; not found;) { // innermost first, as AbortSubTransaction unwinds the stack
    REPLISIM_REQUIRE(not savepoints_.empty(), "rollback to unknown savepoint {}", name);
    found = savepoints_.back().name == name;
    abort_innermost(process);
  }
  savepoints_.push_back({name, {}, record().rows_written - record().rows_rolled_back, {}});
}

void PublisherBackend::abort_innermost(engine::Process& process) {
  const Savepoint undone = savepoints_.back();
  savepoints_.pop_back();
  record().rows_rolled_back = record().rows_written - undone.rows_at_start;
  if (not undone.subxid.valid())
    return;
  state_.status.mark_aborted(undone.subxid);
  for (const Xid released : undone.released)
    state_.status.mark_aborted(released);
  const Bytes bytes = abort_record_bytes(undone.released.size());
  wal_.insert(process, bytes, {{}, {}, top_, undone.subxid, 1, SubtransactionAborted{undone.released}});
  record().wal_bytes += bytes;
}

/// PREPARE TRANSACTION: its state is flushed whatever synchronous_commit says (twophase.c, EndPrepare).
void PublisherBackend::prepare(engine::Process& process) {
  const Lsn end = wal_.insert(process, prepare_record_bytes(), {{}, {}, top_, top_, 1, Prepared{}});
  record().wal_bytes += prepare_record_bytes();
  wal_.flush(process, end);
  if (params_.sync != nullptr)
    params_.sync->wait(process, end);
}

/// COMMIT, or COMMIT PREPARED, which always waits for its flush (RecordTransactionCommitPrepared).
void PublisherBackend::commit(engine::Process& process, bool prepared) {
  record().commit_record_s = process.now();
  if (top_.valid()) {
    const Bytes bytes = commit_record_bytes() + (prepared ? prepared_name_bytes() : 0);
    const Lsn end =
        wal_.insert(process, bytes, {{}, {}, top_, top_, 1, Committed{index_, record().begin_s, prepared}});
    record().wal_bytes += bytes;
    state_.last_commit = std::max(state_.last_commit, end);
    if (params_.waits_for_flush or prepared)
      wal_.flush(process, end);
    if (params_.sync != nullptr)
      params_.sync->wait(process, end);
  }
  record().commit_s = process.now();
  record().committed = true;
}

void PublisherBackend::roll_back(engine::Process& process, bool prepared) {
  std::vector<Xid> members = released_;
  for (const Savepoint& open : savepoints_) // what is prepared has no subtransactions of its own any more
    if (prepared and open.subxid.valid()) {
      members.push_back(open.subxid);
      members.insert(members.end(), open.released.begin(), open.released.end());
    }
  while (not prepared and not savepoints_.empty()) // each open one writes an abort record of its own
    abort_innermost(process);
  record().rows_rolled_back = record().rows_written;
  if (top_.valid()) {
    state_.status.mark_aborted(top_);
    for (const Xid member : members)
      state_.status.mark_aborted(member);
    const Bytes bytes = abort_record_bytes(members.size()) + (prepared ? prepared_name_bytes() : 0);
    const Lsn end = wal_.insert(process, bytes, {{}, {}, top_, top_, 1, RolledBack{members, prepared}});
    record().wal_bytes += bytes;
    if (prepared) {
      state_.last_commit = std::max(state_.last_commit, end); // subscribers wait for it
      wal_.flush(process, end);
    }
  }
  record().commit_s = process.now();
}

} // namespace replisim
