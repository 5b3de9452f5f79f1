#include "sim/engine/event_tap.hpp"

#include "sim/engine/world.hpp"

#include <bit>

namespace replisim::engine {

namespace {

const char* words(std::int64_t activity) {
  switch (static_cast<Activity>(activity)) {
  case Activity::Busy:
    return "busy";
  case Activity::Starved:
    return "waiting for input";
  case Activity::Blocked:
    return "waiting for output";
  }
  return "";
}

} // namespace

void EventTap::see(std::uint64_t count, std::uint64_t hash, double time_s, std::string_view source,
                   std::string_view kind, std::int64_t activity, std::int64_t since_bits) {
  if (count % stride == 0)
    marks.push_back(hash);
  const std::uint64_t number = count - 1;
  if (number >= first and number < last)
    events.push_back(
        {std::bit_cast<double>(since_bits), time_s, std::string(source), words(activity), std::string(kind)});
}

EventTap*& event_tap() {
  static EventTap* tap = nullptr;
  return tap;
}

double*& simulated_clock() {
  static double* clock = nullptr;
  return clock;
}

} // namespace replisim::engine
