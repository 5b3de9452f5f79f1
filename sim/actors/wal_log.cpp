#include "sim/actors/wal_log.hpp"

#include "sim/actors/batch_observer.hpp"

#include "models/base/check.hpp"
#include "models/wal_retention.hpp"

#include <algorithm>

namespace replisim {

WalLog::WalLog(engine::World& world, Options options, const Disk& disk)
    : world_(world), options_(options), device_(world, disk), insertion_(world, "WAL insertion") {
  if (options_.initial_bytes == 0)
    return;
  WalEntry there;
  there.end = {static_cast<std::uint64_t>(options_.initial_bytes)};
  there.what = OtherWal{};
  there.flushed_s = 0;
  inserted_ = flushed_ = there.end;
  entries_.push_back(there);
}

Lsn WalLog::insert(engine::Process& writer, Bytes bytes, WalEntry entry) {
  if (observer_ != nullptr)
    observer_->written(writer, entry, inserted_ + bytes);
  const Lsn end = append(bytes, std::move(entry));
  make_room(writer);
  return end;
}

Lsn WalLog::append(Bytes bytes, WalEntry entry) {
  entry.start = inserted_;
  entry.inserted_s = world_.now();
  if (const auto* flow = std::get_if<FlowCommitted>(&entry.what))
    next_xid_ += static_cast<std::uint64_t>(flow->transactions);
  else if (entry.xid > newest_xid_) {
    newest_xid_ = entry.xid;
    ++next_xid_;
  }
  entry.next_xid = next_xid_;
  inserted_ = inserted_ + bytes;
  entry.end = inserted_;
  const Lsn end = inserted_;
  for (const auto& observe : on_entry_)
    observe(entry);
  entries_.push_back(std::move(entry));
  insertion_.notify();
  if (on_growth_)
    on_growth_();
  return end;
}

void WalLog::make_room(engine::Process& writer) {
  if (inserted_ - flushed_ > wal_segment_bytes + options_.wal_buffers_bytes)
    flush(writer, inserted_);
}

void WalLog::flush(engine::Process& process, Lsn lsn) {
  if (flushed_ >= lsn)
    return;
  Lsn target = lsn;
  device_.write_and_flush(process, [&]() -> Bytes {
    publish(written_); // by whoever had the device before, and may not have run since
    if (flushed_ >= lsn)
      return -1;
    target = std::max(lsn, inserted_); // whoever holds the lock flushes what has gathered meanwhile
    written_ = target;
    return options_.fsync ? target - flushed_ : -1;
  });
  publish(target);
}

void WalLog::publish(Lsn lsn) {
  if (flushed_ >= lsn)
    return;
  for (auto it = entries_.rbegin(); it != entries_.rend() and it->end > flushed_; ++it)
    if (it->end <= lsn)
      it->flushed_s = world_.now();
  flushed_ = lsn;
  for (const auto& reader : readers_)
    reader->flushed_.notify();
  if (readers_.empty() and not keeps_all_)
    trim();
}

WalLog::Reader& WalLog::add_reader(const std::string& name) {
  readers_.push_back(std::unique_ptr<Reader>(new Reader(*this, name)));
  readers_.back()->next_ = first_ + entries_.size();
  return *readers_.back();
}

bool WalLog::Reader::ready() const {
  return next_ < log_.first_ + log_.entries_.size() and
         log_.entries_[next_ - log_.first_].end <= log_.flushed_;
}

std::optional<WalEntry> WalLog::Reader::try_next() {
  if (not ready())
    return std::nullopt;
  const WalEntry& entry = log_.entries_[next_ - log_.first_];
  ++next_;
  position_ = entry.end;
  std::optional<WalEntry> copy(entry);
  if (not log_.keeps_all_) // otherwise checkpoints do it
    log_.trim();
  return copy;
}

void WalLog::Reader::seek(Lsn lsn) {
  REPLISIM_REQUIRE(lsn >= log_.removed_, "WAL from {} on is asked for, it starts at {}", lsn.value,
                   log_.removed_.value);
  next_ = log_.first_ending_after(lsn);
  position_ = lsn;
}

std::size_t WalLog::first_ending_after(Lsn lsn) const {
  const auto it = std::upper_bound(entries_.begin(), entries_.end(), lsn,
                                   [](Lsn value, const WalEntry& entry) { return value < entry.end; });
  return first_ + static_cast<std::size_t>(it - entries_.begin());
}

void WalLog::remove_before(Lsn lsn) {
  removed_ = std::max(removed_, lsn);
  trim();
}

void WalLog::trim() {
  std::size_t oldest = keeps_all_ ? first_ending_after(removed_) : first_ + entries_.size();
  for (const auto& reader : readers_)
    oldest = std::min(oldest, reader->next_);
  while (first_ < oldest) {
    entries_.pop_front();
    ++first_;
  }
}

} // namespace replisim
