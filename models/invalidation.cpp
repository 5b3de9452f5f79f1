#include "models/invalidation.hpp"

#include <algorithm>

namespace replisim {

namespace {
constexpr Bytes change_struct_bytes = 80;
constexpr Bytes xid_bytes = 4;
} // namespace

void Invalidations::touch(const Table* table, std::int64_t copies, bool relation) {
  const auto known = std::find_if(touched.begin(), touched.end(), [&](const Touched& other) {
    return other.table == table and other.relation == relation;
  });
  if (known == touched.end())
    touched.push_back({table, std::min(copies, table->copies), relation});
  else
    known->copies = std::min(known->copies + copies, table->copies);
}

void Invalidations::add(const Invalidations& other) {
  messages += other.messages;
  relcache += other.relcache;
  foreign += other.foreign;
  all_entries = all_entries or other.all_entries;
  everything = everything or other.everything;
  for (const Touched& relation : other.touched)
    touch(relation.table, relation.copies, relation.relation);
}

InvalidationsRef InvalidationsMerger::after(const InvalidationsRef& before) {
  if (not before)
    return more_;
  if (before.get() == last_)
    return last_result_;
  auto& [kept, result] = merged_[before.get()]; // keeps `before` alive, so that its address stays its own
  if (not result) {
    auto both = std::make_shared<Invalidations>(*before);
    both->add(*more_);
    kept = before;
    result = std::move(both);
  }
  last_ = before.get();
  last_result_ = result;
  return result;
}

void CatalogHistory::purge(Xid oldest_running) {
  std::erase_if(xids_, [&](Xid xid) { return xid < oldest_running; });
}

Bytes snapshot_change_bytes(int snapshot_struct_bytes, std::int64_t xids) {
  return change_struct_bytes + snapshot_struct_bytes + xid_bytes * xids;
}

Bytes invalidation_change_bytes(std::int64_t messages) {
  return change_struct_bytes + invalidation_message_bytes * messages;
}

} // namespace replisim
