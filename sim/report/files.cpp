#include "sim/report/files.hpp"

#include "models/base/errors.hpp"

#include <fmt/format.h>

#include <cerrno>
#include <cstring>
#include <string>
#include <system_error>

#include <fcntl.h>
#include <unistd.h>

namespace replisim {

namespace fs = std::filesystem;

namespace {

[[noreturn]] void fail(const fs::path& file, int error) {
  throw UsageError(fmt::format("cannot write '{}': {}", file.string(), std::strerror(error)));
}

/// Writes and closes; returns an errno, 0 when all is well.
int write_to(int fd, std::string_view text, bool sync) {
  int error = 0;
  while (not text.empty() and error == 0) {
    const ssize_t n = ::write(fd, text.data(), text.size());
    if (n > 0)
      text.remove_prefix(static_cast<std::size_t>(n));
    else if (errno != EINTR)
      error = errno;
  }
  if (error == 0 and sync and ::fsync(fd) != 0)
    error = errno;
  if (::close(fd) != 0 and error == 0)
    error = errno;
  return error;
}

/// Makes a rename durable; a file system that cannot sync folders is no reason to fail.
void sync_folder(const fs::path& folder) {
  const int fd = ::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (fd < 0)
    return;
  ::fsync(fd);
  ::close(fd);
}

} // namespace

void write_file(const fs::path& file, std::string_view text) {
  std::error_code ignored;
  const auto status = fs::status(file, ignored);
  if (fs::is_directory(status))
    fail(file, EISDIR);
  if (fs::exists(status) and not fs::is_regular_file(status)) {
    const int fd = ::open(file.c_str(), O_WRONLY | O_CLOEXEC);
    if (const int error = fd < 0 ? errno : write_to(fd, text, false); error != 0)
      fail(file, error);
    return;
  }
  // A symbolic link stays one: its target is replaced.
  const fs::path target = fs::exists(status) ? fs::canonical(file, ignored) : file;
  const fs::path folder = target.has_parent_path() ? target.parent_path() : fs::path(".");
  const fs::path temporary = folder / fmt::format(".{}.{}.tmp", target.filename().string(), ::getpid());
  const int fd = ::open(temporary.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
  if (fd < 0)
    fail(file, errno);
  int error = write_to(fd, text, true);
  if (error == 0 and ::rename(temporary.c_str(), target.c_str()) != 0)
    error = errno;
  if (error != 0) {
    ::unlink(temporary.c_str());
    fail(file, error);
  }
  sync_folder(folder);
}

void require_folder(const fs::path& folder) {
  std::error_code error;
  fs::create_directories(folder, error);
  if (not error and not fs::is_directory(folder, error))
    error = std::make_error_code(std::errc::not_a_directory);
  if (error)
    throw UsageError(fmt::format("cannot create the folder '{}': {}", folder.string(), error.message()));
}

} // namespace replisim
