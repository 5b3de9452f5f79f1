// Figures of a run from its sampled timeline: times, lock hold, peaks, CPU seconds per process; each with
// what the sampling leaves open.
#pragma once

#include "calibration/readers/observation.hpp"

#include <cstddef>
#include <string>

namespace replisim::readers {

/// Adds the figures that the timeline `source` allows to `observation.figures`, labelled with `run` unless it
/// is empty. What a timeline does not show gives no figure.
///
/// - `total_s`, `commit_s`: from the start of the transaction until replay_lsn reached the end of its WAL,
/// and until
///   that WAL was written. The start is the sample before WAL or the backend's CPU begins to grow. Only where
///   the timeline holds one burst of WAL with rest before and behind it.
/// - `catchup_after_s`: from the end of the WAL until replayed.
/// - `lock_hold_s`: the span with row locks, where it is one.
/// - `cpu_NODE.PROCESS_s`: growth over the timeline; for the publisher's backends until the end of the WAL,
/// since
///   sessions that measure are backends, too.
/// - `peak_*_bytes`, `wal_bytes`.
void add_timeline_figures(Observation& observation, std::size_t source, const std::string& run);

} // namespace replisim::readers
