// What the program knows about the terminal it writes to.
#pragma once

#include "sim/report/charts.hpp"

#include <string>
#include <string_view>

namespace replisim::cli {

/// Standard output is a terminal.
bool on_terminal();

/// Sets report_columns to the width of the window, within reason. Nothing changes where standard output is no
/// terminal: what a pipe gets does not depend on a window.
void fit_reports_to_window();

/// Block characters on a terminal whose locale is UTF-8, ASCII elsewhere.
Glyphs terminal_glyphs();

/// Colours: only on a terminal, and not where NO_COLOR is set (https://no-color.org) or TERM is dumb.
bool colours_wanted();

/// Headings bold, verdicts, warnings and errors in colour. Only adds escape sequences; each of the words it
/// colours says the same without.
std::string painted(std::string_view report);

/// write_stdout(), painted where colours are wanted.
void show_report(std::string_view report);

} // namespace replisim::cli
