// What differs between PostgreSQL versions, as data.
#pragma once

#include <string>

namespace replisim {

struct Version {
  int major = 17;
  int minor = 0;
};

/// What a catalog-changing commit hands to the transactions that are open at that moment
/// (snapbuild.c: SnapBuildDistributeSnapshotAndInval).
enum class InvalidationDistribution {
  SnapshotOnly,  ///< a snapshot; caches stay stale, and rows may get lost
  Redistributed, ///< its messages too, those it received itself included: they multiply
  OwnMessages    ///< its own messages, kept apart from the receiver's
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
  bool full_identity_uses_index = false;  ///< PG16: REPLICA IDENTITY FULL finds rows by any usable index
  bool queues_invalidations = false;      ///< PG14: messages are WAL of each command; before: of the commit
  bool namespace_invalidates_all = false; ///< PG16: a new schema discards the relation-sync cache
  bool membership_invalidates_members = false; ///< PG18: DDL on a publication discards its members only
  InvalidationDistribution distribution = InvalidationDistribution::SnapshotOnly;
  int snapshot_struct_bytes = 120; ///< sizeof(SnapshotData); 104 from PG18 on
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
