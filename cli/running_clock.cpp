#include "cli/running_clock.hpp"

#include "cli/terminal.hpp"
#include "sim/report/charts.hpp"
#include "sim/report/text.hpp"
#include "sim/run/simulated_clock.hpp"

#include <fmt/format.h>

#include <chrono>
#include <new>

#include <sys/mman.h>
#include <unistd.h>

namespace replisim::cli {

namespace {

/// One system call, no lock: a child may be forked at any moment.
void write_line(const std::string& text) {
  [[maybe_unused]] const ssize_t ignored = ::write(STDERR_FILENO, text.data(), text.size());
}

std::string line_of(const std::string& label, double now_s, double until_s) {
  constexpr std::size_t label_columns = 30, bar_columns = 20;
  std::string out = fmt::format("\r{}: simulated {}", clipped(label, label_columns), seconds_text(now_s));
  if (until_s > 0)
    out += fmt::format(" of {} [{}]", seconds_text(until_s),
                       share_bar(now_s / until_s, bar_columns, Glyphs::Ascii));
  return out + "\033[K";
}

} // namespace

RunningClock::RunningClock(const std::string& label, double until_s) {
  if (label.empty() or ::isatty(STDERR_FILENO) == 0)
    return;
  void* memory = ::mmap(nullptr, sizeof(double), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED)
    return;
  shared_ = new (memory) double(0);
  show_simulated_time(shared_);
  thread_ = std::thread([this, label, until_s] { show(label, until_s); });
}

void RunningClock::show(const std::string& label, double until_s) const {
  using namespace std::chrono_literals;
  bool shown = false;
  const auto start = std::chrono::steady_clock::now();
  while (not over_) {
    std::this_thread::sleep_for(20ms);
    const auto running = std::chrono::steady_clock::now() - start;
    if (running < 1s or std::chrono::duration_cast<std::chrono::milliseconds>(running).count() / 20 % 10 != 0)
      continue;
    write_line(line_of(label, *static_cast<const volatile double*>(shared_), until_s));
    shown = true;
  }
  if (shown)
    write_line("\r\033[K");
}

RunningClock::~RunningClock() {
  if (shared_ == nullptr)
    return;
  over_ = true;
  thread_.join();
  show_simulated_time(nullptr);
  ::munmap(shared_, sizeof(double));
}

} // namespace replisim::cli
