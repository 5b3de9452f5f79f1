// What a reader could not read: file, line and why. Problems are counted and never end the reading; the
// first few of a kind are kept word for word.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace replisim::readers {

/// One thing that could not be read as it stands.
struct Problem {
  std::string file;
  std::uint64_t line = 0; ///< 1-based; 0 when the whole file is meant
  std::string kind;       ///< stable, for programs: "line_too_long", "invalid_utf8", "truncated", ...
  std::string message;    ///< a sentence: what was found and what was done about it
};

/// All problems of one kind in one file.
struct ProblemGroup {
  std::string file;
  std::string kind;
  std::uint64_t count = 0;
  std::vector<Problem> examples; ///< the first ones, in order

  /// `FILE:LINE: MESSAGE` of the first, with "(N times, also in lines A, B)" where there are more.
  std::string to_string() const;
};

/// Collects problems. Memory follows the number of files and kinds, not of problems.
class Problems {
public:
  explicit Problems(std::size_t kept_examples = 5) : kept_examples_(kept_examples) {}

  /// Books a problem that occurred `count` times; `message` of later ones is kept for the first few only.
  void add(Problem problem, std::uint64_t count = 1);

  const std::vector<ProblemGroup>& groups() const { return groups_; } ///< in order of first appearance
  std::uint64_t count() const { return count_; }
  std::uint64_t count_of(std::string_view kind) const; ///< over all files
  bool empty() const { return groups_.empty(); }

private:
  std::size_t kept_examples_;
  std::uint64_t count_ = 0;
  std::vector<ProblemGroup> groups_;
};

} // namespace replisim::readers
