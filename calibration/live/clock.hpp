// Wall time and waiting for code that works with real servers. Waits look out for Ctrl-C.
#pragma once

namespace replisim::live {

/// Seconds since some moment in the past; never goes back.
double now_s();
/// Seconds since 1970 by the machine's clock.
double wall_s();

/// Sleeps, in slices; throws Interrupted when Ctrl-C arrives and somebody asked for it (InterruptScope).
void wait_s(double seconds);

/// Throws Interrupted when Ctrl-C has arrived.
void check_interrupt();

} // namespace replisim::live
