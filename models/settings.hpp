// PostgreSQL server settings (GUCs) by their own names: types, units, defaults, ranges.
#pragma once

#include "models/base/units.hpp"
#include "models/version.hpp"

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace replisim {

/// Integer, Size and Duration are whole numbers of the base unit; Real keeps its fraction.
enum class GucType { Bool, Integer, Real, Size, Duration, Enum, Text };

/// One row of the settings table.
struct GucDescriptor {
  std::string_view name;
  GucType type;
  std::string_view unit; ///< base unit of a bare number: "B", "kB", "MB", "8kB", "ms", "s", "min" or ""
  std::string_view default_value; ///< as postgresql.conf.sample of version 17 would write it
  double minimum = 0;             ///< in SI units (bytes, seconds, plain); -1: -1 is allowed besides 0 and up
  double maximum = 0;
  std::vector<std::string_view> allowed; ///< of an Enum
  int since_major = 0;                   ///< first major version that knows it; 0: all
  int until_major = 99;                  ///< last one
  bool power_of_two = false;             ///< only powers of two are allowed
  bool modelled = false;                 ///< false: accepted and checked, but it has no effect on a run
  std::string_view sentence;             ///< what it does, in our words
};

/// All settings replisim knows, sorted by name.
const std::vector<GucDescriptor>& guc_table();
const GucDescriptor* find_guc(std::string_view name);

/// A value read from text for a descriptor: number in SI base units for Bool/Integer/Real/Size/Duration,
/// text for Enum/Text. A special -1 ("automatic", "unlimited") is the plain number -1, never -1 units.
struct GucValue {
  double number = 0;
  std::string text;
};

/// Parses as PostgreSQL does: "64kB", "200ms", bare numbers in the base unit, on/off/true/false/yes/no/1/0.
/// Returns nothing and a sentence in `problem` (found, allowed range with units) otherwise.
std::optional<GucValue> parse_guc(const GucDescriptor& guc, std::string_view text, std::string& problem);

/// The settings of one server: what the file says over the defaults of the version.
class Settings {
public:
  void set(std::string_view name, GucValue value);
  /// Number in SI base units; the default where not set. Requires a known, numeric setting.
  double number(std::string_view name) const;
  Bytes bytes(std::string_view name) const { return static_cast<Bytes>(number(name)); }
  bool flag(std::string_view name) const { return number(name) != 0; }
  std::string text(std::string_view name) const;
  const std::map<std::string, GucValue, std::less<>>& explicitly_set() const { return values_; }

private:
  std::map<std::string, GucValue, std::less<>> values_;
};

} // namespace replisim
