// What became of the simulated world when something gave way: a result of the run, not an error.
#pragma once

#include <string>

namespace replisim {

struct Outcome {
  double t_s = 0;
  std::string kind;    ///< slot_lost, disk_full, sender_timeout, deadlock, credits_used_up, not_caught_up
  std::string subject; ///< slot, disk
  std::string text;    ///< one sentence
  auto operator<=>(const Outcome&) const = default;
};

} // namespace replisim
