// Messages of the server at large: locks, checkpoints, statements, connections, starts and ends.
#include "calibration/readers/log_events.hpp"
#include "calibration/readers/text_scan.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>

namespace replisim::readers {

namespace {

AttributeValue text_of(std::string_view text) { return std::string(text); }

/// "ShareLock on transaction 731", "RowExclusiveLock on tuple (0,1) of relation 16385 of database 5": mode,
/// object.
std::pair<std::string, std::string> lock_in(std::string_view text) {
  TextScan scan(text);
  const std::string mode(scan.until(" on "));
  return {mode, std::string(scan.rest())};
}

/// Without the numbers that make every object another one: for labels, of which there must not be many.
std::string kind_of_object(std::string_view object) {
  for (const std::string_view kind :
       {"remote transaction", "transaction", "tuple", "relation", "extension of relation",
        "virtual transaction", "advisory lock", "page", "speculative token", "object"})
    if (object.starts_with(kind))
      return std::string(kind);
  return "other";
}

std::optional<double> seconds_after(std::string_view text, std::string_view label) {
  TextScan scan(text);
  return scan.skip_past(label) ? scan.real() : std::nullopt;
}

/// Statements that change the catalogue, or the statistics in it: they invalidate what decoders have cached.
bool changes_catalogue(std::string_view statement) {
  constexpr std::array verbs = {
      std::string_view("alter"),   std::string_view("create"),   std::string_view("drop"),
      std::string_view("grant"),   std::string_view("revoke"),   std::string_view("truncate"),
      std::string_view("comment"), std::string_view("reindex"),  std::string_view("cluster"),
      std::string_view("vacuum"),  std::string_view("analyze"),  std::string_view("refresh"),
      std::string_view("import"),  std::string_view("security"),
  };
  std::string word;
  for (const char c : statement.substr(0, 10)) {
    if ((c < 'a' or c > 'z') and (c < 'A' or c > 'Z'))
      break;
    word += static_cast<char>(c | 0x20);
  }
  return std::find(verbs.begin(), verbs.end(), word) != verbs.end();
}

} // namespace

void LogEvents::lock_wait(const LogRecord& record) {
  // process 73 still waiting for ShareLock on transaction 731 after 1000.123 ms
  TextScan scan(record.text);
  scan.skip("process ");
  const auto pid = scan.whole();
  if (not pid or not scan.skip(" "))
    return;
  const std::size_t after = scan.rest().rfind(" after ");
  const auto waited_ms =
      after == std::string_view::npos ? std::nullopt : TextScan(scan.rest().substr(after + 7)).real();
  if (not waited_ms)
    return;
  const auto begin_us = record.at_us - static_cast<TimeUs>(*waited_ms * 1000);
  const std::string_view what = scan.rest().substr(0, after);
  TextScan verb(what);
  if (verb.skip("still waiting for ")) {
    LockWait& wait = lock_waits_[*pid];
    std::tie(wait.mode, wait.object) = lock_in(verb.rest());
    wait.begin_us = begin_us;
    wait.line = record.first_line;
    TextScan holders(record.detail);
    if (holders.skip_past("holding the lock: "))
      wait.holders = holders.until(".");
    return;
  }
  std::string end;
  if (verb.skip("acquired "))
    end = "acquired";
  else if (verb.skip("avoided deadlock for "))
    end = "acquired";
  else if (verb.skip("detected deadlock while waiting for "))
    end = "deadlock";
  else if (verb.skip("failed to acquire "))
    end = "failed";
  else
    return;
  const auto [mode, object] = lock_in(verb.rest());
  const auto open = lock_waits_.find(*pid);
  Attributes attributes = {{"waiting_pid", *pid}, {"mode", mode}, {"object", object}, {"end", end}};
  std::uint64_t first_line = 0;
  if (open != lock_waits_.end()) {
    attributes.emplace_back("holders", open->second.holders);
    first_line = open->second.line;
    lock_waits_.erase(open);
  }
  sample("blocked_s", record, *waited_ms * 1e-3, {{"mode", mode}, {"object", kind_of_object(object)}});
  book("lock_wait", record, std::move(attributes), begin_us, first_line);
}

void LogEvents::deadlock(const LogRecord& record) {
  book("deadlock", record, {{"detail", text_of(record.detail.substr(0, 500))}});
}

void LogEvents::checkpoint_start(const LogRecord& record) {
  const std::size_t colon = record.text.find(':');
  std::string_view reason = record.text.substr(colon + 1);
  reason.remove_prefix(std::min(reason.find_first_not_of(' '), reason.size()));
  checkpoint_reasons_[record.pid] = reason;
}

void LogEvents::checkpoint_complete(const LogRecord& record) {
  const std::string_view text = record.text;
  const auto total_s = seconds_after(text, "total=");
  if (not total_s)
    return;
  Attributes attributes = {{"reason", checkpoint_reasons_[record.pid]}};
  checkpoint_reasons_.erase(record.pid);
  const auto take = [&](const char* name, std::string_view label, double factor) {
    const auto value = seconds_after(text, label);
    if (not value)
      return;
    attributes.emplace_back(name, *value * factor);
    sample(fmt::format("checkpoint_{}", name), record, *value * factor);
  };
  take("buffers", "wrote ", 1);
  take("write_s", "write=", 1);
  take("sync_s", "sync=", 1);
  take("total_s", "total=", 1);
  take("sync_files", "sync files=", 1);
  take("longest_sync_s", "longest=", 1);
  take("distance_bytes", "distance=", 1024);
  take("estimate_bytes", "estimate=", 1024);
  TextScan redo(text);
  if (redo.skip_past("redo lsn="))
    if (const auto lsn = redo.lsn())
      attributes.emplace_back("redo_lsn", format_lsn(*lsn));
  book("checkpoint", record, std::move(attributes), record.at_us - static_cast<TimeUs>(*total_s * 1e6));
}

void LogEvents::checkpoints_too_frequent(const LogRecord& record) {
  TextScan scan(record.text);
  scan.skip_past("(");
  book("checkpoints_too_frequent", record, {{"apart_s", scan.whole().value_or(0)}});
}

void LogEvents::duration(const LogRecord& record) {
  // duration: 6036.275 ms  statement: GRANT ...; also parse, bind, execute NAME, plan
  TextScan scan(record.text);
  scan.skip("duration: ");
  const auto duration_ms = scan.real();
  if (not duration_ms or not scan.skip(" ms"))
    return;
  std::string_view phase = "statement";
  std::string_view statement;
  if (scan.skip("  ")) {
    const std::size_t colon = scan.rest().find(": ");
    phase = scan.rest().substr(0, std::min(scan.rest().find(' '), colon));
    if (colon != std::string_view::npos)
      statement = scan.rest().substr(colon + 2);
  }
  if (phase == "parse" or phase == "bind" or phase == "plan:")
    return;
  sample("statement_s", record, *duration_ms * 1e-3);
  if (changes_catalogue(statement))
    book("ddl", record, {{"statement", text_of(statement.substr(0, 200))}},
         record.at_us - static_cast<TimeUs>(*duration_ms * 1000));
}

void LogEvents::temporary_file(const LogRecord& record) {
  TextScan scan(record.text);
  if (scan.skip_past(", size "))
    if (const auto bytes = scan.whole())
      sample("temporary_file_bytes", record, static_cast<double>(*bytes));
}

void LogEvents::connection(const LogRecord& record) {
  if (record.text.starts_with("connection received"))
    counter(
        "connections", record, 1 + [&] {
          const auto& series = context_.observation.series("connections", context_.source, {}, true);
          return series.count() > 0 ? series.last().value : 0.0;
        }());
}

void LogEvents::disconnection(const LogRecord& record) {
  // disconnection: session time: 0:21:19.803 user=...
  TextScan scan(record.text);
  scan.skip("disconnection: session time: ");
  const auto hours = scan.whole();
  scan.skip(":");
  const auto minutes = scan.whole();
  scan.skip(":");
  const auto seconds = scan.real();
  end_decoding(record.pid, record, "disconnection", {});
  walsenders_.erase(record.pid);
  if (hours and minutes and seconds)
    sample("session_s", record, static_cast<double>(*hours * 3600 + *minutes * 60) + *seconds);
}

void LogEvents::server_start(const LogRecord& record) {
  TextScan scan(record.text);
  scan.skip("starting PostgreSQL ");
  const std::string version(scan.until(" "));
  // A server that runs writes on while another one starts, or another version starts without an upgrade's
  // end.
  if (not server_version_.empty() and server_version_ != version)
    context_.problems.add(
        {.file = context_.info().file,
         .line = record.first_line,
         .kind = "two_clusters",
         .message = fmt::format("PostgreSQL {} starts in the log of a PostgreSQL {}: after an "
                                "upgrade, or the logs of two clusters in one file",
                                version, server_version_)});
  forget_processes();
  slots_.clear();
  server_version_ = version;
  book("server_start", record, {{"server_version", version}});
}

void LogEvents::server_listens(const LogRecord& record) {
  TextScan scan(record.text);
  if (not scan.skip_past(", port "))
    return;
  const std::string port(scan.rest());
  if (not last_port_.empty() and last_port_ != port)
    context_.problems.add(
        {.file = context_.info().file,
         .line = record.first_line,
         .kind = "two_clusters",
         .message = fmt::format("a server on port {} writes into the log of one on port {}: the "
                                "logs of two clusters in one file? Read them apart",
                                port, last_port_)});
  last_port_ = port;
}

void LogEvents::server_ready(const LogRecord& record) { book("server_ready", record, {}); }

void LogEvents::server_stop(const LogRecord& record) {
  TextScan scan(record.text);
  if (scan.skip("received ")) {
    const std::string_view kind = scan.until(" ");
    if (scan.rest() == "shutdown request")
      book("server_stop", record, {{"kind", text_of(kind)}});
    return;
  }
  forget_processes();
  book("server_down", record, {});
}

void LogEvents::crash(const LogRecord& record) {
  const bool is_process = record.text.starts_with("server process");
  if (is_process and record.text.find("terminated by signal") == std::string_view::npos and
      record.text.find("exited with exit code") == std::string_view::npos)
    return;
  Attributes attributes = {{"message", text_of(record.text)}};
  if (not record.detail.empty())
    attributes.emplace_back("detail", text_of(record.detail.substr(0, 200)));
  book("crash", record, std::move(attributes));
}

void LogEvents::parameter_changed(const LogRecord& record) {
  TextScan scan(record.text);
  scan.skip("parameter ");
  const std::string_view name = scan.quoted();
  if (scan.skip(" changed to "))
    book("parameter_changed", record, {{"name", text_of(name)}, {"value", text_of(scan.quoted())}});
}

} // namespace replisim::readers
