#include "cli/output.hpp"

#include "models/base/errors.hpp"
#include "models/base/suggest.hpp"
#include "sim/run/time_left.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <memory>
#include <system_error>
#include <utility>
#include <vector>

#include <fcntl.h>
#include <unistd.h>

namespace replisim::cli {

namespace fs = std::filesystem;

void write_stdout(std::string_view text) {
  while (not text.empty()) {
    const ssize_t n = ::write(STDOUT_FILENO, text.data(), text.size());
    if (n >= 0)
      text.remove_prefix(static_cast<std::size_t>(n));
    else if (errno == EPIPE)
      return;
    else if (errno != EINTR)
      throw UsageError(fmt::format("cannot write to standard output: {}", std::strerror(errno)));
  }
}

std::function<void(std::size_t, std::size_t)> terminal_progress(std::string label) {
  if (::isatty(STDERR_FILENO) == 0)
    return {};
  using Clock = std::chrono::steady_clock;
  struct State {
    Clock::time_point start = Clock::now();
    Clock::time_point shown = {};
    TimeLeft left = {};
  };
  return [label = std::move(label), state = std::make_shared<State>()](std::size_t done, std::size_t total) {
    const auto now = Clock::now();
    state->left.update(std::chrono::duration<double>(now - state->start).count(), done, total);
    if (done < total and now - state->shown < std::chrono::milliseconds(100))
      return;
    state->shown = now;
    // The last one wipes the line, so that results start on a clean one.
    const std::string line = done < total
                                 ? "\r" + progress_line(label, done, total, state->left.seconds()) + "\033[K"
                                 : "\r\033[K";
    std::fputs(line.c_str(), stderr);
  };
}

void require_readable_file(const std::string& path) {
  std::error_code error;
  const auto status = fs::status(path, error);
  if (fs::is_directory(status))
    throw UsageError(fmt::format("'{}' is a folder; a scenario is a YAML file", path));
  if (fs::exists(status)) {
    if (::access(path.c_str(), R_OK) != 0)
      throw UsageError(fmt::format("cannot read '{}': {}", path, std::strerror(errno)));
    return;
  }
  const fs::path folder = fs::path(path).has_parent_path() ? fs::path(path).parent_path() : fs::path(".");
  if (not fs::is_directory(folder, error))
    throw UsageError(
        fmt::format("there is no file '{}': the folder '{}' does not exist", path, folder.string()));
  std::vector<std::string> names;
  for (fs::directory_iterator at(folder, error), end; not error and at != end; at.increment(error))
    if (at->path().extension() == ".yaml" or at->path().extension() == ".yml")
      names.push_back(at->path().filename().string());
  std::sort(names.begin(), names.end());
  throw UsageError(
      fmt::format("there is no file '{}'{}", path, suggestion(fs::path(path).filename().string(), names)));
}

void reserve_standard_descriptors() {
  for (int fd = STDIN_FILENO; fd <= STDERR_FILENO; ++fd)
    if (::fcntl(fd, F_GETFD) < 0 and errno == EBADF)
        // Lowest free number: this one. Read-only, so that writing to it fails as on a closed one.
        [[maybe_unused]]
      const int reserved = ::open("/dev/null", O_RDONLY);
}

} // namespace replisim::cli
