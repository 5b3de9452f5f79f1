// Sampled timelines of a pair of servers: one row a sample, first column `t_s`, then WAL positions, counts,
// file sizes and cumulated CPU seconds (`cpu_NODE.PROCESS_s`). replisim's own timeline.csv reads alike.
#pragma once

#include "calibration/readers/reader.hpp"

#include <memory>

namespace replisim::readers {

std::unique_ptr<Reader> make_timeline_reader();

} // namespace replisim::readers
