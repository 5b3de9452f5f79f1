// The WAL writer: flushes what backends have inserted, every wal_writer_delay.
//
// Counterpart: walwriter.c and XLogBackgroundFlush. Between commits it is what makes WAL visible to
// walsenders. Simplified: it never hibernates while there is work, and its ticks lie half a delay
// after those of the clock of the run, the mean phase of a process that nobody synchronises.
#pragma once

#include "sim/actors/wal_log.hpp"

namespace replisim {

/// The next tick of a WAL writer with that delay after `now_s`.
double next_wal_writer_tick(double now_s, double delay_s);

class WalWriter {
public:
  WalWriter(WalLog& wal, double delay_s) : wal_(wal), delay_s_(delay_s) {}
  void run(engine::Process& process);

private:
  WalLog& wal_;
  double delay_s_;
};

} // namespace replisim
