#include "models/base/suggest.hpp"

#include <algorithm>
#include <cctype>
#include <cstddef>

namespace replisim {

namespace {

std::string lower(std::string_view text) {
  std::string out(text);
  std::transform(out.begin(), out.end(), out.begin(),
                 [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return out;
}

/// Edit distance with insertion, deletion, substitution and the swap of two neighbours, no part edited
/// twice (the restricted Damerau-Levenshtein distance).
std::size_t edit_distance(const std::string& a, const std::string& b) {
  std::vector<std::size_t> two_back(b.size() + 1);
  std::vector<std::size_t> back(b.size() + 1);
  std::vector<std::size_t> row(b.size() + 1);
  for (std::size_t j = 0; j <= b.size(); ++j)
    row[j] = j;
  for (std::size_t i = 1; i <= a.size(); ++i) {
    two_back.swap(back);
    back.swap(row);
    row[0] = i;
    for (std::size_t j = 1; j <= b.size(); ++j) {
      const std::size_t substitution = back[j - 1] + (a[i - 1] == b[j - 1] ? 0 : 1);
      row[j] = std::min({back[j] + 1, row[j - 1] + 1, substitution});
      if (i > 1 and j > 1 and a[i - 1] == b[j - 2] and a[i - 2] == b[j - 1])
        row[j] = std::min(row[j], two_back[j - 2] + 1);
    }
  }
  return row[b.size()];
}

} // namespace

std::string nearest_name(std::string_view word, const std::vector<std::string>& candidates) {
  const std::string wanted = lower(word);
  std::string best;
  std::size_t best_distance = 0;
  for (const auto& candidate : candidates) {
    const std::size_t distance = edit_distance(wanted, lower(candidate));
    const std::size_t longer = std::max(wanted.size(), candidate.size());
    if (distance > std::max<std::size_t>(1, longer / 3) or distance >= longer)
      continue;
    if (best.empty() or distance < best_distance) {
      best = candidate;
      best_distance = distance;
    }
  }
  return best;
}

std::string suggestion(std::string_view word, const std::vector<std::string>& candidates) {
  constexpr std::size_t few = 8;
  if (const std::string near = nearest_name(word, candidates); not near.empty())
    return " (did you mean '" + near + "'?)";
  if (candidates.empty() or candidates.size() > few)
    return {};
  std::string out = " (allowed: ";
  for (std::size_t i = 0; i < candidates.size(); ++i)
    out += (i == 0 ? "" : ", ") + candidates[i];
  return out + ")";
}

std::string either_of(const std::vector<std::string>& names) {
  std::string out;
  for (std::size_t i = 0; i < names.size(); ++i) {
    if (i > 0)
      out += i + 1 == names.size() ? " or " : ", ";
    out += names[i];
  }
  return out;
}

} // namespace replisim
