// Looks at the hashed events of a run one by one, for those who compare two runs.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace replisim::engine {

/// One stretch of a process's life that has ended.
struct SeenEvent {
  double begin_s = 0;
  double end_s = 0;
  std::string process;
  std::string activity; ///< busy, waiting for input, waiting for output
  std::string signal;   ///< what the process last waited for; may be empty
  bool operator==(const SeenEvent&) const = default;
};

/// Notes the running hash after every `stride` events, and the events numbered from `first` to before `last`.
struct EventTap {
  std::uint64_t stride = 1024;
  std::uint64_t first = 0, last = 0;
  std::vector<std::uint64_t> marks;
  std::vector<SeenEvent> events;

  void see(std::uint64_t count, std::uint64_t hash, double time_s, std::string_view source,
           std::string_view kind, std::int64_t activity, std::int64_t since_bits);
};

/// The tap of this process; null: nobody looks, which costs a comparison an event.
EventTap*& event_tap();

/// Where the run writes the simulated time as it goes on; null: nowhere. In memory that a parent shares with
/// the child that simulates, it is a clock for a progress bar.
double*& simulated_clock();

} // namespace replisim::engine
