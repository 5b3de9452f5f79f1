#include "calibration/readers/problem.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace replisim::readers {

std::string ProblemGroup::to_string() const {
  const Problem& first = examples.front();
  std::string text = first.line > 0 ? fmt::format("{}:{}: {}", file, first.line, first.message)
                                    : fmt::format("{}: {}", file, first.message);
  if (count < 2)
    return text;
  text += fmt::format(" ({} times", count);
  for (std::size_t i = 1; i < examples.size(); ++i)
    if (examples[i].line > 0)
      text += fmt::format("{}{}", i == 1 ? "; also in line " : ", ", examples[i].line);
  return text + ")";
}

void Problems::add(Problem problem, std::uint64_t count) {
  count_ += count;
  // The latest groups are the ones that grow: search from the end.
  auto group = std::find_if(groups_.rbegin(), groups_.rend(), [&](const ProblemGroup& g) {
    return g.kind == problem.kind and g.file == problem.file;
  });
  if (group == groups_.rend()) {
    groups_.push_back({.file = problem.file, .kind = problem.kind, .count = 0, .examples = {}});
    group = groups_.rbegin();
  }
  group->count += count;
  if (group->examples.size() < kept_examples_)
    group->examples.push_back(std::move(problem));
}

std::uint64_t Problems::count_of(std::string_view kind) const {
  std::uint64_t count = 0;
  for (const ProblemGroup& group : groups_)
    if (group.kind == kind)
      count += group.count;
  return count;
}

} // namespace replisim::readers
