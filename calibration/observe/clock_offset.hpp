// How far the clocks of publisher and subscriber are apart, from events that both logs show.
#pragma once

#include "calibration/observe/groups.hpp"
#include "calibration/readers/observation.hpp"

#include <cstddef>
#include <optional>
#include <string>

namespace replisim::readers {

/// Publisher's clock minus subscriber's: bounds that follow from what must come first.
struct ClockOffset {
  std::string group;
  std::size_t pub_source = 0;
  std::size_t sub_source = 0;
  std::optional<double> at_least_s; ///< a publisher's event that came before a subscriber's
  std::optional<double> at_most_s;  ///< a subscriber's event that came before a publisher's
  std::size_t starts = 0; ///< matched pairs of apply worker start and START_REPLICATION; 0: from views
  std::string remark;     ///< a sentence, when the bounds contradict each other or look like a zone

  /// The middle of the bounds; with one bound, that one. Nothing without any.
  std::optional<double> estimate_s() const;
  /// Half the distance of the bounds; nothing with one bound.
  std::optional<double> uncertainty_s() const;
};

/// Estimates from the first publisher's and the first subscriber's log of a group; nothing when one of them
/// is missing or no event is in both.
///
/// An apply worker logs its start and then connects: START_REPLICATION of its walsender comes later, so that
/// the difference of the two times is the offset plus a delay of at least 0. The start of a parallel apply
/// worker comes after the walsender's; so does the end of the connection after a walsender's time-out; and
/// the slot of a subscription is made before its first worker is. Without logs, the times in
/// pg_stat_subscription and pg_stat_replication are bounds.
std::optional<ClockOffset> estimate_clock_offset(const Observation& observation, const SourceGroup& group);

} // namespace replisim::readers
