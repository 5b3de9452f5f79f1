#include "calibration/readers/postgres_log.hpp"

#include "calibration/readers/log_formats.hpp"
#include "calibration/readers/zones.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <utility>

namespace replisim::readers {

namespace {

enum class Form { None, Stderr, Csv, Json };

struct Judgement {
  Form form = Form::None;
  Match match = Match::No;
};

bool is_json_entry(std::string_view line) {
  return line.starts_with('{') and line.find("\"error_severity\"") != std::string_view::npos and
         line.find("\"timestamp\"") != std::string_view::npos;
}

Judgement judge(const FileHead& head) {
  const auto lines = head.lines(400);
  std::size_t labelled = 0;
  for (const std::string_view line : lines) {
    if (is_json_entry(line))
      return {Form::Json, Match::Certain};
    if (begins_csv_record(line) and std::count(line.begin(), line.end(), ',') >= 12)
      return {Form::Csv, Match::Certain};
    labelled += not line.starts_with('\t') and find_label(line) != std::string_view::npos ? 1U : 0U;
  }
  if (labelled == 0)
    return {};
  // Other programs quote a server's messages now and then.
  const bool is_usual = labelled * 3 >= lines.size();
  return {Form::Stderr, is_usual                        ? Match::Certain
                        : labelled * 20 >= lines.size() ? Match::Likely
                                                        : Match::Perhaps};
}

std::string read_stderr(LineInput& input, ReadContext& context, const FileHead& head, LogClock& clock,
                        LogEvents& events) {
  const bool is_given = not context.options.log_line_prefix.empty();
  PrefixGuess guess;
  if (is_given)
    guess.format = context.options.log_line_prefix;
  else
    guess = guess_prefix(head.lines(1500));
  std::vector<LogPrefix> formats;
  formats.emplace_back(guess.format);
  const bool has_time = formats[0].has_time();
  StderrLog log(std::move(formats), not is_given, clock, events, input);
  std::string_view line;
  while (input.next(line))
    log.add(line);
  log.finish();
  if (log.matched_lines() == 0)
    input.report_file(
        "no_prefix",
        is_given ? fmt::format("no line begins as log_line_prefix '{}' says; without --log-line-prefix "
                               "it is inferred",
                               guess.format)
                 : std::string("no log_line_prefix fits its lines; give it: --log-line-prefix"));
  else if (log.foreign_lines() > 0)
    input.report_file(
        "foreign_lines",
        fmt::format("{} lines begin in another way than log_line_prefix '{}' says; they were left out",
                    log.foreign_lines(), guess.format));
  if (not has_time)
    input.report_file("no_time", "log_line_prefix has no time: what happened is known, when it did is not");
  return fmt::format(
      "stderr, log_line_prefix '{}'{}", guess.format,
      is_given ? ""
               : fmt::format(" (inferred; fits {} of the first {} messages)", guess.matched, guess.labelled));
}

class PostgresLogReader final : public Reader {
public:
  std::string_view name() const override { return "postgres-log"; }
  std::string_view reads() const override { return "PostgreSQL server logs (stderr, csvlog, jsonlog)"; }
  Match recognises(const FileHead& head) const override { return judge(head).match; }

  void read(LineInput& input, ReadContext& context) const override {
    const FileHead head{input.file(), input.head(), input.head_is_all()};
    const std::string head_text(head.text); // the input's buffer moves on
    const FileHead kept{input.file(), head_text, head.is_all};
    LogClock clock(zone_offset(context.options));
    LogEvents events(context);
    std::string format;
    std::string_view line;
    switch (judge(kept).form) {
    case Form::Csv: {
      CsvLog log(clock, events, input);
      while (input.next(line))
        log.add(line);
      log.finish();
      format = fmt::format("csvlog, {} columns", log.columns());
      break;
    }
    case Form::Json: {
      JsonLog log(clock, events, input);
      while (input.next(line))
        log.add(line);
      format = "jsonlog";
      break;
    }
    default:
      format = read_stderr(input, context, kept, clock, events);
    }
    events.finish();
    say_zone(clock, input);
    Source& info = context.info();
    info.format = format;
    info.time_base = info.first_us ? TimeBase::Wall : TimeBase::None;
    if (events.saw_publisher() != events.saw_subscriber())
      info.node = events.saw_publisher() ? "pub" : "sub";
    if (events.messages() > 0 and events.known_messages() == 0)
      input.report_file(
          "nothing_known",
          fmt::format("none of its {} messages is one that is known: written in another language "
                      "(lc_messages), or nothing about replication was logged",
                      events.messages()));
  }
};

} // namespace

std::unique_ptr<Reader> make_postgres_log_reader() { return std::make_unique<PostgresLogReader>(); }

} // namespace replisim::readers
