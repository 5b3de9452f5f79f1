// "Did you mean": the nearest known name to a mistyped one.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace replisim {

/// The candidate with the smallest Damerau-Levenshtein distance to `word` (case ignored), or an
/// empty string when none is near (distance above a third of the longer word's length, at least 1; or
/// no letter in common). Ties go to the earlier candidate.
std::string nearest_name(std::string_view word, const std::vector<std::string>& candidates);

/// ` (did you mean 'x'?)` or, where nothing is near and there are few candidates, ` (allowed: a, b, c)`.
std::string suggestion(std::string_view word, const std::vector<std::string>& candidates);

/// The names as a phrase: "a, b or c".
std::string either_of(const std::vector<std::string>& names);

} // namespace replisim
