// The clock of a running simulation, for those who wait for it.
#pragma once

namespace replisim {

/// Simulations of this process and of the children it forks write their simulated time, in s, to `clock` as
/// they go on: memory that parent and child share. Null ends that.
void show_simulated_time(double* clock);

} // namespace replisim
