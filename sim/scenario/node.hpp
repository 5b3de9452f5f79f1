// The tree a scenario file is read into: every value and every key knows where it was written.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace replisim {

/// Where something was written. `layer` orders the sources, the higher one has the say: overrides, the file
/// the user named, its base, the base's base, and so on; files of the library are below zero.
struct Position {
  std::shared_ptr<const std::string> file;
  int layer = 0;
  int line = 0; ///< 1-based; 0: no position (an override)
  int column = 0;
};

/// Layer of `--set` overrides, above every file.
inline constexpr int override_layer = 1000;
inline constexpr int library_layer = -1;

struct MapEntry;

/// One value of the tree. Scalars stay text: what a text means depends on the field it stands in.
struct Node {
  enum class Kind { Null, Scalar, Map, List };
  Kind kind = Kind::Null;
  std::string text;       ///< of a scalar
  bool shorthand = false; ///< a map that was written as one scalar
  bool bad = false;       ///< a mistake in it is already reported: later checks leave it alone
  Position at;
  std::vector<MapEntry> entries; ///< of a map, in the order written, keys unique
  std::vector<Node> items;       ///< of a list

  bool is_map() const { return kind == Kind::Map; }
  bool is_list() const { return kind == Kind::List; }
  bool is_scalar() const { return kind == Kind::Scalar; }

  const Node* find(std::string_view key) const;
  Node* find(std::string_view key);
  /// Adds or replaces an entry.
  void put(std::string_view key, Node value, const Position& key_at);
  void remove(std::string_view key);
  std::vector<std::string> keys() const;
};

struct MapEntry {
  std::string key;
  Position at;
  Node value;
};

/// "a list", "a map", "'64kB'", "nothing": for messages.
std::string describe(const Node& node);

/// `child` laid over `base`: maps merge deeply, everything else replaces. A map written in shorthand
/// replaces too: who writes `db: other-machine` does not mean to keep what was said about the first one.
void merge_over(Node& base, const Node& child);

/// One-line YAML text that reads back as the same tree.
std::string flow_text(const Node& node);

/// Like flow_text with the keys of all maps sorted, so that the order of names does not count, except in
/// `columns`, whose order is the physical order of a table. Null values are left out.
std::string canonical_text(const Node& node);

} // namespace replisim
