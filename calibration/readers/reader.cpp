#include "calibration/readers/reader.hpp"

#include "calibration/readers/log_prefix.hpp"
#include "calibration/readers/table_columns.hpp"
#include "calibration/readers/zones.hpp"
#include "models/base/errors.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <system_error>
#include <utility>

namespace replisim::readers {

namespace fs = std::filesystem;

namespace {

struct FileToRead {
  fs::path path;
  std::uint64_t bytes = 0;
};

std::uint64_t size_of(const fs::path& path) {
  std::error_code error;
  const auto bytes = fs::file_size(path, error);
  return error ? 0 : bytes;
}

bool is_hidden(const fs::path& path) { return path.filename().string().starts_with('.'); }

/// The regular files below a folder, by name.
void add_folder(const fs::path& folder, std::vector<FileToRead>& files) {
  std::error_code error;
  std::vector<fs::path> found;
  auto at = fs::recursive_directory_iterator(folder, fs::directory_options::skip_permission_denied, error);
  for (; not error and at != fs::recursive_directory_iterator(); at.increment(error)) {
    if (is_hidden(at->path())) {
      if (at->is_directory(error))
        at.disable_recursion_pending();
      continue;
    }
    if (at->is_regular_file(error))
      found.push_back(at->path());
  }
  if (error)
    throw UsageError(fmt::format("cannot read the folder '{}': {}", folder.string(), error.message()));
  if (found.empty())
    throw UsageError(fmt::format("the folder '{}' holds no file to read", folder.string()));
  std::sort(found.begin(), found.end());
  for (fs::path& path : found) {
    const std::uint64_t bytes = size_of(path);
    files.push_back({std::move(path), bytes});
  }
}

std::vector<FileToRead> files_of(const std::vector<fs::path>& paths) {
  std::vector<FileToRead> files;
  for (const fs::path& path : paths) {
    std::error_code error;
    if (path == "-")
      files.push_back({path, 0});
    else if (fs::is_directory(path, error))
      add_folder(path, files);
    else if (fs::exists(path, error))
      files.push_back({path, size_of(path)});
    else
      throw UsageError(fmt::format("there is no file or folder '{}'", path.string()));
  }
  return files;
}

} // namespace

std::vector<std::string_view> FileHead::lines(std::size_t count) const {
  std::vector<std::string_view> lines;
  std::string_view rest = text;
  while (lines.size() < count and not rest.empty()) {
    const std::size_t end = rest.find('\n');
    if (end == std::string_view::npos and not is_all)
      break;
    std::string_view line = rest.substr(0, end);
    if (line.ends_with('\r'))
      line.remove_suffix(1);
    lines.push_back(line);
    rest = end == std::string_view::npos ? std::string_view{} : rest.substr(end + 1);
  }
  return lines;
}

const Reader* find_reader(const FileHead& head, const std::vector<std::unique_ptr<Reader>>& readers) {
  const Reader* best = nullptr;
  Match best_match = Match::No;
  for (const auto& reader : readers) {
    const Match match = reader->recognises(head);
    if (match > best_match) {
      best = reader.get();
      best_match = match;
    }
  }
  return best;
}

void read_input(LineInput& input, const ReadOptions& options, Observation& observation, Problems& problems) {
  if (not input.usable())
    return;
  const FileHead head{input.file(), input.head(), input.head_is_all()};
  const Reader* reader = find_reader(head, all_readers());
  if (reader == nullptr) {
    std::string known;
    for (const auto& each : all_readers())
      known += fmt::format("{}{}", known.empty() ? "" : "; ", each->reads());
    input.report_file("unknown_kind", fmt::format("is of no kind that is read ({})", known));
    return;
  }
  const std::size_t source = observation.sources.size();
  observation.sources.push_back({.file = input.file(),
                                 .reader = std::string(reader->name()),
                                 .format = {},
                                 .node = {},
                                 .time_base = TimeBase::None,
                                 .lines = 0,
                                 .bytes = 0,
                                 .first_us = {},
                                 .last_us = {}});
  ReadContext context{observation, source, problems, options};
  reader->read(input, context);
  context.info().lines = input.line_number();
  context.info().bytes = input.text_bytes();
}

ReadResult read_paths(const std::vector<fs::path>& paths, const ReadOptions& options,
                      const ReadProgress& progress) {
  // What is wrong with the options is said whether a file needs them or not.
  zone_offset(options);
  if (not options.log_line_prefix.empty())
    LogPrefix{options.log_line_prefix};
  if (not options.column_map.empty())
    read_column_map(options.column_map);
  ReadResult result;
  const std::vector<FileToRead> files = files_of(paths);
  std::uint64_t total_bytes = 0;
  for (const FileToRead& file : files)
    total_bytes += file.bytes;
  std::uint64_t done_bytes = 0;
  for (const FileToRead& file : files) {
    LineInput::Progress report;
    if (progress)
      report = [&](std::uint64_t position_bytes) {
        progress(std::min(done_bytes + position_bytes, total_bytes), total_bytes);
      };
    LineInput input = LineInput::open(file.path, result.problems, std::move(report));
    read_input(input, options, result.observation, result.problems);
    done_bytes += file.bytes;
  }
  if (progress)
    progress(total_bytes, total_bytes);
  return result;
}

} // namespace replisim::readers
