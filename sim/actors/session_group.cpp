#include "sim/actors/session_group.hpp"

#include "models/backend_cost.hpp"
#include "models/row_shape.hpp"
#include "models/wal_volume.hpp"

#include <algorithm>

namespace replisim {

namespace {
/// A step is worked off in so many parts: sessions of one part write their WAL at the same moment.
constexpr std::size_t parts_of_step = 32;
} // namespace

SessionGroup::SessionGroup(PublisherBackend::Params params, int cpus, WalLog& wal, PublisherState& state,
                           RunLog& log)
    : params_(params), cpus_(std::min(cpus, params.load->sessions)), wal_(wal), state_(state), log_(log) {}

void SessionGroup::run(engine::Process& process) {
  for (std::int64_t i = 0; i < params_.load->times; ++i) {
    const double start_s = params_.load->at_s + static_cast<double>(i) * params_.load->every_s;
    process.sleep(std::max(0.0, start_s - process.now()), engine::Activity::Starved);
    if (state_.stopped)
      return;
    run_once(process);
  }
}

void SessionGroup::run_once(engine::Process& process) {
  indexes_.clear();
  for (std::size_t session = 0; session < sessions(); ++session) {
    indexes_.push_back(log_.transactions.size());
    log_.transactions.emplace_back();
    auto& record = log_.transactions.back();
    record.name = params_.load->name;
    record.server = params_.load->server;
    record.begin_s = process.now();
  }
  for (const auto& step : params_.load->transaction) {
    if (const auto* statement = std::get_if<StatementStep>(&step))
      execute(process, *statement);
    else
      process.sleep(std::get<PauseStep>(step).seconds, engine::Activity::Starved);
  }
  if (params_.load->two_phase()) {
    prepare(process);
    process.sleep(params_.load->prepared_for_s, engine::Activity::Starved);
  }
  end(process);
}

void SessionGroup::execute(engine::Process& process, const StatementStep& statement) {
  const Table& table = params_.tables->at(statement.table);
  const double seconds = backend_row_seconds(*params_.costs, table, statement);
  const std::size_t parts = std::min(parts_of_step, sessions());
  for (std::size_t part = 0; part < parts; ++part) {
    const std::size_t begin = sessions() * part / parts, end = sessions() * (part + 1) / parts;
    process.cpu_on(cpus_, static_cast<double>(end - begin) * static_cast<double>(statement.rows) * seconds);
    for (std::size_t session = begin; session < end; ++session)
      write(process, session, statement);
  }
}

void SessionGroup::write(engine::Process& process, std::size_t session, const StatementStep& statement) {
  auto& record = log_.transactions[indexes_[session]];
  if (not record.xid.valid())
    record.xid = state_.xids.next();
  Rows first = 1;
  if (statement.operation == Operation::Insert) {
    first = state_.next_row.at(statement.table);
    state_.next_row.at(statement.table) += statement.rows;
  }
  const Table& table = params_.tables->at(statement.table);
  const WalVolume volume = statement_wal(table, statement, statement.rows, params_.full_page_images);
  wal_.insert(process, volume.bytes,
              {{},
               {},
               record.xid,
               record.xid,
               volume.records,
               RowsWritten{&statement, &table, {first, statement.rows}}});
  record.wal_bytes += volume.bytes;
  record.rows_written += statement.rows;
  record.statement_end_s = process.now();
}

/// All prepare together; one flush serves them.
void SessionGroup::prepare(engine::Process& process) {
  Lsn last;
  for (const std::size_t index : indexes_) {
    auto& record = log_.transactions[index];
    if (not record.xid.valid())
      continue;
    last = wal_.insert(process, prepare_record_bytes(), {{}, {}, record.xid, record.xid, 1, Prepared{}});
    record.wal_bytes += prepare_record_bytes();
  }
  wal_.flush(process, last);
  if (params_.sync != nullptr)
    params_.sync->wait(process, last);
}

/// All sessions end together; one flush serves them.
void SessionGroup::end(engine::Process& process) {
  process.cpu_on(cpus_, static_cast<double>(sessions()) * params_.costs->backend_transaction_s);
  const bool rolls_back = params_.load->rolls_back;
  Lsn last;
  for (const std::size_t index : indexes_) {
    auto& record = log_.transactions[index];
    record.commit_record_s = process.now();
    if (not record.xid.valid())
      continue;
    if (rolls_back) {
      state_.status.mark_aborted(record.xid);
      record.rows_rolled_back = record.rows_written;
    }
    const bool prepared = params_.load->two_phase();
    const Bytes bytes =
        (rolls_back ? abort_record_bytes() : commit_record_bytes()) + (prepared ? prepared_name_bytes() : 0);
    WalEntry entry{{}, {}, record.xid, record.xid, 1, RolledBack{{}, prepared}};
    if (not rolls_back)
      entry.what = Committed{index, record.begin_s, prepared};
    last = wal_.insert(process, bytes, std::move(entry));
    record.wal_bytes += bytes;
  }
  if ((params_.load->two_phase() or not rolls_back) and last.value > 0) {
    state_.last_commit = std::max(state_.last_commit, last);
    if (params_.waits_for_flush or params_.load->two_phase())
      wal_.flush(process, last);
    if (params_.sync != nullptr and not rolls_back)
      params_.sync->wait(process, last);
  }
  for (const std::size_t index : indexes_) {
    log_.transactions[index].commit_s = process.now();
    log_.transactions[index].committed = not rolls_back;
  }
}

} // namespace replisim
