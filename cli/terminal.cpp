#include "cli/terminal.hpp"

#include "cli/output.hpp"
#include "sim/report/text.hpp"

#include <algorithm>
#include <array>
#include <cctype>
#include <charconv>
#include <cstdlib>

#include <sys/ioctl.h>
#include <unistd.h>

namespace replisim::cli {

namespace {

std::string_view environment(const char* name) {
  const char* value = std::getenv(name);
  return value == nullptr ? std::string_view() : std::string_view(value);
}

std::size_t window_columns() {
  winsize size{};
  if (::ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 and size.ws_col > 0)
    return size.ws_col;
  std::size_t columns = 0;
  const std::string_view text = environment("COLUMNS");
  std::from_chars(text.data(), text.data() + text.size(), columns);
  return columns;
}

constexpr std::string_view reset = "\033[0m";
constexpr std::string_view bold = "\033[1m";
constexpr std::string_view red = "\033[31m";
constexpr std::string_view green = "\033[32m";
constexpr std::string_view yellow = "\033[33m";

struct Paint {
  std::string_view words;
  std::string_view colour;
};

/// Longer ones before those they contain.
constexpr std::array paints = {Paint{"behind but catching up", yellow},
                               Paint{"caught up in the end", green},
                               Paint{"keeping up", green},
                               Paint{"falling behind", red},
                               Paint{"OVERLOADED", red},
                               Paint{"NOT identical", red},
                               Paint{"identical", green},
                               Paint{"warning", yellow},
                               Paint{"Warnings", yellow},
                               Paint{"What gave way", red},
                               Paint{"gave way", red},
                               Paint{"error", red},
                               Paint{": fail", red},
                               Paint{": pass", green},
                               Paint{"short of", red}};

bool is_word_end(std::string_view line, std::size_t at) {
  return at >= line.size() or std::isalnum(static_cast<unsigned char>(line[at])) == 0;
}

/// The first of the known words in each place of a line, in its colour.
std::string painted_line(std::string_view line) {
  std::string out;
  for (std::size_t at = 0; at < line.size();) {
    const bool word_start = at == 0 or std::isalnum(static_cast<unsigned char>(line[at - 1])) == 0;
    const auto* paint = std::find_if(paints.begin(), paints.end(), [&](const Paint& p) {
      return word_start and line.substr(at).starts_with(p.words) and is_word_end(line, at + p.words.size());
    });
    if (paint == paints.end()) {
      out += line[at++];
      continue;
    }
    out.append(paint->colour).append(paint->words).append(reset);
    at += paint->words.size();
  }
  return out;
}

bool is_heading(std::string_view line, bool after_blank) {
  return after_blank and not line.empty() and line.front() != ' ' and
         line.find(": ") == std::string_view::npos;
}

} // namespace

bool on_terminal() { return ::isatty(STDOUT_FILENO) != 0; }

void fit_reports_to_window() {
  constexpr std::size_t narrowest = 40, widest = 160;
  if (const std::size_t columns = on_terminal() ? window_columns() : 0; columns > 0)
    report_columns = std::clamp(columns, narrowest, widest);
}

Glyphs terminal_glyphs() {
  std::string_view locale;
  for (const char* name : {"LC_ALL", "LC_CTYPE", "LANG"})
    if (locale.empty())
      locale = environment(name);
  std::string lower(locale);
  std::transform(lower.begin(), lower.end(), lower.begin(),
                 [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  const bool utf8 = lower.find("utf-8") != std::string::npos or lower.find("utf8") != std::string::npos;
  return utf8 and on_terminal() ? Glyphs::Blocks : Glyphs::Ascii;
}

bool colours_wanted() {
  return on_terminal() and environment("NO_COLOR").empty() and environment("TERM") != "dumb";
}

std::string painted(std::string_view report) {
  std::string out;
  bool after_blank = true;
  while (not report.empty()) {
    const std::size_t end = std::min(report.find('\n'), report.size());
    const std::string_view line = report.substr(0, end);
    if (is_heading(line, after_blank))
      out.append(bold).append(line).append(reset);
    else
      out += painted_line(line);
    after_blank = line.empty();
    if (end < report.size())
      out += '\n';
    report.remove_prefix(std::min(end + 1, report.size()));
  }
  return out;
}

void show_report(std::string_view report) {
  if (colours_wanted())
    write_stdout(painted(report));
  else
    write_stdout(report);
}

} // namespace replisim::cli
