// The end of a collection: times of all transactions, and what is kept of them.
#include "calibration/import/step_layout.hpp"
#include "calibration/import/wal_collector.hpp"

#include <algorithm>

namespace replisim {

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
