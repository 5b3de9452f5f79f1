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
  // Whoever has begun since the last row may be a subtransaction of this one, whose rows stand in between.
  if (not open.runs.empty() and open.runs.back().step.kind == kind and
      open.runs.back().step.table == table and open.runs.back().last > last_opening_) {
    open.runs.back().step.rows += rows;
    open.runs.back().last = sequence_;
    return;
  }
  open.runs.push_back({sequence_, sequence_, {kind, table, rows}});
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

void WalCollector::note_first(const LengthStatistics& usual, Bytes length, OpenXid& open) const {
  if (open.first != sequence_ or usual.usual() == 0)
    return;
  if (length == usual.usual() + top_xid_bytes)
    open.first_record = OpenXid::FirstRecord::Longer;
  else if (length == usual.usual())
    open.first_record = OpenXid::FirstRecord::Usual;
}

void WalCollector::take_insert(const WalLine& line, RecordedTable& table, std::size_t index, OpenXid& open) {
  const unsigned flags = line.flags().value_or(0);
  if ((flags & insert_on_toast) != 0) {
    table.ignored = table.toast = true;
    ++out_.toast_rows;
  }
  if ((flags & insert_new_tuple) == 0)
    return;
  note_first(table.insert_length, line.bare_bytes(), open);
  const bool longer = open.first_record == OpenXid::FirstRecord::Longer and open.first == sequence_;
  const Bytes length = line.bare_bytes() - (longer ? top_xid_bytes : 0);
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
  note_first(table.update_length, line.bare_bytes(), open);
  const bool longer = open.first_record == OpenXid::FirstRecord::Longer and open.first == sequence_;
  Bytes length = line.bare_bytes() - (longer ? top_xid_bytes : 0);
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
  note_first(table.delete_length, line.bare_bytes(), open);
  const bool longer = open.first_record == OpenXid::FirstRecord::Longer and open.first == sequence_;
  const Bytes length = line.bare_bytes() - (longer ? top_xid_bytes : 0);
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

/// Times between those of commits: even over the bytes written, but no longer before the next commit than a
/// backend would have taken that writes slowest_wal_bytes_per_s. In an idle hour a small transaction thus
/// begins shortly before it commits, and not after the one before it.
void WalCollector::fill_times() {
  constexpr double slowest_wal_bytes_per_us = 1.0; // 1 MB/s
  std::int64_t before_us = -1;
  std::uint64_t before_lsn = 0;
  std::size_t from = 0;
  for (std::size_t i = 0; i < marks_.size(); ++i) {
    if (marks_[i].time_us < 0)
      continue;
    constexpr std::int64_t a_second = 1'000'000;
    if (before_us >= 0 and marks_[i].time_us + a_second < before_us)
      ++out_.clock_went_back;
    marks_[i].time_us = std::max(marks_[i].time_us, before_us);
    for (std::size_t j = from; j < i; ++j) {
      const double left = static_cast<double>(marks_[i].lsn - marks_[j].lsn);
      double ago_us = left / slowest_wal_bytes_per_us;
      if (before_us >= 0 and marks_[i].lsn > before_lsn)
        ago_us = std::min(ago_us, left / static_cast<double>(marks_[i].lsn - before_lsn) *
                                      static_cast<double>(marks_[i].time_us - before_us));
      marks_[j].time_us = marks_[i].time_us - static_cast<std::int64_t>(ago_us);
    }
    before_us = marks_[i].time_us;
    before_lsn = marks_[i].lsn;
    from = i + 1;
  }
  for (std::size_t j = from; j < marks_.size(); ++j) // begun, and nothing with a time after it
    marks_[j].time_us = before_us;
}

void WalCollector::ignore_other_databases(std::uint32_t database) {
  for (RecordedTable& table : out_.tables)
    table.ignored = table.ignored or table.relation.database != database;
}

/// The distinct transactions without what is not decoded; `renumbered` says where each of the old ones went.
std::vector<RecordedSteps> WalCollector::kept_steps(std::vector<std::size_t>& renumbered) const {
  std::map<RecordedSteps, std::size_t> known;
  std::vector<RecordedSteps> kept;
  renumbered.resize(known_steps_.size());
  for (const auto& [steps, number] : known_steps_) {
    const RecordedSteps left = without_ignored(steps, out_.tables);
    const auto [entry, is_new] = known.try_emplace(left, kept.size());
    if (is_new)
      kept.push_back(left);
    renumbered[number] = entry->second;
  }
  return kept;
}

void WalCollector::keep_transactions(std::uint32_t database) {
  std::vector<std::size_t> renumbered;
  out_.distinct = kept_steps(renumbered);
  std::int64_t first_us = -1, last_us = -1;
  for (const Mark& mark : marks_) {
    first_us = first_us < 0 ? mark.time_us : std::min(first_us, mark.time_us);
    last_us = std::max(last_us, mark.time_us);
  }
  out_.span_s = static_cast<double>(last_us - first_us) * 1e-6;
  for (const Ended& ended : ended_) {
    const RecordedSteps& steps = out_.distinct[renumbered[ended.steps]];
    if (ended.database != database and ended.database != 0)
      continue;
    if (steps.empty()) {
      out_.committed_without_rows += ended.rolled_back ? 0 : 1;
      continue;
    }
    const double begin_s = static_cast<double>(marks_[ended.begin_mark].time_us - first_us) * 1e-6;
    const double end_s = static_cast<double>(marks_[ended.end_mark].time_us - first_us) * 1e-6;
    out_.transactions.push_back(
        {begin_s, std::max(0.0, end_s - begin_s), renumbered[ended.steps], ended.rolled_back});
    out_.rolled_back += ended.rolled_back ? 1 : 0;
    out_.committed_changes += ended.rolled_back ? 0 : rows_kept(steps);
    out_.subtransactions += ended.subtransactions + ended.undone;
    out_.subtransactions_rolled_back += ended.undone;
    out_.rolled_back_by_inference += ended.inferred;
    out_.change_wal_bytes += ended.change_wal_bytes;
  }
  std::stable_sort(out_.transactions.begin(), out_.transactions.end(),
                   [](const auto& a, const auto& b) { return a.at_s < b.at_s; });
}

RecordedWorkload WalCollector::finish(std::uint32_t database) {
  fill_times();
  if (const auto most = std::max_element(changes_in_.begin(), changes_in_.end(),
                                         [](const auto& a, const auto& b) { return a.second < b.second; });
      database == 0 and most != changes_in_.end())
    database = most->first;
  if (const auto most = std::max_element(commits_in_.begin(), commits_in_.end(),
                                         [](const auto& a, const auto& b) { return a.second < b.second; });
      database == 0 and most != commits_in_.end())
    database = most->first;
  out_.database = database;
  ignore_other_databases(database);
  keep_transactions(database);
  for (const auto& [where, commits] : commits_in_)
    (where == database or where == 0 ? out_.committed : out_.other_databases) += commits;
  for (const std::uint32_t where : {database, std::uint32_t{0}}) {
    out_.catalog_transactions += catalog_commits_in_[where];
    out_.invalidations += invalidations_in_[where];
  }
  for (const auto& [xid, open] : open_)
    out_.unfinished += open.changed_rows ? 1 : 0;
  out_.wal_bytes = first_lsn_ ? static_cast<Bytes>(end_lsn_ - first_lsn_->value) : 0;
  return std::move(out_);
}

} // namespace replisim
