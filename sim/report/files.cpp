#include "sim/report/files.hpp"

#include "models/base/errors.hpp"

#include <fmt/format.h>

#include <cerrno>
#include <cstring>
#include <deque>
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

/// Makes a rename durable; a file system that cannot sync folders is no reason to fail.
void sync_folder(const fs::path& folder) {
  const int fd = ::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (fd < 0)
    return;
  ::fsync(fd);
  ::close(fd);
}

} // namespace

StagedFile::StagedFile(fs::path file) : file_(std::move(file)) {
  std::error_code ignored;
  const auto status = fs::status(file_, ignored);
  if (fs::is_directory(status))
    fail(file_, EISDIR);
  if (fs::exists(status) and not fs::is_regular_file(status)) {
    fd_ = ::open(file_.c_str(), O_WRONLY | O_CLOEXEC);
  } else {
    // A symbolic link stays one: its target is replaced.
    target_ = fs::exists(status) ? fs::canonical(file_, ignored) : file_;
    const fs::path folder = target_.has_parent_path() ? target_.parent_path() : fs::path(".");
    temporary_ = folder / fmt::format(".{}.{}.tmp", target_.filename().string(), ::getpid());
    unfinished_.emplace(temporary_);
    fd_ = ::open(temporary_.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
  }
  if (fd_ < 0)
    fail(file_, errno);
}

StagedFile::~StagedFile() {
  if (fd_ >= 0)
    ::close(fd_);
  if (not temporary_.empty())
    ::unlink(temporary_.c_str());
}

void StagedFile::write(std::string_view text) {
  while (not text.empty()) {
    const ssize_t n = ::write(fd_, text.data(), text.size());
    if (n > 0)
      text.remove_prefix(static_cast<std::size_t>(n));
    else if (errno != EINTR)
      fail(file_, errno);
  }
}

void StagedFile::finish() {
  if (not temporary_.empty() and ::fsync(fd_) != 0)
    fail(file_, errno);
  if (::close(std::exchange(fd_, -1)) != 0)
    fail(file_, errno);
}

void StagedFile::publish() {
  if (fd_ >= 0)
    finish();
  if (temporary_.empty())
    return;
  if (::rename(temporary_.c_str(), target_.c_str()) != 0)
    fail(file_, errno);
  temporary_.clear();
  unfinished_.reset();
  sync_folder(target_.has_parent_path() ? target_.parent_path() : fs::path("."));
}

void write_file(const fs::path& file, std::string_view text) { write_files({{file, text}}); }

void write_files(const std::vector<std::pair<fs::path, std::string_view>>& files) {
  std::deque<StagedFile> staged;
  for (const auto& [file, text] : files) {
    staged.emplace_back(file).write(text);
    staged.back().finish();
  }
  for (StagedFile& file : staged)
    file.publish();
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
