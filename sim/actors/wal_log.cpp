#include "sim/actors/wal_log.hpp"

#include <algorithm>

namespace replisim {

namespace {
constexpr Bytes segment_bytes = 16 * 1024 * 1024; ///< initdb's default wal_segment_size
}

WalLog::WalLog(engine::World& world, Options options, const Disk& disk)
    : world_(world), options_(options), device_(world, disk), insertion_(world, "WAL insertion") {}

Lsn WalLog::insert(engine::Process& writer, Bytes bytes, WalEntry entry) {
  entry.start = inserted_;
  inserted_ = inserted_ + bytes;
  entry.end = inserted_;
  entries_.push_back(std::move(entry));
  insertion_.notify();
  if (inserted_ - flushed_ > segment_bytes + options_.wal_buffers_bytes)
    flush(writer, inserted_);
  return inserted_;
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
  flushed_ = lsn;
  for (const auto& reader : readers_)
    reader->flushed_.notify();
}

WalLog::Reader& WalLog::add_reader(const std::string& name) {
  readers_.push_back(std::unique_ptr<Reader>(new Reader(*this, name)));
  readers_.back()->next_ = first_ + entries_.size();
  return *readers_.back();
}

WalEntry WalLog::Reader::next(engine::Process& process, double wakeup_latency_s) {
  bool waited = false;
  while (next_ == log_.first_ + log_.entries_.size() or
         log_.entries_[next_ - log_.first_].end > log_.flushed_) {
    process.wait(flushed_, engine::Activity::Starved);
    waited = true;
  }
  if (waited)
    process.sleep(wakeup_latency_s, engine::Activity::Starved);
  WalEntry entry = log_.entries_[next_ - log_.first_];
  ++next_;
  position_ = entry.end;
  log_.trim();
  return entry;
}

void WalLog::trim() {
  std::size_t oldest = first_ + entries_.size();
  for (const auto& reader : readers_)
    oldest = std::min(oldest, reader->next_);
  while (first_ < oldest) {
    entries_.pop_front();
    ++first_;
  }
}

} // namespace replisim
