#include "calibration/live/timeline_sampler.hpp"

#include "calibration/live/clock.hpp"
#include "sim/run/fork_pool.hpp"

#include <algorithm>
#include <set>

#include <sys/resource.h>

#include <fmt/format.h>

namespace replisim::live {

namespace fs = std::filesystem;

namespace {

constexpr const char* pub_query =
    "select pg_wal_lsn_diff(pg_current_wal_lsn(), '0/0'), pg_wal_lsn_diff(min(sent_lsn), '0/0'), "
    "pg_wal_lsn_diff(min(flush_lsn), '0/0'), pg_wal_lsn_diff(min(replay_lsn), '0/0') from "
    "pg_stat_get_wal_senders()";

/// Relations from 16384 on are no catalogs. An apply worker's locks are those of backends without a client.
constexpr const char* sub_query =
    "select count(*) filter (where l.mode = 'RowExclusiveLock' and l.granted and l.relation >= 16384), "
    "count(*) filter (where not l.granted) from pg_locks l where l.pid in (select s.pid from "
    "pg_stat_get_subscription(null) s where s.pid is not null)";

double size_of_files(const fs::path& folder, const std::string& ending) {
  double bytes = 0;
  std::error_code error;
  for (auto it =
           fs::recursive_directory_iterator(folder, fs::directory_options::skip_permission_denied, error);
       not error and it != fs::recursive_directory_iterator(); it.increment(error)) {
    std::error_code gone;
    const std::string name = it->path().filename().string();
    if (not it->is_regular_file(gone) or not name.ends_with(ending))
      continue;
    const auto size = fs::file_size(it->path(), gone);
    if (not gone)
      bytes += static_cast<double>(size);
  }
  return bytes;
}

double thread_cpu_s() {
  rusage usage{};
  ::getrusage(RUSAGE_THREAD, &usage);
  const auto seconds = [](const timeval& t) {
    return static_cast<double>(t.tv_sec) + static_cast<double>(t.tv_usec) * 1e-6;
  };
  return seconds(usage.ru_utime) + seconds(usage.ru_stime);
}

} // namespace

TimelineSampler::TimelineSampler(const ThrowawayServer& pub, const ThrowawayServer& sub, double interval_s)
    : pub_(pub), sub_(sub), interval_s_(interval_s), pub_session_(pub.connect()), sub_session_(sub.connect()),
      pub_cpu_(pub.postmaster()), sub_cpu_(sub.postmaster()) {
  pub_cpu_.exclude(pub_session_.backend_pid());
  sub_cpu_.exclude(sub_session_.backend_pid());
}

TimelineSampler::~TimelineSampler() {
  stop_ = true;
  if (thread_.joinable())
    thread_.join();
}

void TimelineSampler::exclude(const std::string& node, pid_t pid) {
  (node == "pub" ? pub_cpu_ : sub_cpu_).exclude(pid);
}

void TimelineSampler::start() {
  started_s_ = now_s();
  rows_.push_back(look());
  thread_ = std::thread([this] { loop(); });
}

void TimelineSampler::stop() {
  stop_ = true;
  if (thread_.joinable())
    thread_.join();
  if (error_ != nullptr)
    std::rethrow_exception(error_);
}

void TimelineSampler::loop() {
  const double own_before = thread_cpu_s();
  const double sessions_before = pub_cpu_.excluded_s() + sub_cpu_.excluded_s();
  try {
    double next = started_s_ + interval_s_;
    while (not stop_) {
      wait_s(std::min(std::max(next - now_s(), 0.0), 0.05));
      if (now_s() < next)
        continue;
      rows_.push_back(look());
      next = std::max(next + interval_s_, now_s());
    }
    rows_.push_back(look());
  } catch (const Interrupted&) {
    error_ = std::current_exception();
  } catch (const UsageError&) {
    error_ = std::current_exception();
  }
  const double passed_s = std::max(now_s() - started_s_, 1e-3);
  own_cores_ = (thread_cpu_s() - own_before) / passed_s;
  session_cores_ = (pub_cpu_.excluded_s() + sub_cpu_.excluded_s() - sessions_before) / passed_s;
}

TimelineRow TimelineSampler::look() {
  TimelineRow row;
  row.t_s = now_s() - started_s_;
  const QueryResult pub = pub_session_.query(pub_query);
  const double wal = pub.number(0, 0);
  row.values["wal_lsn"] = wal;
  // Before the first walsender reports, it has sent what there was.
  const char* const names[] = {"sent_lsn", "flush_lsn", "replay_lsn"};
  for (std::size_t i = 0; i < 3; ++i)
    row.values[names[i]] =
        pub.cell(0, i + 1) ? pub.number(0, i + 1) : (rows_.empty() ? wal : rows_.back().values[names[i]]);
  const QueryResult sub = sub_session_.query(sub_query);
  row.values["sub_row_excl_locks"] = sub.number(0, 0);
  row.values["sub_lock_waits"] = sub.number(0, 1);
  row.values["spill_file_bytes"] = size_of_files(pub_.data() / "pg_replslot", ".spill");
  row.values["sub_tmp_file_bytes"] = size_of_files(sub_.data() / "base" / "pgsql_tmp", "");
  for (const auto& [kind, cpu_s] : pub_cpu_.sample())
    row.values[fmt::format("cpu_pub.{}_s", kind)] = cpu_s;
  for (const auto& [kind, cpu_s] : sub_cpu_.sample())
    row.values[fmt::format("cpu_sub.{}_s", kind)] = cpu_s;
  return row;
}

double TimelineSampler::growth(const std::string& column) const {
  const auto value = [&](const TimelineRow& row) {
    const auto found = row.values.find(column);
    return found == row.values.end() ? 0 : found->second;
  };
  return rows_.empty() ? 0 : value(rows_.back()) - value(rows_.front());
}

double TimelineSampler::largest(const std::string& column) const {
  double most = 0;
  for (const TimelineRow& row : rows_)
    if (const auto found = row.values.find(column); found != row.values.end())
      most = std::max(most, found->second);
  return most;
}

double TimelineSampler::span_above_zero_s(const std::string& column) const {
  double first = -1, last = -1;
  for (const TimelineRow& row : rows_)
    if (const auto found = row.values.find(column); found != row.values.end() and found->second > 0) {
      first = first < 0 ? row.t_s : first;
      last = row.t_s;
    }
  return first < 0 ? 0 : last - first + interval_s_;
}

std::string TimelineSampler::csv() const {
  std::vector<std::string> columns = {"wal_lsn",          "sent_lsn",           "flush_lsn",
                                      "replay_lsn",       "sub_row_excl_locks", "sub_lock_waits",
                                      "spill_file_bytes", "sub_tmp_file_bytes"};
  std::set<std::string> rest;
  for (const TimelineRow& row : rows_)
    for (const auto& [name, value] : row.values)
      if (name.starts_with("cpu_"))
        rest.insert(name);
  columns.insert(columns.end(), rest.begin(), rest.end());
  std::string out = fmt::format("t_s,{}\n", fmt::join(columns, ","));
  for (const TimelineRow& row : rows_) {
    out += fmt::format("{:.4f}", row.t_s);
    for (const std::string& column : columns) {
      const auto found = row.values.find(column);
      if (found == row.values.end())
        out += ",";
      else
        out += column.starts_with("cpu_") ? fmt::format(",{:.4f}", found->second)
                                          : fmt::format(",{:.0f}", found->second);
    }
    out += "\n";
  }
  return out;
}

} // namespace replisim::live
