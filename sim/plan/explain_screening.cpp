#include "sim/plan/explain_screening.hpp"

#include "models/base/check.hpp"

#include <map>
#include <string>
#include <utility>

namespace replisim {

namespace {
constexpr std::size_t small_group = 3; ///< halving it would cost as much as looking at each
} // namespace

Screening::Screening(const std::vector<ExplainInput>& inputs) {
  std::map<std::string, Group> by_prefix;
  for (std::size_t i = 0; i < inputs.size(); ++i)
    by_prefix[inputs[i].path.substr(0, inputs[i].path.rfind('.'))].push_back(i);
  for (auto& [prefix, members] : by_prefix)
    groups_.push_back(std::move(members));
  halves_.resize(groups_.size());
}

void Screening::heard(const std::vector<bool>& moves) {
  REPLISIM_REQUIRE(moves.size() == groups_.size(), "{} answers about {} groups", moves.size(),
                   groups_.size());
  next_.clear();
  next_halves_.clear();
  for (std::size_t g = 0; g < groups_.size(); ++g) {
    if (moves[g])
      split(groups_[g]);
    if (moves[g] and not halves_[g].empty())
      look_at(std::move(halves_[g]), {});
    else if (not halves_[g].empty()) // both together move it, the first half does not
      split(halves_[g]);
  }
  groups_ = std::move(next_);
  halves_ = std::move(next_halves_);
}

void Screening::look_at(Group group, Group other_half) {
  next_.push_back(std::move(group));
  next_halves_.push_back(std::move(other_half));
}

void Screening::split(const Group& group) {
  if (group.size() <= small_group) {
    moving_.insert(group.begin(), group.end());
    return;
  }
  const auto middle = group.begin() + static_cast<std::ptrdiff_t>(group.size() / 2);
  look_at({group.begin(), middle}, {middle, group.end()});
}

} // namespace replisim
