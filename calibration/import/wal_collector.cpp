#include "calibration/import/wal_collector.hpp"

#include "calibration/import/step_layout.hpp"

#include <algorithm>

namespace replisim {

namespace {

// access/heapam_xlog.h: flags of insert and multi-insert, update, delete.
constexpr unsigned insert_new_tuple = 0x08, insert_on_toast = 0x10;
constexpr unsigned update_old_tuple = 0x04, update_old_key = 0x08, update_new_tuple = 0x10;
constexpr unsigned delete_old_tuple = 0x02, delete_old_key = 0x04, delete_speculative = 0x08;

/// Relations below are made by initdb (access/transam.h: FirstNormalObjectId).
constexpr std::uint32_t first_user_object = 16384;

// What surrounds a tuple in its record (see MODEL.md, WAL volume): header 24, block reference 20, main data
// header 2 (5 above 255 bytes), tuple header 5 in place of the tuple's own 23.
constexpr Bytes tuple_frame = 24 + 20 + 2 + 5 - 23;
constexpr Bytes insert_frame = tuple_frame + 3;
constexpr Bytes update_frame = tuple_frame + 14;
constexpr Bytes delete_frame = tuple_frame + 8;
constexpr Bytes second_block = 8;
constexpr Bytes index_frame = 24 + 20 + 2 + 2;
constexpr Bytes top_xid_bytes = 5;
constexpr std::size_t most_frequencies = 4096;

bool is_index_insert(std::string_view action) {
  return action.starts_with("INSERT_") or action.starts_with("SPLIT_") or action == "NEWROOT" or
         action == "DEDUP";
}

Bytes aligned(Bytes bytes) { return (bytes + 7) / 8 * 8; }

} // namespace

void LengthStatistics::add(Bytes length, std::int64_t times) {
  count_ += times;
  sum_ += length * times;
  if (frequencies_.size() < most_frequencies or frequencies_.contains(length))
    frequencies_[length] += times;
}

Bytes LengthStatistics::usual() const {
  for (const auto& [length, times] : frequencies_)
    if (2 * times > count_)
      return length;
  return 0;
}

std::size_t WalCollector::table_of(const WalRelation& relation) {
  const auto [known, is_new] = table_index_.try_emplace(relation, out_.tables.size());
  if (not is_new)
    return known->second;
  RecordedTable table;
  if (const auto named = names_.find(relation.node); named != names_.end())
    table = named->second;
  else
    table.name = "t" + std::to_string(relation.node);
  table.relation = relation;
  table.ignored = table.ignored or relation.node < first_user_object;
  out_.tables.push_back(std::move(table));
  return known->second;
}

WalCollector::OpenXid& WalCollector::open_xid(const WalLine& line) {
  const auto [entry, is_new] = open_.try_emplace(line.xid);
  OpenXid& open = entry->second;
  if (is_new) {
    open.first = sequence_;
    last_opening_ = sequence_ - 1;
    open.begin_mark = marks_.size();
    marks_.push_back({line.lsn.value, -1});
    first_xid_ = first_xid_ == 0 ? line.xid : first_xid_;
  }
  open.last = sequence_;
  if (open.database == 0 and not line.blocks.empty())
    open.database = line.blocks.front().relation.database;
  return open;
}

void WalCollector::add(const WalLine& line) {
  ++sequence_;
  ++out_.records;
  first_lsn_ = first_lsn_.value_or(line.lsn);
  end_lsn_ = line.lsn.value + static_cast<std::uint64_t>(aligned(line.total_bytes));
  out_.image_bytes += line.total_bytes - line.record_bytes;
  for (const WalBlock& block : line.blocks)
    if (block.main_fork and line.manager.starts_with("Heap")) {
      RecordedTable& table = out_.tables[table_of(block.relation)];
      table.last_block = std::max(table.last_block, block.block);
    }
  if (line.manager == "Transaction") {
    take_transaction(line);
    return;
  }
  if (line.xid == 0)
    return;
  OpenXid& open = open_xid(line);
  if (line.manager == "Heap" or line.manager == "Heap2")
    take_heap(line, open);
  else if (line.manager == "Btree")
    take_index(line, open);
}

void WalCollector::change(RecordedStep::Kind kind, std::size_t table, Rows rows, OpenXid& open) {
  open.changed_rows = true;
  open.last_table = table;
  if (out_.tables[table].toast)
    return; // their rows come with the row that they belong to
  const RecordedStep step{kind, table, rows, kind == RecordedStep::Kind::Update and open.chunks > 0};
  if (open.chunks > 0) { // the values out of line were written before the row
    RecordedTable& owner = out_.tables[table];
    owner.wide_bytes += open.wide_bytes;
    ++owner.wide_records;
    owner.wide_updates += step.writes_wide ? 1 : 0;
    open.wide_bytes = 0;
    open.chunks = 0;
  }
  // Whoever has begun since the last row may be a subtransaction of this one, whose rows stand in between.
  if (not open.runs.empty() and open.runs.back().step.is_like(step) and
      open.runs.back().last > last_opening_) {
    open.runs.back().step.rows += rows;
    open.runs.back().last = sequence_;
    return;
  }
  open.runs.push_back({sequence_, sequence_, step});
}

/// INSERT ... ON CONFLICT that lost: the row is taken back.
void WalCollector::cancel_insert(std::size_t table, OpenXid& open) {
  for (auto run = open.runs.rbegin(); run != open.runs.rend(); ++run)
    if (run->step.kind == RecordedStep::Kind::Insert and run->step.table == table) {
      --out_.tables[table].inserts;
      if (--run->step.rows == 0)
        open.runs.erase(std::prev(run.base()));
      return;
    }
}

/// The length of a row's record without the top-level xid that a subtransaction's first record carries. What
/// tells of the first record whether it does: its length beside the usual one of its table, or beside the
/// next record like it in the same (sub)transaction.
Bytes WalCollector::length_of_row(const WalLine& line, RecordedStep::Kind kind, std::size_t table,
                                  const LengthStatistics& usual, OpenXid& open) const {
  using First = OpenXid::FirstRecord;
  const Bytes length = line.bare_bytes();
  if (open.first != sequence_) {
    const FirstLike& first = open.first_like;
    if (open.first_record == First::Unknown and first.kind == kind and first.table == table and
        first.blocks == line.blocks.size())
      open.first_record = first.length == length                   ? First::Usual
                          : first.length == length + top_xid_bytes ? First::Longer
                                                                   : First::Unknown;
    open.first_like.kind = RecordedStep::Kind::Savepoint; // only the record right behind it counts
    return length;
  }
  open.first_like = {kind, table, line.blocks.size(), length};
  if (usual.usual() != 0 and length == usual.usual() + top_xid_bytes)
    open.first_record = First::Longer;
  else if (usual.usual() != 0 and length == usual.usual())
    open.first_record = First::Usual;
  return open.first_record == First::Longer ? length - top_xid_bytes : length;
}

/// A row of a TOAST table: chunk_id, chunk_seq, and the data with a header of 4 bytes (1 where they are
/// short).
void WalCollector::take_chunk(const WalLine& line, RecordedTable& toast, OpenXid& open) {
  constexpr Bytes before_data = 24 + 4 + 4;
  constexpr Bytes most_short = 126;
  toast.ignored = toast.toast = true;
  ++out_.toast_rows;
  ++open.chunks;
  open.changed_rows = true;
  open.last_table = table_of(line.blocks.front().relation);
  const Bytes data = line.bare_bytes() - insert_frame - before_data;
  open.wide_bytes += std::max<Bytes>(0, data - 1 <= most_short ? data - 1 : data - 4);
}

void WalCollector::take_insert(const WalLine& line, RecordedTable& table, std::size_t index, OpenXid& open) {
  const unsigned flags = line.flags().value_or(0);
  if ((flags & insert_on_toast) != 0)
    return take_chunk(line, table, open);
  if ((flags & insert_new_tuple) == 0)
    return;
  const Bytes length = length_of_row(line, RecordedStep::Kind::Insert, index, table.insert_length, open);
  table.insert_length.add(length);
  table.new_tuple.add(length - insert_frame);
  ++table.inserts;
  change(RecordedStep::Kind::Insert, index, 1, open);
}

void WalCollector::take_multi_insert(const WalLine& line, RecordedTable& table, std::size_t index,
                                     OpenXid& open) {
  const unsigned flags = line.flags().value_or(0);
  const Rows rows = line.tuples().value_or(0);
  if ((flags & insert_new_tuple) == 0 or rows <= 0)
    return;
  // xl_heap_multi_insert 4, a line pointer number of 2 for each row unless the page is new; each tuple has a
  // header of 7 in place of its own 23 and begins at an even byte.
  const Bytes main_bytes = 4 + (line.action.ends_with("+INIT") ? 0 : 2 * rows);
  const Bytes data = line.bare_bytes() - 24 - 20 - (main_bytes > 255 ? 5 : 2) - main_bytes;
  table.new_tuple.add(data / rows - 7 + 23, rows);
  table.inserts += rows;
  change(RecordedStep::Kind::Insert, index, rows, open);
}

void WalCollector::take_update(const WalLine& line, RecordedTable& table, std::size_t index, OpenXid& open) {
  const unsigned flags = line.flags().value_or(0);
  if ((flags & update_new_tuple) == 0)
    return;
  Bytes length = length_of_row(line, RecordedStep::Kind::Update, index, table.update_length, open);
  table.update_length.add(length);
  length -= update_frame + (line.blocks.size() > 1 ? second_block : 0);
  if ((flags & update_old_tuple) != 0) {
    // Old and new row, taken as equally long: 2 t_len + 5 - 23.
    const Bytes tuple = (length + 18) / 2;
    table.new_tuple.add(14 + tuple - 18 > 255 ? tuple - 1 : tuple);
    ++table.with_old_row;
  } else if ((flags & update_old_key) == 0) {
    table.new_tuple.add(length);
  } else {
    ++table.with_key;
  }
  ++table.updates;
  table.hot_updates += line.base_action() == "HOT_UPDATE" ? 1 : 0;
  change(RecordedStep::Kind::Update, index, 1, open);
}

void WalCollector::take_delete(const WalLine& line, RecordedTable& table, std::size_t index, OpenXid& open) {
  const unsigned flags = line.flags().value_or(0);
  if ((flags & delete_speculative) != 0) {
    cancel_insert(index, open);
    return;
  }
  const Bytes length = length_of_row(line, RecordedStep::Kind::Delete, index, table.delete_length, open);
  table.delete_length.add(length);
  if ((flags & (delete_old_tuple | delete_old_key)) != 0) {
    const Bytes tuple = length - delete_frame;
    table.old_tuple.add(8 + tuple - 18 > 255 ? tuple - 3 : tuple);
    ++((flags & delete_old_tuple) != 0 ? table.with_old_row : table.with_key);
  } else {
    ++table.without_identity;
  }
  ++table.deletes;
  change(RecordedStep::Kind::Delete, index, 1, open);
}

void WalCollector::take_heap(const WalLine& line, OpenXid& open) {
  const std::string_view action = line.base_action();
  if (action == "NEW_CID") { // written for catalogs only
    if (const auto catalog = relation_in(line.description))
      out_.tables[table_of(*catalog)].ignored = true;
    return;
  }
  if (action == "TRUNCATE")
    ++out_.truncates;
  if (line.blocks.empty())
    return;
  const std::size_t index = table_of(line.blocks.front().relation);
  RecordedTable& table = out_.tables[index];
  if (table.ignored and not table.toast)
    return;
  open.change_wal_bytes += aligned(line.bare_bytes());
  if (action == "INSERT")
    take_insert(line, table, index, open);
  else if (action == "MULTI_INSERT")
    take_multi_insert(line, table, index, open);
  else if (action == "UPDATE" or action == "HOT_UPDATE")
    take_update(line, table, index, open);
  else if (action == "DELETE")
    take_delete(line, table, index, open);
}

void WalCollector::take_index(const WalLine& line, OpenXid& open) {
  if (line.blocks.empty() or not is_index_insert(line.action) or not open.changed_rows)
    return;
  open.change_wal_bytes += aligned(line.bare_bytes());
  RecordedTable& table = out_.tables[open.last_table];
  if (line.action != "INSERT_LEAF")
    return;
  table.indexes.insert(line.blocks.front().relation.node);
  if (not line.blocks.front().image)
    table.index_entry.add(line.bare_bytes() - index_frame);
}

void WalCollector::take_transaction(const WalLine& line) {
  const std::string_view action = line.base_action();
  if (action == "ASSIGNMENT") {
    const auto mark = line.description.find("xtop ");
    if (mark == std::string_view::npos)
      return;
    const auto parent =
        static_cast<std::uint32_t>(std::strtoul(line.description.data() + mark + 5, nullptr, 10));
    for (const std::uint32_t child : subxacts_of(line.description))
      assigned_[child] = parent; // often before the child's own first record
    return;
  }
  if (action == "INVALIDATION") {
    if (line.xid != 0)
      open_xid(line).invalidations += invalidations_of(line.description);
    return;
  }
  std::string_view rest = line.description.substr(std::min(line.action.size() + 1, line.description.size()));
  std::uint32_t xid = line.xid;
  if (action == "COMMIT_PREPARED" or action == "ABORT_PREPARED") {
    const auto colon = rest.find(": ");
    if (colon == std::string_view::npos)
      return;
    xid = static_cast<std::uint32_t>(std::strtoul(rest.data(), nullptr, 10));
    rest = rest.substr(colon + 2);
  } else if (action != "COMMIT" and action != "ABORT") {
    return;
  }
  const auto time_us = parse_wal_time(rest);
  marks_.push_back({line.lsn.value, time_us.value_or(-1)});
  end(xid, line, action.starts_with("ABORT"));
}

/// The transaction of which a rolled back subtransaction was one; 0 when it was none. The dump does not say
/// it. What does: its first record also carries the top-level xid and so is 5 bytes longer than its like
/// (wal_level = logical); and while it ran, its parent was open and wrote nothing itself.
std::uint32_t WalCollector::find_parent(std::uint32_t xid, const OpenXid& aborted) const {
  if (const auto parent = assigned_.find(xid); parent != assigned_.end())
    return parent->second;
  if (aborted.first_record == OpenXid::FirstRecord::Usual)
    return 0;
  std::uint32_t best = 0;
  std::uint64_t latest = 0;
  for (const auto& [other, open] : open_) {
    if (other >= xid)
      break;
    if (open.aborted_at == 0 and open.last < aborted.first and open.last >= latest) {
      best = other;
      latest = open.last;
    }
  }
  if (best == 0 and aborted.first_record == OpenXid::FirstRecord::Longer)
    return xid - 1; // its parent got its xid just before it and has written nothing yet
  return best;
}

bool WalCollector::end_subtransaction(std::uint32_t xid) {
  OpenXid& aborted = open_.at(xid);
  const std::uint32_t parent = find_parent(xid, aborted);
  if (parent == 0)
    return false;
  aborted.aborted_at = sequence_;
  undone_[parent].push_back(xid);
  inferred_[parent] += assigned_.contains(xid) ? 0 : 1;
  if (const auto top = open_.find(parent); top != open_.end())
    top->second.last = std::max(top->second.last, aborted.first - 1);
  return true;
}

void WalCollector::end(std::uint32_t xid, const WalLine& line, bool rolled_back) {
  if (rolled_back and open_.contains(xid) and end_subtransaction(xid))
    return;
  Ended ended;
  ended.end_mark = marks_.size() - 1;
  ended.begin_mark = ended.end_mark;
  ended.rolled_back = rolled_back;
  std::vector<std::uint32_t> members = subxacts_of(line.description);
  ended.subtransactions = std::ssize(members);
  members.push_back(xid);
  for (std::size_t i = 0; i < members.size(); ++i) { // those of subtransactions, too
    const auto undone = undone_.find(members[i]);
    if (undone == undone_.end())
      continue;
    ended.undone += std::ssize(undone->second);
    ended.inferred += inferred_[members[i]];
    inferred_.erase(members[i]);
    const std::vector<std::uint32_t> children = std::move(undone->second);
    undone_.erase(undone);
    members.insert(members.end(), children.begin(), children.end());
  }
  std::int64_t invalidations = invalidations_of(line.description);
  ended.change_wal_bytes = aligned(line.bare_bytes());
  bool known = false;
  for (const std::uint32_t member : members)
    if (const auto open = open_.find(member); open != open_.end()) {
      known = true;
      out_.toast_rows_alone += open->second.chunks;
      ended.begin_mark = std::min(ended.begin_mark, open->second.begin_mark);
      ended.database = open->second.database != 0 ? open->second.database : ended.database;
      ended.change_wal_bytes += open->second.change_wal_bytes;
      invalidations += open->second.invalidations;
    }
  ended.steps = steps_of(xid, members, ended);
  for (const std::uint32_t member : members) {
    open_.erase(member);
    assigned_.erase(member);
  }
  if (not known and xid < first_xid_)
    ++out_.begun_before;
  if (not rolled_back) {
    ++commits_in_[ended.database];
    catalog_commits_in_[ended.database] += invalidations > 0 ? 1 : 0;
    invalidations_in_[ended.database] += invalidations;
  }
  ended_.push_back(ended);
}

std::size_t WalCollector::steps_of(std::uint32_t xid, const std::vector<std::uint32_t>& members,
                                   Ended& ended) {
  std::vector<RecordedRun> runs;
  for (const std::uint32_t member : members) {
    const auto open = open_.find(member);
    if (open == open_.end())
      continue;
    for (const Run& run : open->second.runs) {
      runs.push_back({run.sequence, run.last, member, run.step, false});
      changes_in_[ended.database] += run.step.rows;
    }
    if (open->second.aborted_at != 0 and not open->second.runs.empty())
      runs.push_back({open->second.aborted_at, open->second.aborted_at, member, {}, true});
  }
  return known_steps_.try_emplace(lay_out_steps(std::move(runs), xid), known_steps_.size()).first->second;
}

} // namespace replisim
