// Standard output, checked: a closed reader is quiet, a full disk is an error.
#pragma once

#include <cstddef>
#include <functional>
#include <string>
#include <string_view>

namespace replisim::cli {

/// Writes all of `text` to standard output. A reader that went away (`| head`) ends the writing
/// quietly; any other failure throws UsageError.
void write_stdout(std::string_view text);

/// A progress callback for the fork pool: rewrites one line (a bar, counts, the time left) on standard error
/// when that is a terminal, and is empty otherwise.
std::function<void(std::size_t done, std::size_t total)> terminal_progress(std::string label);

/// Throws UsageError with a sentence unless `path` is a readable file: not there (with the nearest
/// name in that folder), a folder, or unreadable.
void require_readable_file(const std::string& path);

/// Opens descriptors 0 to 2 where the caller closed them, so that no pipe of ours gets their numbers;
/// a closed standard output stays unwritable.
void reserve_standard_descriptors();

} // namespace replisim::cli
