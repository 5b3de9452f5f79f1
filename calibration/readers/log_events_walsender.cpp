// Messages of walsenders and about replication slots.
#include "calibration/readers/log_events.hpp"
#include "calibration/readers/text_scan.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace replisim::readers {

namespace {

AttributeValue text_of(std::string_view text) { return std::string(text); }
AttributeValue whole_of(std::uint64_t value) { return static_cast<std::int64_t>(value); }

/// The value of an option in START_REPLICATION's list: `streaming 'parallel'`, `"streaming" 'on'`.
std::string_view option_of(std::string_view command, std::string_view name) {
  const std::size_t open = command.find('(');
  if (open == std::string_view::npos)
    return {};
  for (std::size_t at = command.find(name, open); at != std::string_view::npos;
       at = command.find(name, at + 1)) {
    const char before = command[at - 1];
    TextScan scan(command.substr(at + name.size()));
    scan.skip("\"");
    if ((before == '(' or before == ' ' or before == '"') and scan.skip(" '"))
      return scan.until("'");
  }
  return {};
}

} // namespace

void LogEvents::replication_command(const LogRecord& record) {
  TextScan scan(record.text);
  scan.skip_past(": ");
  const std::string_view command = scan.rest();
  if (scan.skip("START_REPLICATION SLOT ")) {
    ++publisher_messages_;
    const std::string_view slot = scan.rest().starts_with('"') ? scan.quoted() : scan.until(" ");
    scan.skip(" ");
    if (not scan.skip("LOGICAL "))
      return;
    const std::string_view streaming = option_of(command, "streaming");
    Attributes attributes = {{"slot", text_of(slot)},
                             {"streaming", text_of(streaming.empty() ? "off" : streaming)}};
    for (const char* option : {"proto_version", "publication_names", "two_phase", "origin", "binary"})
      if (const std::string_view value = option_of(command, option); not value.empty())
        attributes.emplace_back(option, text_of(value));
    if (not record.application.empty())
      attributes.emplace_back("application", text_of(record.application));
    walsenders_[record.pid].slot = slot;
    walsenders_[record.pid].application = record.application;
    book("start_replication", record, std::move(attributes));
  } else if (scan.skip("CREATE_REPLICATION_SLOT ")) {
    ++publisher_messages_;
    const std::string_view slot = scan.rest().starts_with('"') ? scan.quoted() : scan.until(" ");
    if (command.find(" LOGICAL") != std::string_view::npos)
      book("create_slot", record, {{"slot", text_of(slot)}});
  }
}

void LogEvents::decoding_start(const LogRecord& record) {
  ++publisher_messages_;
  TextScan name(record.text);
  name.skip("starting logical decoding for slot ");
  const std::string slot(name.quoted());
  TextScan detail(record.detail);
  std::optional<std::uint64_t> commit_after;
  std::optional<std::uint64_t> read_from;
  if (detail.skip_past("committing after "))
    commit_after = detail.lsn();
  if (detail.skip_past("reading WAL from "))
    read_from = detail.lsn();
  end_decoding(record.pid, record, "started again", {});
  if (not commit_after or not read_from) {
    context_.problems.add(
        {.file = context_.info().file,
         .line = record.first_line,
         .kind = "no_detail",
         .message = fmt::format("logical decoding starts for slot \"{}\", but the DETAIL line with "
                                "its WAL positions is missing (log_error_verbosity = terse?)",
                                slot)});
    return book("decoding_start", record, {{"slot", slot}});
  }
  SlotStarts& starts = slots_[slot];
  starts.same_position =
      starts.starts > 0 and starts.commit_after_lsn == *commit_after ? starts.same_position + 1 : 0;
  starts.commit_after_lsn = *commit_after;
  ++starts.starts;
  const std::uint64_t redecoded = *commit_after > *read_from ? *commit_after - *read_from : 0;
  Walsender& walsender = walsenders_[record.pid];
  walsender.slot = slot;
  walsender.commit_after_lsn = *commit_after;
  walsender.read_from_lsn = *read_from;
  walsender.start_us = record.at_us;
  walsender.is_decoding = true;
  walsender.line = record.first_line;
  const Labels labels = {{"slot", slot}};
  sample("redecoded_bytes", record, static_cast<double>(redecoded), labels);
  sample("confirmed_flush_lsn", record, static_cast<double>(*commit_after), labels);
  sample("restart_lsn", record, static_cast<double>(*read_from), labels);
  book("decoding_start", record,
       {{"slot", slot},
        {"confirmed_flush_lsn", format_lsn(*commit_after)},
        {"restart_lsn", format_lsn(*read_from)},
        {"redecoded_bytes", whole_of(redecoded)},
        {"starts_without_progress", whole_of(starts.same_position)}});
}

void LogEvents::consistent_point(const LogRecord& record) {
  ++publisher_messages_;
  TextScan scan(record.text);
  scan.skip("logical decoding found ");
  const std::string_view kind = scan.until(" at ");
  const auto lsn = scan.lsn();
  if (not lsn)
    return;
  Attributes attributes = {{"kind", text_of(kind)}, {"lsn", format_lsn(*lsn)}};
  TextScan detail(record.detail);
  if (detail.skip_past("(approximately ")) {
    if (const auto waiting = detail.whole())
      attributes.emplace_back("waiting_transactions", *waiting);
  } else if (record.detail.starts_with("There are no running transactions")) {
    attributes.emplace_back("waiting_transactions", std::int64_t{0});
  } else if (record.detail.find("saved snapshot") != std::string_view::npos) {
    attributes.emplace_back("snapshot", std::string("saved"));
  }
  book("consistent_point", record, std::move(attributes));
}

void LogEvents::slot_released(const LogRecord& record) {
  ++publisher_messages_;
  end_decoding(record.pid, record, "slot released", {});
}

void LogEvents::slot_busy(const LogRecord& record) {
  TextScan scan(record.text);
  scan.skip("replication slot ");
  const std::string_view slot = scan.quoted();
  if (scan.skip(" is active for PID "))
    book("slot_busy", record, {{"slot", text_of(slot)}, {"held_by_pid", scan.whole().value_or(0)}});
}

void LogEvents::walsender_timeout(const LogRecord& record) {
  ++publisher_messages_;
  // slot "s", output plugin "pgoutput", in the change callback, associated LSN 0/5BCA68D8
  TextScan scan(record.context);
  std::string slot;
  std::optional<std::uint64_t> lsn;
  Attributes attributes;
  if (scan.skip_past("slot "))
    slot = scan.quoted();
  TextScan callback(record.context);
  if (callback.skip_past("in the "))
    attributes.emplace_back("callback", text_of(callback.until(" callback")));
  TextScan position(record.context);
  if (position.skip_past("associated LSN "))
    lsn = position.lsn();
  const auto walsender = walsenders_.find(record.pid);
  if (slot.empty() and walsender != walsenders_.end())
    slot = walsender->second.slot;
  if (lsn)
    attributes.emplace_back("lsn", format_lsn(*lsn));
  attributes.emplace_back("slot", slot);
  if (walsender != walsenders_.end() and walsender->second.is_decoding) {
    attributes.emplace_back("after_s", static_cast<double>(record.at_us - walsender->second.start_us) * 1e-6);
  }
  book("walsender_timeout", record, std::move(attributes));
  end_decoding(record.pid, record, "wal_sender_timeout", lsn);
}

/// Books the span of a walsender's decoding and, where the position it reached is known, its rate.
void LogEvents::end_decoding(std::int64_t pid, const LogRecord& record, std::string_view how,
                             std::optional<std::uint64_t> reached_lsn) {
  const auto found = walsenders_.find(pid);
  if (found == walsenders_.end() or not found->second.is_decoding)
    return;
  Walsender& walsender = found->second;
  walsender.is_decoding = false;
  Attributes attributes = {{"slot", walsender.slot}, {"end", text_of(how)}};
  const TimeUs passed_us = record.at_us - walsender.start_us;
  if (reached_lsn and *reached_lsn > walsender.read_from_lsn and passed_us > 0) {
    const auto bytes = static_cast<double>(*reached_lsn - walsender.read_from_lsn);
    const double rate = bytes / (static_cast<double>(passed_us) * 1e-6);
    attributes.emplace_back("decoded_bytes", whole_of(*reached_lsn - walsender.read_from_lsn));
    attributes.emplace_back("decode_bytes_per_s", rate);
    sample("decode_bytes_per_s", record, rate, {{"slot", walsender.slot}});
  }
  book("decoding", record, std::move(attributes), walsender.start_us, walsender.line);
}

void LogEvents::slot_invalidated(const LogRecord& record) {
  ++publisher_messages_;
  TextScan scan(record.text);
  scan.skip_past("slot ");
  Attributes attributes = {{"slot", text_of(scan.quoted())}};
  TextScan position(record.text);
  TextScan detail(record.detail);
  if (position.skip_past("restart_lsn ")) {
    if (const auto lsn = position.lsn())
      attributes.emplace_back("restart_lsn", format_lsn(*lsn));
  } else if (detail.skip_past("restart_lsn ")) {
    if (const auto lsn = detail.lsn())
      attributes.emplace_back("restart_lsn", format_lsn(*lsn));
    if (detail.skip(" exceeds the limit by "))
      if (const auto bytes = detail.whole())
        attributes.emplace_back("exceeds_by_bytes", *bytes);
  } else if (not record.detail.empty()) {
    attributes.emplace_back("reason", text_of(record.detail));
  }
  book("slot_invalidated", record, std::move(attributes));
}

void LogEvents::wal_removed(const LogRecord& record) {
  TextScan scan(record.text);
  scan.skip("requested WAL segment ");
  const std::string_view segment = scan.until(" ");
  if (scan.rest().starts_with("has already been removed"))
    book("wal_removed", record, {{"segment", text_of(segment)}});
}

void LogEvents::restart_lsn_moved(const LogRecord& record) {
  TextScan scan(record.text);
  scan.skip("got new restart lsn ");
  const auto lsn = scan.lsn();
  if (not lsn)
    return;
  const auto walsender = walsenders_.find(record.pid);
  const std::string slot = walsender == walsenders_.end() ? "" : walsender->second.slot;
  sample("restart_lsn", record, static_cast<double>(*lsn), slot.empty() ? Labels{} : Labels{{"slot", slot}});
}

void LogEvents::restart_lsn_stuck(const LogRecord& record) {
  // proposed P, after A, current candidate C, current after CA, flushed up to F
  TextScan scan(record.text);
  const auto proposed = scan.skip_past("proposed ") ? scan.lsn() : std::nullopt;
  const auto flushed = scan.skip_past("flushed up to ") ? scan.lsn() : std::nullopt;
  if (not proposed or not flushed)
    return;
  const std::uint64_t pinned = *flushed > *proposed ? *flushed - *proposed : 0;
  sample("retained_wal_bytes", record, static_cast<double>(pinned));
  book("restart_lsn_stuck", record,
       {{"proposed_lsn", format_lsn(*proposed)},
        {"flushed_lsn", format_lsn(*flushed)},
        {"retained_wal_bytes", whole_of(pinned)}});
}

void LogEvents::changes_spilled(const LogRecord& record) {
  // DEBUG2: "spill 4096 changes in XID 731 to disk"
  TextScan scan(record.text);
  scan.skip("spill ");
  const auto changes = scan.whole();
  if (not changes or not scan.skip(" changes in XID "))
    return;
  ++publisher_messages_;
  book("spill", record, {{"changes", *changes}, {"xid", scan.whole().value_or(0)}});
  sample("spilled_changes", record, static_cast<double>(*changes));
}

void LogEvents::decoding_stats(const LogRecord& record) {
  // DEBUG2: a pointer, then what was added to the eight counters of pg_stat_replication_slots
  TextScan scan(record.text);
  scan.skip("UpdateDecodingStats: updating stats ");
  scan.until(" ");
  const auto walsender = walsenders_.find(record.pid);
  const Labels labels = walsender == walsenders_.end() ? Labels{} : Labels{{"slot", walsender->second.slot}};
  for (const char* name : {"spill_txns", "spill_count", "spill_bytes", "stream_txns", "stream_count",
                           "stream_bytes", "total_txns", "total_bytes"}) {
    const auto value = scan.whole();
    if (not value)
      return;
    scan.skip(" ");
    auto& series = context_.observation.series(name, context_.source, labels, true);
    const double before = series.count() > 0 ? series.last().value : 0;
    counter(name, record, before + static_cast<double>(*value), labels);
  }
}

} // namespace replisim::readers
