#include "sim/actors/subscriber_wal.hpp"

#include "models/wal_volume.hpp"

#include <algorithm>

namespace replisim {

void SubscriberWal::append(Bytes bytes) {
  written_bytes_ += bytes;
  WalEntry entry;
  entry.records = std::max<std::int64_t>(1, bytes / typical_record_bytes);
  entry.what = OtherWal{}; // of no interest to walsenders of the subscriber
  log_->append(bytes, std::move(entry));
}

void SubscriberWal::write(double bytes) {
  if (log_ == nullptr)
    return;
  fraction_bytes_ += bytes;
  if (handed_on_ != nullptr)
    return; // it is written with the rows
  if (const Bytes whole = take_whole(); whole > 0)
    append(whole);
}

Bytes SubscriberWal::take_whole() {
  const auto whole = static_cast<Bytes>(fraction_bytes_);
  fraction_bytes_ -= static_cast<double>(whole);
  return whole;
}

void SubscriberWal::applied(Xid top, const std::vector<ChangeRun>& runs, bool savepoints) {
  if (handed_on_ == nullptr or runs.empty())
    return;
  const Bytes bytes = take_whole();
  written_bytes_ += bytes;
  handed_on_->rows(top, runs, bytes, savepoints);
}

void SubscriberWal::applied(const SmallTransactions& batch, double begun_s) {
  if (handed_on_ == nullptr or batch.rows == 0)
    return;
  const Bytes bytes = take_whole();
  written_bytes_ += bytes;
  handed_on_->flow(batch, begun_s, bytes);
}

void SubscriberWal::undone(const AbortSubtransaction& abort) {
  if (handed_on_ != nullptr)
    handed_on_->undone(abort);
}

void SubscriberWal::forget() {
  pending_.clear();
  if (handed_on_ != nullptr)
    handed_on_->rolled_back();
}

void SubscriberWal::make_room(engine::Process& process) {
  if (log_ != nullptr)
    log_->make_room(process);
}

void SubscriberWal::commit(engine::Process& process, Xid top, Lsn remote_end) {
  if (handed_on_ != nullptr) {
    written_bytes_ += commit_record_bytes();
    handed_on_->committed(top);
  } else if (log_ != nullptr) {
    append(commit_record_bytes());
  }
  commit_each(process, 1, remote_end);
}

void SubscriberWal::commit_each(engine::Process& process, std::int64_t transactions, Lsn remote_end) {
  transactions_ += static_cast<std::uint64_t>(transactions);
  if (log_ == nullptr) {
    flushed_remote_ = remote_end;
    return;
  }
  const Lsn local_end = log_->inserted();
  if (commits_wait_) {
    process.sleep(static_cast<double>(transactions - 1) * flush_s_);
    log_->flush(process, local_end);
  }
  pending_.push_back({local_end, remote_end});
}

void SubscriberWal::commit_flushed(engine::Process& process, Bytes record_bytes, Lsn remote_end) {
  ++transactions_;
  if (log_ == nullptr) {
    flushed_remote_ = remote_end;
    return;
  }
  append(record_bytes);
  const Lsn local_end = log_->inserted();
  log_->flush(process, local_end);
  pending_.push_back({local_end, remote_end});
}

Lsn SubscriberWal::flushed_remote() {
  while (not pending_.empty() and pending_.front().local_end <= log_->flushed()) {
    flushed_remote_ = pending_.front().remote_end;
    pending_.pop_front();
  }
  return flushed_remote_;
}

void spend(engine::Process& process, double other_cpu_s, const ApplyTime& work, SubscriberWal& wal) {
  wal.write(work.wal_bytes);
  process.cpu(other_cpu_s + work.cpu_s);
  if (work.read_s > 0)
    process.sleep(work.read_s);
  wal.make_room(process);
}

} // namespace replisim
