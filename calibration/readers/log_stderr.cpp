// stderr logs: prefix, label, further parts, tabbed lines.
#include "calibration/readers/log_formats.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace replisim::readers {

namespace {

/// Parts beyond this are cut: statements may be megabytes, and nothing is read from their ends.
constexpr std::size_t max_part_bytes = 16384;
/// Messages that wait for further parts: one a process; long logs have many processes.
constexpr std::size_t max_open_messages = 1024;

void append(std::string& part, std::string_view text) {
  if (part.size() < max_part_bytes)
    part.append(text.substr(0, max_part_bytes - part.size()));
}

} // namespace

StderrLog::StderrLog(std::vector<LogPrefix> formats, bool may_learn, LogClock& clock, LogEvents& events,
                     LineInput& input)
    : formats_(std::move(formats)), may_learn_(may_learn), clock_(clock), events_(events), input_(input) {}

void StderrLog::add(std::string_view line) {
  if (line.starts_with('\t'))
    return continue_part(line.substr(1));
  PrefixFields fields;
  std::string_view text;
  LogLabel label = match(line, fields, text);
  if (label == LogLabel::None and may_learn_)
    label = learn(line, fields, text);
  if (label == LogLabel::None) {
    if (line.empty() or last_part_ != nullptr)
      return continue_part(line); // a log that lost its tabs
    ++foreign_lines_;
    return;
  }
  ++matched_lines_;
  if (is_further_part(label))
    add_part(label, fields, text);
  else
    open_message(label, fields, text);
}

LogLabel StderrLog::match(std::string_view line, PrefixFields& fields, std::string_view& text) {
  for (std::size_t i = 0; i < formats_.size(); ++i) {
    const LogLabel label = formats_[i].match(line, clock_, fields, text);
    if (label == LogLabel::None)
      continue;
    if (i > 0)
      std::swap(formats_[0], formats_[i]); // the next lines are likely to be alike
    return label;
  }
  return LogLabel::None;
}

/// A line with a label behind another prefix: log_line_prefix was changed, or another server writes here,
/// too.
LogLabel StderrLog::learn(std::string_view line, PrefixFields& fields, std::string_view& text) {
  if (lessons_left_ == 0 or line.substr(0, 512).find(":  ") == std::string_view::npos)
    return LogLabel::None;
  --lessons_left_;
  const PrefixGuess guess = guess_prefix({line.substr(0, 2048)});
  if (guess.matched == 0 or guess.format.empty())
    return LogLabel::None;
  LogPrefix learned(guess.format);
  if (not learned.has_time() and formats_.front().has_time())
    return LogLabel::None;
  const LogLabel label = learned.match(line, clock_, fields, text);
  if (label == LogLabel::None)
    return LogLabel::None;
  input_.report("other_prefix", fmt::format("log_line_prefix changes from '{}' to '{}' here; both are read",
                                            formats_.front().format(), guess.format));
  formats_.insert(formats_.begin(), std::move(learned));
  return label;
}

void StderrLog::open_message(LogLabel level, const PrefixFields& fields, std::string_view text) {
  last_part_ = nullptr;
  last_message_ = nullptr;
  if (const auto before = open_.find(fields.pid); before != open_.end()) {
    hand_out(before->second);
    open_.erase(before);
  }
  const LogEvents::Need need = LogEvents::need_of(level, text);
  LogRecord record{.at_us = fields.at_us.value_or(0),
                   .has_time = fields.at_us.has_value(),
                   .pid = fields.pid,
                   .level = level,
                   .text = text,
                   .user = fields.user,
                   .database = fields.database,
                   .application = fields.application,
                   .backend_type = fields.backend_type,
                   .command_tag = fields.command_tag,
                   .first_line = input_.line_number(),
                   .last_line = input_.line_number()};
  events_.see(record);
  if (need == LogEvents::Need::Nothing)
    return;
  if (need == LogEvents::Need::FirstLine)
    return events_.accept(record);
  if (open_.size() >= max_open_messages) {
    // The one that waits longest has most likely ended with its process.
    const auto oldest = std::min_element(open_.begin(), open_.end(), [](const auto& a, const auto& b) {
      return a.second.record.first_line < b.second.record.first_line;
    });
    hand_out(oldest->second);
    open_.erase(oldest);
  }
  Message& message = open_[fields.pid];
  message.record = record;
  append(message.text, text);
  message.user = fields.user;
  message.database = fields.database;
  message.application = fields.application;
  message.backend_type = fields.backend_type;
  message.command_tag = fields.command_tag;
  last_message_ = &message;
  last_part_ = &message.text;
}

std::string* StderrLog::part_of(Message& message, LogLabel label) {
  switch (label) {
  case LogLabel::Detail:
    return &message.detail;
  case LogLabel::Hint:
    return &message.hint;
  case LogLabel::Context:
    return &message.context;
  case LogLabel::Statement:
    return &message.statement;
  default:
    return nullptr;
  }
}

void StderrLog::add_part(LogLabel label, const PrefixFields& fields, std::string_view text) {
  last_part_ = nullptr;
  const auto found = open_.find(fields.pid);
  if (found == open_.end())
    return; // of a message that is of no interest
  last_message_ = &found->second;
  last_message_->record.last_line = input_.line_number();
  last_part_ = part_of(*last_message_, label);
  if (last_part_ != nullptr)
    append(*last_part_, text);
}

void StderrLog::continue_part(std::string_view line) {
  if (last_part_ == nullptr)
    return;
  append(*last_part_, "\n");
  append(*last_part_, line);
  last_message_->record.last_line = input_.line_number();
}

void StderrLog::hand_out(Message& message) {
  LogRecord& record = message.record;
  record.text = message.text;
  record.detail = message.detail;
  record.hint = message.hint;
  record.context = message.context;
  record.statement = message.statement;
  record.user = message.user;
  record.database = message.database;
  record.application = message.application;
  record.backend_type = message.backend_type;
  record.command_tag = message.command_tag;
  events_.accept(record);
}

void StderrLog::finish() {
  // In the order of the file, not of process ids.
  std::vector<Message*> rest;
  for (auto& [pid, message] : open_)
    rest.push_back(&message);
  std::sort(rest.begin(), rest.end(),
            [](const Message* a, const Message* b) { return a->record.first_line < b->record.first_line; });
  for (Message* message : rest)
    hand_out(*message);
  open_.clear();
}

} // namespace replisim::readers
