// "What if the file held this value?": checks a value at a field path against the whole format.
#pragma once

#include "sim/scenario/loader.hpp"
#include "sim/scenario/node.hpp"
#include "sim/scenario/problems.hpp"

#include <string>

namespace replisim {

class ValueTrial {
public:
  /// `tree` without what asks about it; new mistakes are reported to `problems`.
  ValueTrial(const Library& library, Node tree, Problems& problems);

  /// Whether `text` is a field path at all; else a problem at `at`.
  bool is_path(const std::string& text, const Position& at, const std::string& where);
  /// Checks the tree with `value` at `path`, which is_path() accepts, and keeps what the file alone does not
  /// show.
  void put(const std::string& path, const Node& value, const Position& key_at);

private:
  const Library& library_;
  Node tree_;
  Problems& problems_;
  Problems own_; ///< of the tree as it is
};

} // namespace replisim
