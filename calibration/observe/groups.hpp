// Which files belong together: those of one run, or of one pair of servers.
#pragma once

#include "calibration/readers/observation.hpp"

#include <cstddef>
#include <string>
#include <vector>

namespace replisim::readers {

struct SourceGroup {
  std::string name; ///< the part of the file names that they share; empty for the files that share none
  std::vector<std::size_t> sources;
};

/// Files of one folder whose names are equal up to a dot (`a.pub.log`, `a.sub.log`, `a.timeline.csv`) are one
/// group; all others together are one more.
std::vector<SourceGroup> group_sources(const std::vector<Source>& sources);

/// The node a file name tells: "pub" for `a.pub.log` or `publisher.log`, "sub" likewise; empty when none.
std::string node_in_name(const std::string& file);

} // namespace replisim::readers
