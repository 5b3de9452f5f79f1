// Messages of apply workers, and about subscriptions.
#include "calibration/readers/log_events.hpp"
#include "calibration/readers/text_scan.hpp"

#include <algorithm>

namespace replisim::readers {

namespace {

AttributeValue text_of(std::string_view text) { return std::string(text); }

/// The name in quotes behind "subscription ".
std::string subscription_in(std::string_view text) {
  TextScan scan(text);
  return scan.skip_past("subscription ") ? std::string(scan.quoted()) : std::string();
}

/// processing remote data for replication origin "pg_16395" during message type "INSERT" for replication
/// target relation "public.t" column "c" in transaction 740, finished at 0/1D30D48
std::vector<std::pair<std::string, AttributeValue>> apply_context(std::string_view context) {
  std::vector<std::pair<std::string, AttributeValue>> attributes;
  const auto take = [&](const char* name, std::string_view literal) {
    TextScan scan(context);
    if (scan.skip_past(literal))
      attributes.emplace_back(name, text_of(scan.quoted()));
  };
  take("origin", "for replication origin ");
  take("message_type", "during message type ");
  take("relation", "replication target relation ");
  TextScan scan(context);
  if (scan.skip_past("in transaction "))
    if (const auto xid = scan.whole())
      attributes.emplace_back("remote_xid", *xid);
  TextScan position(context);
  if (position.skip_past("finished at "))
    if (const auto lsn = position.lsn())
      attributes.emplace_back("finished_at_lsn", format_lsn(*lsn));
  return attributes;
}

bool is_apply_context(std::string_view context) {
  return context.find("processing remote data") != std::string_view::npos;
}

} // namespace

void LogEvents::apply_worker(const LogRecord& record) {
  const std::string_view text = record.text;
  const auto contains = [&](std::string_view part) { return text.find(part) != std::string_view::npos; };
  if (contains("launcher ")) {
    ++subscriber_messages_;
    return; // every server has one
  }
  std::string kind = "apply";
  if (contains("parallel apply worker") or record.backend_type == "logical replication parallel worker")
    kind = "parallel";
  else if (contains("table synchronization worker") or contains("table sync"))
    kind = "tablesync";
  else if (contains("sequence synchronization worker"))
    kind = "sequencesync";
  ++subscriber_messages_;
  const std::string subscription = subscription_in(text);
  Attributes attributes = {{"subscription", subscription}, {"worker", kind}};
  if (contains("has started")) {
    apply_workers_[record.pid] = {subscription, kind};
    return book("apply_start", record, std::move(attributes));
  }
  if (contains("will serialize the remaining changes")) {
    TextScan scan(text);
    if (scan.skip_past("remote transaction "))
      attributes.emplace_back("remote_xid", scan.whole().value_or(0));
    return book("changes_to_file", record, std::move(attributes));
  }
  if (contains("exited due to error"))
    return book("parallel_apply_error", record, std::move(attributes));
  if (contains("has finished") or contains("will stop") or contains("will restart")) {
    const std::size_t because = text.find("because ");
    if (because != std::string_view::npos)
      attributes.emplace_back("reason", text_of(text.substr(because + 8)));
    return book("apply_stop", record, std::move(attributes));
  }
}

void LogEvents::apply_timeout(const LogRecord& record) {
  ++subscriber_messages_;
  if (record.text.find("due to timeout") == std::string_view::npos)
    return; // ended on request
  const auto worker = apply_workers_.find(record.pid);
  Attributes attributes;
  if (worker != apply_workers_.end())
    attributes.emplace_back("subscription", worker->second.subscription);
  book("apply_timeout", record, std::move(attributes));
}

void LogEvents::apply_failed(const LogRecord& record) {
  ++subscriber_messages_;
  book("parallel_apply_error", record, {{"message", text_of(record.text)}});
}

void LogEvents::worker_exit(const LogRecord& record) {
  TextScan scan(record.text);
  scan.skip("background worker ");
  const std::string_view worker = scan.quoted();
  if (not worker.starts_with("logical replication") or not scan.skip(" (PID "))
    return;
  ++subscriber_messages_;
  const auto pid = scan.whole().value_or(0);
  Attributes attributes = {{"worker", text_of(worker)}, {"worker_pid", pid}};
  TextScan code(record.text);
  if (code.skip_past("exited with exit code "))
    attributes.emplace_back("exit_code", code.whole().value_or(0));
  TextScan signal(record.text);
  if (signal.skip_past("terminated by signal "))
    attributes.emplace_back("signal", text_of(signal.rest()));
  const auto known = apply_workers_.find(pid);
  if (known != apply_workers_.end())
    attributes.emplace_back("subscription", known->second.subscription);
  book("worker_exit", record, std::move(attributes));
}

void LogEvents::connection_lost(const LogRecord& record) {
  if (record.text.starts_with("unexpected EOF")) {
    ++publisher_messages_;
    end_decoding(record.pid, record, "connection lost", {});
  } else {
    ++subscriber_messages_;
  }
  Attributes attributes = {{"message", text_of(record.text)}};
  std::string subscription = subscription_in(record.text);
  const auto worker = apply_workers_.find(record.pid);
  if (subscription.empty() and worker != apply_workers_.end())
    subscription = worker->second.subscription;
  if (not subscription.empty())
    attributes.emplace_back("subscription", subscription);
  book("connection_lost", record, std::move(attributes));
}

void LogEvents::conflict(const LogRecord& record) {
  // conflict detected on relation "public.t": conflict=insert_exists
  ++subscriber_messages_;
  TextScan scan(record.text);
  scan.skip("conflict detected on relation ");
  const std::string_view relation = scan.quoted();
  scan.skip_past("conflict=");
  Attributes attributes = {{"relation", text_of(relation)}, {"conflict", text_of(scan.rest())}};
  for (auto& attribute : apply_context(record.context))
    if (attribute.first != "relation")
      attributes.push_back(std::move(attribute));
  book("conflict", record, std::move(attributes));
}

void LogEvents::subscription_changed(const LogRecord& record) {
  TextScan scan(record.text);
  scan.skip("subscription ");
  const std::string subscription(scan.quoted());
  if (not scan.rest().starts_with(" has been disabled"))
    return;
  ++subscriber_messages_;
  book("subscription_disabled", record, {{"subscription", subscription}});
}

void LogEvents::any_error(const LogRecord& record) {
  const char* level = record.level == LogLabel::Error   ? "ERROR"
                      : record.level == LogLabel::Fatal ? "FATAL"
                                                        : "PANIC";
  if (is_apply_context(record.context)) {
    ++subscriber_messages_;
    Attributes attributes = {{"message", text_of(record.text)}};
    const auto worker = apply_workers_.find(record.pid);
    if (worker != apply_workers_.end())
      attributes.emplace_back("subscription", worker->second.subscription);
    for (auto& attribute : apply_context(record.context))
      attributes.push_back(std::move(attribute));
    return book("apply_error", record, std::move(attributes));
  }
  const bool ends_session = record.level != LogLabel::Error or walsenders_.contains(record.pid);
  if (ends_session)
    end_decoding(record.pid, record, "error", {});
  book("error", record, {{"level", std::string(level)}, {"message", text_of(record.text.substr(0, 200))}});
}

} // namespace replisim::readers
