#include "models/lock_modes.hpp"

#include <algorithm>
#include <array>

namespace replisim {

namespace {

constexpr unsigned bit(LockMode mode) { return 1U << static_cast<unsigned>(mode); }

using enum LockMode;

/// By mode: the modes it conflicts with.
constexpr std::array<unsigned, 8> conflict_table = {
    bit(AccessExclusive),
    bit(Exclusive) | bit(AccessExclusive),
    bit(Share) | bit(ShareRowExclusive) | bit(Exclusive) | bit(AccessExclusive),
    bit(ShareUpdateExclusive) | bit(Share) | bit(ShareRowExclusive) | bit(Exclusive) | bit(AccessExclusive),
    bit(RowExclusive) | bit(ShareUpdateExclusive) | bit(ShareRowExclusive) | bit(Exclusive) |
        bit(AccessExclusive),
    bit(RowExclusive) | bit(ShareUpdateExclusive) | bit(Share) | bit(ShareRowExclusive) | bit(Exclusive) |
        bit(AccessExclusive),
    bit(RowShare) | bit(RowExclusive) | bit(ShareUpdateExclusive) | bit(Share) | bit(ShareRowExclusive) |
        bit(Exclusive) | bit(AccessExclusive),
    bit(AccessShare) | bit(RowShare) | bit(RowExclusive) | bit(ShareUpdateExclusive) | bit(Share) |
        bit(ShareRowExclusive) | bit(Exclusive) | bit(AccessExclusive)};

} // namespace

bool conflicts(LockMode a, LockMode b) { return (conflict_table[static_cast<std::size_t>(a)] & bit(b)) != 0; }

const std::vector<std::string_view>& lock_mode_names() {
  static const std::vector<std::string_view> names = {
      "access share", "row share",           "row exclusive", "share update exclusive",
      "share",        "share row exclusive", "exclusive",     "access exclusive"};
  return names;
}

std::string_view to_string(LockMode mode) { return lock_mode_names()[static_cast<std::size_t>(mode)]; }

std::optional<LockMode> parse_lock_mode(std::string_view text) {
  const auto& names = lock_mode_names();
  const auto found = std::find(names.begin(), names.end(), text);
  if (found == names.end())
    return std::nullopt;
  return static_cast<LockMode>(found - names.begin());
}

LockMode queueing_mode(RowLock strength) {
  switch (strength) {
  case RowLock::KeyShare:
    return AccessShare;
  case RowLock::Share:
    return RowShare;
  case RowLock::NoKeyUpdate:
    return Exclusive;
  case RowLock::Update:
    break;
  }
  return AccessExclusive;
}

/// Rows conflict as the modes that stand for their strengths do.
bool conflicts(RowLock a, RowLock b) { return conflicts(queueing_mode(a), queueing_mode(b)); }

std::optional<RowLock> row_lock_of(Operation operation) {
  switch (operation) {
  case Operation::Insert:
    return std::nullopt;
  case Operation::Update:
    return RowLock::NoKeyUpdate;
  case Operation::Delete:
    break;
  }
  return RowLock::Update;
}

} // namespace replisim
