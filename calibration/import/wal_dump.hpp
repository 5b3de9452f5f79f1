// One line of `pg_waldump`, as PostgreSQL 10 to 19 print it.
//
//   rmgr: Heap        len (rec/tot):     79/    79, tx:        740, lsn: 0/052DB5C8, prev 0/052DB578, desc:
//   INSERT off 2 flags 0x08, blkref #0: rel 1663/5/16416 blk 0
//
// 16 and later write "off: 2, flags: 0x08". Flags say what logical decoding would find in the record
// (access/heapam_xlog.h): whether it carries a new tuple, the old one, or its key.
#pragma once

#include "models/base/units.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace replisim {

/// tablespace/database/relfilenode.
struct WalRelation {
  std::uint32_t database = 0;
  std::uint32_t node = 0;
  auto operator<=>(const WalRelation&) const = default;
};

struct WalBlock {
  WalRelation relation;
  std::uint64_t block = 0;
  bool main_fork = true;
  bool image = false; ///< a full-page image that would be restored (FPW)
};

struct WalLine {
  std::string_view manager; ///< "Heap", "Transaction", ...
  std::string_view action;  ///< "INSERT", "UPDATE+INIT", "COMMIT", ...
  std::string_view description;
  Bytes record_bytes = 0; ///< without page images, with their headers
  Bytes total_bytes = 0;
  std::uint32_t xid = 0; ///< 0: none
  Lsn lsn;
  std::vector<WalBlock> blocks;

  /// The action without "+INIT".
  std::string_view base_action() const { return action.substr(0, action.find('+')); }
  /// "flags 0x08" or "flags: 0x08".
  std::optional<unsigned> flags() const;
  /// Rows of a MULTI_INSERT.
  std::optional<std::int64_t> tuples() const;
  /// record_bytes without the headers of its page images.
  Bytes bare_bytes() const;
};

/// True when the line has the shape of a record; `out` then refers into `line`. Else `why` says what is
/// amiss.
bool parse_wal_line(std::string_view line, WalLine& out, std::string& why);

/// A line that pg_waldump prints besides records: the end of WAL, an empty one, messages of its own.
bool is_waldump_remark(std::string_view line);

/// "0/52C5490" (18 and before), "0/052C5490".
std::optional<Lsn> wal_lsn(std::string_view text);

/// The relation after "rel " or "rel: ", as in NEW_CID records.
std::optional<WalRelation> relation_in(std::string_view description);

/// The commit's or abort's moment: "2026-11-30 13:56:26.653486 UTC" in microseconds of the zone it is printed
/// in.
std::optional<std::int64_t> parse_wal_time(std::string_view text);

/// The numbers after "subxacts:" in the description of a commit, abort or assignment.
std::vector<std::uint32_t> subxacts_of(std::string_view description);

/// How many messages stand after "inval msgs:".
std::int64_t invalidations_of(std::string_view description);

} // namespace replisim
