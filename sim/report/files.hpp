// Result files: written beside their name, synced, then renamed, so that a reader never sees half of one.
#pragma once

#include <filesystem>
#include <string_view>

namespace replisim {

/// Replaces `file` by `text`. What is no regular file (a device, a pipe) is written to directly. Throws
/// UsageError with a sentence when that is impossible, and leaves no temporary file.
void write_file(const std::filesystem::path& file, std::string_view text);

/// Creates `folder` and those above it where missing. Throws UsageError with a sentence when that is
/// impossible.
void require_folder(const std::filesystem::path& folder);

} // namespace replisim
