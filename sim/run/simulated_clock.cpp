#include "sim/run/simulated_clock.hpp"

#include "sim/engine/event_tap.hpp"

namespace replisim {

void show_simulated_time(double* clock) { engine::simulated_clock() = clock; }

} // namespace replisim
