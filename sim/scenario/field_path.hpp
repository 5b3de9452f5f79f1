// Field paths such as `workload.batch.transaction[0].rows`: parsing, looking up, overriding.
#pragma once

#include "models/cost_profile.hpp"
#include "models/settings.hpp"
#include "sim/scenario/descriptors.hpp"
#include "sim/scenario/node.hpp"

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace replisim {

/// One step: a key, or an index where `key` is empty.
struct PathStep {
  std::string key;
  std::size_t index = 0;
  bool is_index() const { return key.empty(); }
};

using FieldPath = std::vector<PathStep>;

/// Parses `a.b[0].c`; without a value `problem` says what is wrong.
std::optional<FieldPath> parse_path(std::string_view text, std::string& problem);

/// The value a path leads to; nullptr when there is none.
const Node* find_node(const Node& root, const FieldPath& path);

/// Puts `value` at `path`, creating maps on the way. Returns a sentence when the path does not fit the
/// tree (a key into a list or a scalar, an index past the end), else an empty text.
std::string put_node(Node& root, const FieldPath& path, const Node& value, const Position& key_at);

/// What the format says about a path, whether or not the file gives it a value.
struct KnownField {
  const FieldDescriptor* field = nullptr;
  const GucDescriptor* guc = nullptr; ///< a PostgreSQL setting; `field` is then the `settings` field
  bool is_entry = false;              ///< one entry of a map or list of objects; `field` is the map or list
};

std::optional<KnownField> known_field(const ObjectDescriptor& root, const FieldPath& path);

/// True when `path` leads to a value of the file or to a field that has one by default. Entries of maps and
/// lists exist only if somebody wrote them.
bool has_field(const ObjectDescriptor& object, const Node& root, const FieldPath& path);

} // namespace replisim
