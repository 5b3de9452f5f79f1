#include "tests/fuzz/fuzz.hpp"

#include "sim/scenario/library.hpp"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <system_error>

#include <fcntl.h>
#include <unistd.h>

namespace replisim::fuzz {

namespace fs = std::filesystem;

namespace {

struct Scratch {
  Scratch() {
    std::error_code error;
    const fs::path above =
        fs::is_directory("/dev/shm", error) ? fs::path("/dev/shm") : fs::temp_directory_path();
    folder = above / ("replisim-fuzz-" + std::to_string(::getpid()));
    fs::remove_all(folder, error);
    fs::create_directories(folder);
  }
  ~Scratch() {
    std::error_code error;
    fs::remove_all(folder, error);
  }
  Scratch(const Scratch&) = delete;
  Scratch& operator=(const Scratch&) = delete;
  fs::path folder;
};

} // namespace

const fs::path& scratch_folder() {
  static const Scratch scratch;
  return scratch.folder;
}

fs::path scratch_file(const std::string& name, std::string_view text) {
  fs::path file = scratch_folder() / name;
  const int fd = ::open(file.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
  if (fd < 0 or ::write(fd, text.data(), text.size()) != static_cast<ssize_t>(text.size()))
    broken("cannot write " + file.string());
  ::close(fd);
  return file;
}

std::vector<Part> parts_of(std::string_view input) {
  constexpr std::string_view mark = "#### ";
  std::vector<Part> parts{{"", input}};
  std::size_t line = 0;
  while (line < input.size()) {
    const std::size_t end = std::min(input.find('\n', line), input.size());
    if (input.substr(line).starts_with(mark)) {
      Part& before = parts.back();
      before.text = before.text.substr(0, static_cast<std::size_t>(input.data() + line - before.text.data()));
      const std::string_view name = input.substr(line + mark.size(), end - line - mark.size());
      parts.push_back({std::string(name), input.substr(std::min(end + 1, input.size()))});
    }
    line = end + 1;
  }
  return parts;
}

const Library& library() {
  static const Library shared = cached(find_library());
  return shared;
}

void forget_scratch_files() {
  std::erase_if(library().cache->files, [](const auto& file) {
    return file.first.find(scratch_folder().string()) != std::string::npos;
  });
}

void broken(const std::string& text) {
  std::fprintf(stderr, "fuzz: %s\n", text.c_str());
  std::abort();
}

} // namespace replisim::fuzz
