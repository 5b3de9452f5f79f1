#include "sim/actors/wal_writer.hpp"

#include <cmath>

namespace replisim {

void WalWriter::run(engine::Process& process) {
  while (true) {
    while (wal_.flushed() == wal_.inserted())
      process.wait(wal_.insertion(), engine::Activity::Starved);
    const double tick = std::floor(process.now() / delay_s_ + 0.5) + 0.5;
    process.sleep(tick * delay_s_ - process.now(), engine::Activity::Starved);
    wal_.flush(process, wal_.inserted());
  }
}

} // namespace replisim
