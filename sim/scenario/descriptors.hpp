// The format of scenario, machine and profile files as data: one descriptor per field. Checking, defaults,
// and whatever documents the format all read these tables; nothing else knows a default or a range.
#pragma once

#include <limits>
#include <string_view>
#include <vector>

namespace replisim {

enum class FieldType {
  Text,           ///< any text
  Name,           ///< a name defined elsewhere: see `refers_to`
  Path,           ///< a file, relative to the file that names it
  Integer,        ///< digits, `_` allowed between them
  Number,         ///< decimal number
  Duration,       ///< quantity in s
  Size,           ///< quantity in bytes
  ByteRate,       ///< quantity in bytes/s
  Percent,        ///< quantity as a fraction
  EventRate,      ///< quantity in events/s
  Frequency,      ///< quantity in Hz
  WordOrDuration, ///< the one word of `allowed` (0) or a duration
  Flag,           ///< on/off, true/false, yes/no
  Choice,         ///< one of `allowed`
  Version,        ///< PostgreSQL version
  ColumnType,     ///< int4, text(32), ...
  ColumnValue,    ///< typical, sequence or an integer
  Object,         ///< a map of the fields of `object`
  ObjectMap,      ///< a map from free names to `object`
  ObjectList,     ///< a list of `object`
  NameList,       ///< a list of names, see `refers_to`
  Settings,       ///< a map from PostgreSQL setting to value
  Costs,          ///< a map from group to a map from cost parameter to `object`
  Assignments,    ///< a map from column to ColumnValue
  Reasons,        ///< a map from field path to a sentence
  Axes,           ///< sweep: a map from field path to values
  Pair,           ///< break_even: a map of one field path to a list of two values
  Range,          ///< break_even: a list of two quantities
  Reserved        ///< must be empty in this version of the format
};

inline constexpr double no_limit = std::numeric_limits<double>::infinity();

struct FieldDescriptor {
  std::string_view name;
  FieldType type = FieldType::Text;
  std::string_view object = {};    ///< name of the ObjectDescriptor of Object, ObjectMap, ObjectList, Costs
  std::string_view refers_to = {}; ///< top-level map, "machines" or "profiles"
  bool required = false;           ///< for maps and lists: at least one entry
  std::string_view default_value = {}; ///< as it would be written; empty: none, the sentence says what then
  double minimum = -no_limit;          ///< in base units (s, bytes, fraction)
  double maximum = no_limit;
  std::vector<std::string_view> allowed = {}; ///< of a Choice or WordOrDuration
  std::string_view guc = {};                  ///< the PostgreSQL setting or option it mirrors
  std::string_view sentence = {};
};

struct ObjectDescriptor {
  std::string_view name;
  std::string_view shorthand; ///< the field that a single scalar in place of the map stands for; or empty
  std::vector<FieldDescriptor> fields;

  const FieldDescriptor* find(std::string_view field) const;
};

/// All objects; the roots are "scenario", "machine_file" and "profile_file".
const std::vector<ObjectDescriptor>& scenario_objects();

/// Requires a known name.
const ObjectDescriptor& object_of(std::string_view name);

} // namespace replisim
