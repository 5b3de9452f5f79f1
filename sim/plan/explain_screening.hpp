// Which inputs move a metric at all: whole groups are moved at once, and halved where that changes it.
#pragma once

#include "sim/plan/explain_inputs.hpp"

#include <cstddef>
#include <set>
#include <vector>

namespace replisim {

/// Asks in rounds: move each of `groups()` as a whole, then say with `heard` which of them changed the
/// metric.
class Screening {
public:
  using Group = std::vector<std::size_t>; ///< places in the list of inputs

  /// Inputs whose paths differ in their last part only begin as one group.
  explicit Screening(const std::vector<ExplainInput>& inputs);

  /// What to look at in this round; empty: nothing is left.
  const std::vector<Group>& groups() const { return groups_; }
  /// `moves[g]`: whether moving groups()[g] changed the metric. Then the next round's groups are those halves
  /// of which that is not known yet.
  void heard(const std::vector<bool>& moves);
  /// Inputs that move the metric, some beside them that may.
  const std::set<std::size_t>& moving() const { return moving_; }

private:
  void look_at(Group group, Group other_half);
  void split(const Group& group);

  std::vector<Group> groups_, halves_; ///< with the other half of each, where it was not looked at
  std::vector<Group> next_, next_halves_;
  std::set<std::size_t> moving_;
};

} // namespace replisim
