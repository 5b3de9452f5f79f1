#include "sim/actors/wal_writer.hpp"

#include <cmath>

namespace replisim {

double next_wal_writer_tick(double now_s, double delay_s) {
  return (std::floor(now_s / delay_s + 0.5) + 0.5) * delay_s;
}

void WalWriter::run(engine::Process& process) {
  while (true) {
    while (wal_.flushed() == wal_.inserted())
      process.wait(wal_.insertion(), engine::Activity::Starved);
    process.sleep(next_wal_writer_tick(process.now(), delay_s_) - process.now(), engine::Activity::Starved);
    wal_.flush(process, wal_.inserted());
  }
}

} // namespace replisim
