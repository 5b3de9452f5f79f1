#include "calibration/readers/view_derived.hpp"

#include "calibration/import/wal_dump.hpp"
#include "models/base/units.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace replisim::readers {

namespace {

const std::string& cell(const ViewRow& values, std::string_view name) {
  static const std::string none;
  const auto found = values.find(name);
  return found == values.end() ? none : found->second;
}

std::optional<double> lsn(const ViewRow& values, std::string_view name) {
  const auto value = wal_lsn(cell(values, name));
  return value ? std::optional(static_cast<double>(value->value)) : std::nullopt;
}

bool is_false(const std::string& text) { return text == "f" or text == "false"; }

} // namespace

void ViewDerivations::server(const ViewRow& values, std::optional<TimeUs> at, std::uint64_t line) {
  const auto number = parse_number(cell(values, "server_version_num"));
  if (number and *number >= 100000) {
    const auto version = static_cast<std::int64_t>(*number);
    const std::string text = fmt::format("{}.{}", version / 10000, version % 10000);
    context_.info().format = fmt::format("statistics views of PostgreSQL {}", text);
    if (said_.insert({"server_version", text}).second)
      context_.observation.add(
          {"server_version", at.value_or(0), {}, {{"server_version", text}}, context_.place(line, line)});
  }
  if (const auto position = lsn(values, "wal_lsn"); position and at) {
    wal_at_ = at;
    wal_lsn_ = *position;
    has_wal_ = true;
  }
}

void ViewDerivations::row(const ViewKind& view, const ViewRow& values, const Labels& labels,
                          std::optional<TimeUs> at, std::uint64_t line) {
  if (view.name == "pg_stat_replication")
    replication(values, labels, at, line);
  else if (view.name == "pg_replication_slots")
    slot(values, labels, at, line);
  else if (view.name == "pg_stat_subscription")
    subscription(values, labels, at, line);
  else if (view.name == "pg_stat_io")
    io(values, labels, at, line);
  else if (view.name == "pg_locks")
    lock(values, labels, at, line);
}

void ViewDerivations::sample(std::string_view metric, const Labels& labels, double value,
                             std::optional<TimeUs> at, std::uint64_t line, bool is_counter) {
  if (not at) {
    context_.observation.figures.push_back(
        {std::string(metric), value, {}, labels, "one snapshot", context_.place(line, line)});
    return;
  }
  Series& series = context_.observation.series(metric, context_.source, labels, is_counter);
  if (series.count() == 0 or *at >= series.last().at_us)
    series.add({*at, value, line});
}

void ViewDerivations::replication(const ViewRow& values, const Labels& labels, std::optional<TimeUs> at,
                                  std::uint64_t line) {
  const auto replayed = lsn(values, "replay_lsn");
  if (replayed and at and wal_at_ == at)
    sample("lag_bytes", labels, std::max(0.0, wal_lsn_ - *replayed), at, line);
  if (const auto reply = parse_view_time(cell(values, "reply_time")); reply and at)
    sample("reply_age_s", labels, static_cast<double>(*at - *reply) * 1e-6, at, line);
}

void ViewDerivations::slot(const ViewRow& values, const Labels& labels, std::optional<TimeUs> at,
                           std::uint64_t line) {
  const std::string& name = cell(values, "slot_name");
  const auto restart = lsn(values, "restart_lsn");
  if (restart and at and wal_at_ == at)
    sample("retained_wal_bytes", labels, std::max(0.0, wal_lsn_ - *restart), at, line);
  if (restart)
    slots_[name] = {*restart, line};
  most_advanced_ =
      std::max({most_advanced_, restart.value_or(0), lsn(values, "confirmed_flush_lsn").value_or(0)});
  const std::string& reason = cell(values, "invalidation_reason");
  const std::string& status = cell(values, "wal_status");
  if (status == "lost" or not reason.empty())
    say_once("slot_lost", name, reason.empty() ? "wal_status is lost" : reason, at, line);
  else if (status == "unreserved")
    say_once("slot_unreserved", name, "wal_status is unreserved", at, line);
  else if (is_false(cell(values, "active")) and is_false(cell(values, "temporary")))
    say_once("slot_inactive", name, "active is false", at, line);
}

void ViewDerivations::say_once(const char* type, const std::string& slot, const std::string& message,
                               std::optional<TimeUs> at, std::uint64_t line) {
  if (said_.insert({type, slot}).second)
    context_.observation.add({type,
                              at.value_or(0),
                              {},
                              {{"slot", slot}, {"message", fmt::format("slot \"{}\": {}", slot, message)}},
                              context_.place(line, line)});
}

void ViewDerivations::subscription(const ViewRow& values, const Labels& labels, std::optional<TimeUs> at,
                                   std::uint64_t line) {
  const auto sent = parse_view_time(cell(values, "last_msg_send_time"));
  const auto received = parse_view_time(cell(values, "last_msg_receipt_time"));
  if (sent and received)
    sample("msg_delay_s", labels, static_cast<double>(*received - *sent) * 1e-6, at ? at : received, line);
}

/// 16 and 17 count operations and say how large one is.
void ViewDerivations::io(const ViewRow& values, const Labels& labels, std::optional<TimeUs> at,
                         std::uint64_t line) {
  const auto size = parse_number(cell(values, "op_bytes"));
  if (not size)
    return;
  for (const auto& [column, metric] :
       {std::pair("reads", "io_read_bytes"), std::pair("writes", "io_write_bytes"),
        std::pair("extends", "io_extend_bytes")})
    if (const auto count = parse_number(cell(values, column)))
      sample(metric, labels, *count * *size, at, line, true);
}

void ViewDerivations::lock(const ViewRow& values, const Labels& labels, std::optional<TimeUs> at,
                           std::uint64_t line) {
  if (at != locks_at_)
    count_locks();
  locks_at_ = at;
  auto& [count, last_line] = locks_[labels];
  count += 1;
  last_line = line;
  const auto since = parse_view_time(cell(values, "waitstart"));
  if (is_false(cell(values, "granted")) and since and at)
    waits_[{cell(values, "pid"), *since}] = {*at, cell(values, "mode"), cell(values, "locktype"), line};
}

void ViewDerivations::count_locks() {
  for (const auto& [labels, found] : locks_)
    sample("locks", labels, found.first, locks_at_, found.second);
  locks_.clear();
}

void ViewDerivations::finish() {
  count_locks();
  for (const auto& [key, wait] : waits_) {
    const double waited_s = static_cast<double>(wait.seen_us - key.second) * 1e-6;
    context_.observation.add({"lock_wait",
                              key.second,
                              wait.seen_us,
                              {{"pid", key.first}, {"mode", wait.mode}, {"object", wait.object}},
                              context_.place(wait.line, wait.line)});
    context_.observation
        .series("blocked_s", context_.source,
                {{"mode", wait.mode}, {"object", wait.object}, {"seen_in", "pg_locks"}})
        .add({wait.seen_us, waited_s, wait.line});
  }
  if (has_wal_ or slots_.size() < 2)
    return;
  for (const auto& [name, last] : slots_)
    context_.observation.figures.push_back({"retained_wal_bytes",
                                            most_advanced_ - last.restart_lsn,
                                            {},
                                            {{"slot", name}},
                                            "at least: behind the most advanced position of all slots",
                                            context_.place(last.line, last.line)});
}

} // namespace replisim::readers
