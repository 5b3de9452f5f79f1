// Result files: written beside their name, synced, then renamed, so that a reader never sees half of one.
#pragma once

#include "sim/report/unfinished_files.hpp"

#include <filesystem>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

namespace replisim {

/// Replaces `file` by `text`. What is no regular file (a device, a pipe) is written to directly. Throws
/// UsageError with a sentence when that is impossible, and leaves no temporary file.
void write_file(const std::filesystem::path& file, std::string_view text);

/// The same for several files that belong together: none gets its name before all are on the disk.
void write_files(const std::vector<std::pair<std::filesystem::path, std::string_view>>& files);

/// A file written piece by piece, in the same way. All of it throws UsageError with a sentence; without
/// publish() nothing is left, also where a signal ends the program.
class StagedFile {
public:
  explicit StagedFile(std::filesystem::path file);
  ~StagedFile();
  StagedFile(const StagedFile&) = delete;
  StagedFile& operator=(const StagedFile&) = delete;

  void write(std::string_view text);
  void finish();  ///< all of it reaches the disk
  void publish(); ///< and gets its name

private:
  std::filesystem::path file_;      ///< as the user named it
  std::filesystem::path target_;    ///< what is replaced
  std::filesystem::path temporary_; ///< empty: what is no regular file is written to directly
  std::optional<UnfinishedFile> unfinished_;
  int fd_ = -1;
};

/// Creates `folder` and those above it where missing. Throws UsageError with a sentence when that is
/// impossible.
void require_folder(const std::filesystem::path& folder);

} // namespace replisim
