#include "models/version.hpp"

#include "models/base/check.hpp"

#include <array>
#include <charconv>

namespace replisim {

namespace {

/// A behaviour and the first major version that has it.
struct TraitRow {
  bool VersionTraits::*trait;
  int first_major;
};

constexpr std::array trait_rows = {
    // decode.c: XLOG_XACT_INVALIDATIONS, written at the end of each command
    TraitRow{&VersionTraits::queues_invalidations, 14},
    // CREATE SUBSCRIPTION, option streaming; protocol version 2 (logicalproto.h)
    TraitRow{&VersionTraits::streaming_available, 14},
    // pgoutput.c (later reorderbuffer.c): update_progress every 100 changes, in the minor releases since 2022
    TraitRow{&VersionTraits::keepalives_in_replay, 14},
    // pgoutput.c: BEGIN goes out with the first change, never for a transaction without one
    TraitRow{&VersionTraits::skips_empty_transactions, 15},
    // applyparallelworker.c; protocol version 4 (logicalproto.h)
    TraitRow{&VersionTraits::parallel_apply_available, 16},
    // replication/logical/relation.c: FindUsableIndexForReplicaIdentityFull
    TraitRow{&VersionTraits::full_identity_uses_index, 16},
    // pgoutput.c: a syscache callback on pg_namespace
    TraitRow{&VersionTraits::namespace_invalidates_all, 16},
    // reorderbuffer.c: transactions are kept in a pairing heap ordered by size
    TraitRow{&VersionTraits::eviction_uses_heap, 17},
    // subscriptioncmds.c: parse_subscription_options starts from parallel
    TraitRow{&VersionTraits::parallel_is_default_streaming, 18},
    // reorderbuffer.c: ReorderBufferCheckAndTruncateAbortedTXN
    TraitRow{&VersionTraits::drops_aborted_at_eviction, 18},
    // publicationcmds.c and pgoutput.c: relcache messages of the members in place of a syscache callback
    TraitRow{&VersionTraits::membership_invalidates_members, 18},
};

/// A behaviour that came with minor releases: the first one of each major from first_supported_major on.
struct MinorRow {
  bool VersionTraits::*trait;
  std::array<int, last_supported_major - first_supported_major + 1> first_minor;
};
constexpr int never = 1000;

constexpr std::array minor_rows = {
    // walsender.c: LagTracker.overflowed; releases of November 2025 (13.23, 14.20, 15.15, 16.11, 17.7, 18.1)
    MinorRow{&VersionTraits::lag_overflow_entries, {never, never, never, 23, 20, 15, 11, 7, 1, 0}},
};
/// The minor releases of a major that first distribute invalidation messages, and that first distribute a
/// transaction's own ones only. 13 got both in one release; before 13, and in 13 before it, none.
struct DistributionRow {
  int major;
  int first_distributing;
  int first_own_only;
};
constexpr std::array distribution_rows = {DistributionRow{13, 22, 22}, DistributionRow{14, 18, 19},
                                          DistributionRow{15, 13, 14}, DistributionRow{16, 9, 10},
                                          DistributionRow{17, 5, 6}};

InvalidationDistribution distribution_of(Version version) {
  if (version.major > distribution_rows.back().major)
    return InvalidationDistribution::OwnMessages;
  for (const DistributionRow& row : distribution_rows)
    if (row.major == version.major and version.minor >= row.first_distributing)
      return version.minor >= row.first_own_only ? InvalidationDistribution::OwnMessages
                                                 : InvalidationDistribution::Redistributed;
  return InvalidationDistribution::SnapshotOnly;
}

/// The last minor releases published up to August 2026, from first_supported_major on. 10 to 13 have
/// reached the end of their life; 19 is on its way to its first release.
constexpr std::array latest_minors = {23, 22, 22, 23, 24, 19, 15, 11, 5, 0};
static_assert(latest_minors.size() == last_supported_major - first_supported_major + 1);

bool supported(int major) { return major >= first_supported_major and major <= last_supported_major; }

/// All of `text` as a number of at most `most_digits` decimal digits; -1 when it is none.
int whole_number(std::string_view text, std::size_t most_digits) {
  int value = -1;
  if (text.empty() or text.size() > most_digits or text.front() == '-')
    return -1;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  return error == std::errc() and end == text.data() + text.size() ? value : -1;
}

} // namespace

VersionTraits traits_of(Version version) {
  REPLISIM_REQUIRE(supported(version.major), "version {}", version.major);
  VersionTraits traits;
  for (const TraitRow& row : trait_rows)
    traits.*row.trait = version.major >= row.first_major;
  for (const MinorRow& row : minor_rows)
    traits.*row.trait =
        version.minor >= row.first_minor[static_cast<std::size_t>(version.major - first_supported_major)];
  traits.distribution = distribution_of(version);
  constexpr int smaller_snapshot_major = 18;
  traits.snapshot_struct_bytes = version.major >= smaller_snapshot_major ? 104 : 120;
  return traits;
}

int latest_minor(int major) {
  REPLISIM_REQUIRE(supported(major), "version {}", major);
  return latest_minors[static_cast<std::size_t>(major - first_supported_major)];
}

bool parse_version(const std::string& text, Version& out, std::string& problem) {
  const std::size_t dot = text.find('.');
  const int major = whole_number(std::string_view(text).substr(0, dot), 2);
  // A minor release newer than the table is accepted: behaviour is told apart by what is known.
  const int minor = dot != std::string::npos ? whole_number(std::string_view(text).substr(dot + 1), 2)
                    : supported(major)       ? latest_minor(major)
                                             : 0;
  if (not supported(major) or minor < 0) {
    problem = fmt::format("found '{}'; allowed is a PostgreSQL version from {} to {}, such as 17 or 17.4",
                          text, first_supported_major, last_supported_major);
    return false;
  }
  out = {major, minor};
  return true;
}

std::string to_string(Version version) { return fmt::format("{}.{}", version.major, version.minor); }

} // namespace replisim
