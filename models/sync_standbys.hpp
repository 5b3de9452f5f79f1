// synchronous_standby_names: for whom a commit waits. Mirrors syncrep.c (SyncRepGetSyncRecPtr,
// SyncRepGetNthLatestSyncRecPtr, SyncRepGetOldestSyncRecPtr) and syncrep_gram.y.
#pragma once

#include "models/settings.hpp"

#include <map>
#include <optional>
#include <string>
#include <vector>

namespace replisim {

struct SyncStandbys {
  bool any = false; ///< ANY n: a quorum; else the first ones connected, in order of the list
  int count = 1;
  std::vector<std::string> names; ///< "*" stands for every standby

  bool lists(const std::string& name) const;
};

/// Reads "", "a, b", "FIRST 2 (a, b)", "ANY 1 (a, b)", "2 (a, b)". Nothing and a sentence in `problem` when
/// it is none of these; nothing and no problem for an empty text. Names in quotes keep their case.
std::optional<SyncStandbys> parse_sync_standbys(const std::string& text, std::string& problem);

/// Up to where commits are released, when the connected standbys have acknowledged `acknowledged`; nothing
/// while too few of the list are connected.
std::optional<Lsn> sync_released(const SyncStandbys& rule, const std::map<std::string, Lsn>& acknowledged);

/// What synchronous_commit makes a commit wait for, beyond its own flush.
enum class SyncLevel { None, Write, Flush, Apply };
/// off and local: None; remote_write: Write; on: Flush; remote_apply: Apply.
SyncLevel sync_level(const std::string& synchronous_commit);
/// Whether a server with these settings makes its commits wait for anybody.
bool commits_wait_for_standbys(const Settings& settings);

} // namespace replisim
