#include "sim/report/unfinished_files.hpp"

#include <array>
#include <atomic>
#include <csignal>
#include <cstdlib>
#include <cstring>

#include <unistd.h>

namespace replisim {

namespace {

// What a signal handler may look at: names that never move, and who wrote them down. A run writes a handful
// of files; of more than there is room for, the last ones would stay behind.
std::array<std::atomic<char*>, 64> names{};
std::atomic<pid_t> owner = 0;
std::atomic<int> living = 0;

constexpr std::array<int, 3> ending_signals = {SIGTERM, SIGHUP, SIGINT};

void delete_and_end(int signal) {
  if (::getpid() == owner)
    for (auto* const remove : {::unlink, ::rmdir}) // what a folder holds before the folder
      for (const auto& name : names)
        if (const char* file = name.load())
          remove(file);
  std::signal(signal, SIG_DFL);
  ::raise(signal); // comes as the handler returns
}

void replace_handlers(void (*from)(int), void (*to)(int)) {
  for (const int signal : ending_signals) {
    struct sigaction action {};
    ::sigaction(signal, nullptr, &action);
    if ((action.sa_flags & SA_SIGINFO) != 0 or action.sa_handler != from)
      continue;
    action.sa_handler = to;
    action.sa_flags = SA_RESTART;
    ::sigaction(signal, &action, nullptr);
  }
}

} // namespace

UnfinishedFile::UnfinishedFile(const std::filesystem::path& file) : name_(::strdup(file.c_str())) {
  owner = ::getpid();
  for (auto& place : names)
    if (char* empty = nullptr; place.compare_exchange_strong(empty, name_))
      break;
  if (living++ == 0)
    replace_handlers(SIG_DFL, delete_and_end);
}

UnfinishedFile::~UnfinishedFile() {
  for (auto& place : names)
    if (char* own = name_; place.compare_exchange_strong(own, nullptr))
      break;
  if (--living == 0)
    replace_handlers(delete_and_end, SIG_DFL);
  std::free(name_); // NOLINT(cppcoreguidelines-no-malloc): strdup's
}

} // namespace replisim
