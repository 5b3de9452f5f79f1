// The simulator beside the reference model.
#pragma once

#include "sim/run/result.hpp"
#include "tests/reference/random_case.hpp"

#include <string>
#include <vector>

namespace replisim::test {

struct Comparison {
  std::vector<std::string> differences; ///< one sentence each
  double resolution_s = 0;              ///< that was allowed to dates
  double largest_s = 0;                 ///< difference of two dates
  bool race = false; ///< whether a rollback was seen before an eviction hung on less than the resolution:
                     ///< then one of the answers agrees
  std::int64_t evictions = 0;
};

/// How far two dates of the same event may lie apart. What travels together in the simulator, `batch_rows`
/// rows, is begun and ended by each of its stages together; in the reference model each row goes its own way.
/// So a date may be off by what a batch takes at the stages that follow each other, and by what a message
/// without rows takes. Three things come on top:
/// - each time the walsender starts anew after it has waited for what is behind it, a batch is sent,
///   transferred and taken at once and not one after the other, and what opening a chunk costs is spread over
///   its rows;
/// - where transactions overlap by batches of several rows, another one may be the largest when memory is
///   full: what the memory holds goes earlier or later;
/// - with batches of several rows the WAL writer may or may not find something to flush just before a commit
///   asks for its own: a flush more or less.
double resolution_s(const Case& from, const reference::Input& input, const reference::Output& expected);

Comparison compare(const Case& from, const RunResult& simulated);
/// The same, after a simulation in a child of its own; what it threw is a difference.
std::vector<Comparison> simulate_and_compare(const std::vector<Case>& cases);

/// The smallest variant that still differs.
Case shrink(const Case& failing);

} // namespace replisim::test
