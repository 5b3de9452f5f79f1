// What holds at every moment of a run, looked at from time to time and at its end, apart from the actors.
#pragma once

#include "sim/actors/pipeline.hpp"
#include "sim/check/run_laws.hpp"

#include <cstdint>
#include <string>

namespace replisim {

/// Looks every `interval_s`; a run of many such distances is looked at some thousands of times. What does not
/// hold ends the run with an InvariantViolation that says so in figures:
/// - WAL: removed <= flushed <= inserted, none of them goes back, and what a slot may need is not removed;
/// - slots: restart_lsn <= confirmed_flush_lsn <= what was sent or applied <= flushed, and both only go on;
/// - reorder buffers: accounted memory is not negative and below logical_decoding_work_mem, spill files and
/// the
///   subscriber's files have no negative size;
/// - processes: the times in which one was busy, starved and blocked are not negative and fill its life;
/// - locks: where no transaction is being applied, and nobody else takes locks, none is held.
class RunWatch {
public:
  RunWatch(Pipeline& pipeline, const Scenario& scenario);
  void look(double now_s);

private:
  static WalPositions wal_of(const PublisherSide& side);
  SlotPositions slot_of(const std::string& name, const SlotSide& side) const;
  BufferSizes sizes_of(const std::string& name, const SlotSide& side) const;
  void check_times(double now_s) const;
  void check_locks(const std::string& server, const SubscriberSide& side) const;
  bool applies(const std::string& server) const;

  Pipeline& pipeline_;
  const Scenario& scenario_;
  RunLaws laws_;
  std::int64_t ticks_ = 0, stride_ = 1, looks_ = 0;
};

} // namespace replisim
