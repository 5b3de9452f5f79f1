// Decoding through SQL: a session calls pg_logical_slot_peek_binary_changes() or its get variant and receives
// everything decoded as rows. No walsender, no socket, no client that confirms.
//
// Counterpart: logicalfuncs.c (pg_logical_slot_get_changes_guts). Each call reads from restart_lsn up to the
// flushed end of WAL with caches that are empty at first.
#pragma once

#include "models/slot.hpp"
#include "sim/actors/decoder.hpp"
#include "sim/actors/publishing.hpp"
#include "sim/actors/run_log.hpp"

#include <set>

namespace replisim {

class SqlDecoding {
public:
  struct Params {
    const DecodeCalls* calls = nullptr;
    const CostParameters* costs = nullptr;
    const Publication* publication = nullptr;
    const std::map<std::string, Table>* tables = nullptr;
    VersionTraits traits;
    std::function<bool()> loads_over; ///< whether nothing is left that would write
    std::function<void(const std::string&)> failed;
  };
  SqlDecoding(engine::World& world, Params params, Decoder& decoder, WalLog& wal, WalLog::Reader& reader,
              Slot& slot, DecodeRecord& record);
  void run(engine::Process& process);
  /// Somebody has ended a load: `loads_over` may have become true.
  void load_over() { ended_.notify(); }
  bool finished() const { return finished_; }

private:
  void call(engine::Process& process);
  double perform(const DecodeStep& step);
  double rows_s(const DecodeStep& step);
  double flow_s(const DecodeStep& step);

  Params params_;
  Decoder& decoder_;
  WalLog& wal_;
  WalLog::Reader& reader_;
  Slot& slot_;
  DecodeRecord& record_;
  PublicationFilter filter_;
  engine::Signal ended_;
  bool finished_ = false;
  std::set<const Table*> announced_; ///< within one call
  std::int64_t messages_ = 0;        ///< of the call in hand
  Rows read_ = 0, sent_ = 0, filtered_ = 0, dropped_ = 0;
};

} // namespace replisim
