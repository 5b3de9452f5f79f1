// Collects the mistakes of all files of a scenario, so that they are reported in one go.
#pragma once

#include "models/base/errors.hpp"
#include "sim/scenario/node.hpp"

#include <string>
#include <utility>
#include <vector>

namespace replisim {

class Problems {
public:
  void add(const Position& at, std::string path, std::string message);
  /// Mistakes of a file that the place `at` names.
  void add_found(const Position& at, std::vector<Diagnostic> diagnostics);
  bool empty() const { return found_.empty(); }

  /// Without repetitions: the file the user named first, then its bases, each from top to bottom, then
  /// the overrides.
  std::vector<Diagnostic> sorted() const;

  /// Throws ScenarioError when there is any.
  void throw_if_any() const;

  /// Takes over what `other` found and `known` did not.
  void add_new(const Problems& other, const Problems& known);

private:
  struct Entry {
    int layer = 0;
    Diagnostic diagnostic;
  };
  std::vector<Entry> found_;
};

/// "servers" + "pub" is "servers.pub"; the root's path is empty.
std::string join_path(const std::string& parent, const std::string& key);

} // namespace replisim
