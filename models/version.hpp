// What differs between PostgreSQL versions, as data.
#pragma once

#include <string>

namespace replisim {

struct Version {
  int major = 17;
  int minor = 0;
};

/// The behaviours that depend on the version. One row per version range in version.cpp, with the
/// source of each entry; actors and models ask this table and never compare version numbers.
struct VersionTraits {
  bool streaming_available = false;           ///< PG14: subscription option `streaming`
  bool parallel_apply_available = false;      ///< PG16: `streaming = parallel`
  bool parallel_is_default_streaming = false; ///< PG18: default of new subscriptions
  bool drops_aborted_at_eviction = false;     ///< PG18: CLOG looked up before an eviction
  bool eviction_uses_heap = false;            ///< PG17: pairing heap; before: scan of all (sub)xacts
  bool skips_empty_transactions = false;      ///< PG15
  /// PG14: a walsender that replays changes it does not send still answers its client now and then.
  bool keepalives_in_replay = false;
  bool lag_overflow_entries = false; ///< PG18.1, 17.7, ...: a stalled lag column does not stall the others
};

inline constexpr int first_supported_major = 10;
inline constexpr int last_supported_major = 19;

/// Traits of a version; requires first_supported_major <= major <= last_supported_major.
VersionTraits traits_of(Version version);

/// The latest minor release known for a major ("a major means its latest minor").
int latest_minor(int major);

/// Reads "17", "17.4" (and the plain number yaml-cpp hands over as text). Returns false and a
/// sentence in `problem` when it is none or out of range.
bool parse_version(const std::string& text, Version& out, std::string& problem);

std::string to_string(Version version); ///< "17.10"

} // namespace replisim
