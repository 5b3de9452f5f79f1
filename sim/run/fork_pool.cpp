#include "sim/run/fork_pool.hpp"

#include "models/base/errors.hpp"
#include "sim/engine/kernel.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <iostream>
#include <mutex>
#include <new>
#include <utility>

#include <fcntl.h>
#include <poll.h>
#include <sched.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

namespace replisim {

namespace {

// What a SIGINT handler may touch: a flag, and a pipe that wakes the pool's poll().
volatile std::sig_atomic_t interrupt_requested = 0;
int wake_pipe[2] = {-1, -1};
std::atomic<int> open_scopes = 0;
/// From a pipe's creation until its writing end is the child's alone: a child that another thread forks
/// meanwhile would keep that end open.
std::mutex forking;
struct sigaction previous_action {};

/// Children simulate, and find loaded what they need for it. Nobody forks meanwhile.
void prepare_children() {
  const std::lock_guard lock(forking);
  engine::load_kernel();
}

void on_interrupt(int) {
  const int saved = errno;
  interrupt_requested = 1;
  [[maybe_unused]] const auto ignored = ::write(wake_pipe[1], "!", 1);
  errno = saved;
}

/// The first byte of a record: what the rest is.
enum class Kind : char {
  Value = 'v',
  Usage = 'u',
  Scenario = 's',
  Invariant = 'i',
  Deadlock = 'd',
  Memory = 'm'
};

std::string encode_diagnostics(const ScenarioError& error) {
  nlohmann::json list = nlohmann::json::array();
  for (const auto& d : error.diagnostics())
    list.push_back({d.file, d.line, d.column, d.path, d.message});
  const auto bytes = nlohmann::json::to_cbor(list);
  return {bytes.begin(), bytes.end()};
}

ScenarioError decode_diagnostics(const std::string& bytes) {
  std::vector<Diagnostic> diagnostics;
  for (const auto& entry : nlohmann::json::from_cbor(bytes))
    diagnostics.push_back({entry.at(0).get<std::string>(), entry.at(1).get<int>(), entry.at(2).get<int>(),
                           entry.at(3).get<std::string>(), entry.at(4).get<std::string>()});
  return ScenarioError(std::move(diagnostics));
}

/// Runs the work and describes its outcome as kind and payload.
std::string outcome_record(const Job& job) {
  const auto record = [](Kind kind, std::string payload) {
    payload.insert(payload.begin(), static_cast<char>(kind));
    return payload;
  };
  try {
    return record(Kind::Value, job.work());
  } catch (const ScenarioError& e) {
    return record(Kind::Scenario, encode_diagnostics(e));
  } catch (const UsageError& e) {
    return record(Kind::Usage, e.what());
  } catch (const DeadlockError& e) {
    return record(Kind::Deadlock, e.what());
  } catch (const InvariantViolation& e) {
    return record(Kind::Invariant, e.what());
  } catch (const std::bad_alloc&) {
    return record(Kind::Memory, "");
  } catch (const std::exception& e) {
    return record(Kind::Invariant, fmt::format("unexpected error in '{}': {}", job.name, e.what()));
  }
}

bool write_all(int fd, const char* data, std::size_t size) {
  while (size > 0) {
    const ssize_t n = ::write(fd, data, size);
    if (n < 0 and errno == EINTR)
      continue;
    if (n <= 0)
      return false;
    data += n;
    size -= static_cast<std::size_t>(n);
  }
  return true;
}

/// The child's whole life: work, one record (8-byte length, then the bytes), _exit. It never returns,
/// and never runs the parent's exit handlers or flushes the parent's buffers.
[[noreturn]] void child_main(const Job& job, int fd, pid_t parent, const RunLimits& limits) {
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (::getppid() != parent)
    ::_exit(1);
  if (limits.memory_bytes > 0) {
    const auto bytes = static_cast<rlim_t>(limits.memory_bytes);
    const rlimit memory{bytes, bytes};
    ::setrlimit(RLIMIT_DATA, &memory);
  }
  if (open_scopes > 0)
    ::sigaction(SIGINT, &previous_action, nullptr);
  const std::string record = outcome_record(job);
  const std::uint64_t length = record.size();
  std::array<char, sizeof length> header{};
  std::memcpy(header.data(), &length, sizeof length);
  const bool ok = write_all(fd, header.data(), header.size()) and write_all(fd, record.data(), record.size());
  ::_exit(ok ? 0 : 1);
}

using Clock = std::chrono::steady_clock;

struct Child {
  pid_t pid = -1;
  int fd = -1;
  std::size_t index = 0;
  std::string name;
  Clock::time_point started = {};
  bool out_of_time = false;
  std::string received = {};
};

double seconds_since(Clock::time_point start) {
  return std::chrono::duration<double>(Clock::now() - start).count();
}

double seconds_of(const timeval& time) {
  return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_usec) / 1e6;
}

template <typename Error>
std::exception_ptr error_of(Error error) {
  return std::make_exception_ptr(std::move(error));
}

std::exception_ptr decode_error(Kind kind, std::string payload) {
  switch (kind) {
  case Kind::Usage:
    return error_of(UsageError(payload));
  case Kind::Scenario:
    return error_of(decode_diagnostics(payload));
  case Kind::Deadlock:
    return error_of(DeadlockError(payload));
  default:
    return error_of(InvariantViolation(payload));
  }
}

std::string describe_end(int status) {
  if (WIFSIGNALED(status)) {
    const int signal = WTERMSIG(status);
    return fmt::format("was ended by signal {} ({}){}", signal, ::strsignal(signal),
                       signal == SIGKILL ? "; the system does that when memory runs out" : "");
  }
  return fmt::format("ended with exit code {} and no result", WEXITSTATUS(status));
}

/// The forked workers of one call. Its destructor leaves no child behind.
class Pool {
public:
  Pool(const JobStream& stream, const PoolOptions& options)
      : stream_(stream), options_(options),
        limit_(static_cast<std::size_t>(options.jobs > 0 ? options.jobs : available_cpus())) {}
  ~Pool() { end_children(); }
  Pool(const Pool&) = delete;
  Pool& operator=(const Pool&) = delete;

  void run() {
    fill();
    while (not children_.empty() and not stopped()) {
      wait();
      fill(); // before the outcomes are looked at: a CPU should not wait for that
      deliver();
    }
    end_children();
  }

private:
  bool stopped() const {
    return InterruptScope::interrupted() or (options_.cancelled and options_.cancelled());
  }

  struct Finished {
    std::size_t index;
    JobOutcome outcome;
  };

  void fill();
  bool start();
  void wait();
  int poll_timeout_ms();
  bool receive(Child& child);
  JobOutcome reap(Child& child);
  std::exception_ptr failure_of(const Child& child, int status) const;
  void deliver();
  void end_children();

  const JobStream& stream_;
  const PoolOptions& options_;
  std::vector<Child> children_;
  std::vector<Finished> finished_;
  std::size_t limit_;
  std::optional<Job> waiting_; ///< taken from the stream, not started yet
  std::size_t next_index_ = 0;
  bool stream_ended_ = false;
};

/// Starts children while there is work and room.
void Pool::fill() {
  while (children_.size() < limit_ and not stopped()) {
    if (not waiting_ and not stream_ended_) {
      waiting_ = stream_.next();
      stream_ended_ = not waiting_;
    }
    if (not waiting_ or not start())
      return;
    waiting_.reset();
    ++next_index_;
  }
}

/// Forks one child. False when the system is short of processes or descriptors while others still
/// run: their end makes room.
bool Pool::start() {
  std::unique_lock lock(forking);
  int fds[2] = {-1, -1};
  int error = ::pipe2(fds, O_CLOEXEC) == 0 ? 0 : errno;
  pid_t pid = -1;
  if (error == 0) {
    std::fflush(nullptr);
    std::cout.flush();
    const pid_t parent = ::getpid();
    pid = ::fork();
    error = pid < 0 ? errno : 0;
    if (pid == 0) {
      lock.unlock(); // the child may have a pool of its own
      ::close(fds[0]);
      for (const auto& other : children_)
        ::close(other.fd);
      child_main(*waiting_, fds[1], parent, options_.limits);
    }
    ::close(fds[1]);
  }
  if (error != 0) {
    if (fds[0] >= 0)
      ::close(fds[0]);
    if (not children_.empty())
      return false;
    throw UsageError(fmt::format("the system refuses to start a process: {}", std::strerror(error)));
  }
  children_.push_back({pid, fds[0], next_index_, waiting_->name, Clock::now()});
  return true;
}

/// Kills children that are out of time; the time to the next one that will be, -1 when there is no limit.
int Pool::poll_timeout_ms() {
  constexpr int look_again_ms = 5;
  const int longest_ms = options_.cancelled ? look_again_ms : -1;
  if (options_.limits.time_s <= 0)
    return longest_ms;
  double next_s = options_.limits.time_s;
  for (auto& child : children_) {
    const double left_s = options_.limits.time_s - seconds_since(child.started);
    if (left_s <= 0 and not child.out_of_time) {
      child.out_of_time = true;
      ::kill(child.pid, SIGKILL);
    }
    if (left_s > 0)
      next_s = std::min(next_s, left_s);
  }
  const int limit_ms = static_cast<int>(std::min(next_s * 1000 + 1, 1e9));
  return longest_ms < 0 ? limit_ms : std::min(limit_ms, longest_ms);
}

/// Waits until a child says or ends something, or Ctrl-C.
void Pool::wait() {
  std::vector<pollfd> watched;
  for (const auto& child : children_)
    watched.push_back({child.fd, POLLIN, 0});
  watched.push_back({wake_pipe[0], POLLIN, 0});
  if (::poll(watched.data(), watched.size(), poll_timeout_ms()) < 0)
    return; // EINTR: the caller looks at the interrupt flag and comes back
  for (std::size_t i = children_.size(); i-- > 0;) {
    if ((watched[i].revents & (POLLIN | POLLHUP | POLLERR)) == 0 or receive(children_[i]))
      continue;
    finished_.push_back({children_[i].index, reap(children_[i])});
    children_.erase(children_.begin() + static_cast<std::ptrdiff_t>(i));
  }
}

/// Takes what has arrived; false at the end of the child's output.
bool Pool::receive(Child& child) {
  std::array<char, 65536> buffer;
  const ssize_t n = ::read(child.fd, buffer.data(), buffer.size());
  if (n > 0)
    child.received.append(buffer.data(), static_cast<std::size_t>(n));
  return n > 0 or (n < 0 and errno == EINTR);
}

/// Why there is no record of a child that has ended.
std::exception_ptr Pool::failure_of(const Child& child, int status) const {
  if (child.out_of_time)
    return error_of(LimitExceeded(
        fmt::format("'{}' ran longer than the time limit of {:.6g} s", child.name, options_.limits.time_s)));
  // On Ctrl-C at a terminal the children get the signal too, perhaps before the parent does.
  if (WIFSIGNALED(status) and WTERMSIG(status) == SIGINT)
    return error_of(Interrupted(fmt::format("'{}' was interrupted", child.name)));
  return error_of(
      ChildFailure(fmt::format("the process simulating '{}' {}", child.name, describe_end(status))));
}

/// Reaps a child whose output has ended and turns its record into an outcome.
JobOutcome Pool::reap(Child& child) {
  ::close(child.fd);
  int status = 0;
  rusage usage{};
  while (::wait4(child.pid, &status, 0, &usage) < 0 and errno == EINTR) {
  }
  child.pid = -1;
  JobOutcome outcome;
  outcome.wall_s = seconds_since(child.started);
  outcome.cpu_s = seconds_of(usage.ru_utime) + seconds_of(usage.ru_stime);
  outcome.peak_memory_bytes = Bytes{usage.ru_maxrss} * 1024;
  std::uint64_t length = 0;
  if (child.received.size() > sizeof length)
    std::memcpy(&length, child.received.data(), sizeof length);
  if (length == 0 or child.received.size() != sizeof length + length) {
    outcome.error = failure_of(child, status);
    return outcome;
  }
  const Kind kind = static_cast<Kind>(child.received[sizeof length]);
  std::string payload = child.received.substr(sizeof length + 1);
  if (kind == Kind::Value)
    outcome.value = std::move(payload);
  else if (kind == Kind::Memory)
    outcome.error = error_of(
        LimitExceeded(options_.limits.memory_bytes > 0
                          ? fmt::format("'{}' needs more than the memory limit of {}", child.name,
                                        format_bytes(static_cast<double>(options_.limits.memory_bytes)))
                          : fmt::format("'{}' needs more memory than the system gives", child.name)));
  else
    outcome.error = decode_error(kind, std::move(payload));
  return outcome;
}

void Pool::deliver() {
  std::vector<Finished> finished;
  finished.swap(finished_);
  for (auto& [index, outcome] : finished)
    stream_.finished(index, std::move(outcome));
}

void Pool::end_children() {
  for (auto& child : children_) {
    if (child.pid < 0)
      continue;
    ::kill(child.pid, SIGKILL);
    ::close(child.fd);
    while (::waitpid(child.pid, nullptr, 0) < 0 and errno == EINTR) {
    }
  }
  children_.clear();
}

} // namespace

InterruptScope::InterruptScope() {
  if (open_scopes++ > 0)
    return;
  interrupt_requested = 0;
  if (::pipe2(wake_pipe, O_CLOEXEC | O_NONBLOCK) != 0) {
    --open_scopes;
    throw UsageError(fmt::format("the system refuses to open a pipe: {}", std::strerror(errno)));
  }
  ::sigaction(SIGINT, nullptr, &previous_action);
  if (previous_action.sa_handler == SIG_IGN)
    return;
  struct sigaction action {};
  action.sa_handler = on_interrupt;
  action.sa_flags = SA_RESTART;
  ::sigaction(SIGINT, &action, nullptr);
}

InterruptScope::~InterruptScope() {
  if (--open_scopes > 0)
    return;
  ::sigaction(SIGINT, &previous_action, nullptr);
  ::close(wake_pipe[0]);
  ::close(wake_pipe[1]);
  wake_pipe[0] = wake_pipe[1] = -1;
}

bool InterruptScope::interrupted() { return interrupt_requested != 0; }

const std::string& JobOutcome::get() const {
  if (error)
    std::rethrow_exception(error);
  return value;
}

int available_cpus() {
  cpu_set_t set;
  CPU_ZERO(&set);
  if (::sched_getaffinity(0, sizeof set, &set) == 0)
    return std::max(1, CPU_COUNT(&set));
  // More CPUs than a cpu_set_t can name.
  return std::max(1, static_cast<int>(::sysconf(_SC_NPROCESSORS_ONLN)));
}

void run_stream(const JobStream& stream, const PoolOptions& options) {
  const InterruptScope scope;
  prepare_children();
  Pool(stream, options).run();
}

std::vector<JobOutcome> run_forked(const std::vector<Job>& jobs, const PoolOptions& options) {
  std::vector<std::optional<JobOutcome>> outcomes(jobs.size());
  std::size_t next = 0;
  std::size_t done = 0;
  const auto take = [&]() -> std::optional<Job> {
    return next < jobs.size() ? std::optional(jobs[next++]) : std::nullopt;
  };
  const auto finished = [&](std::size_t index, JobOutcome outcome) {
    outcomes[index] = std::move(outcome);
    ++done;
    if (options.progress)
      options.progress(done, jobs.size());
  };
  run_stream({take, finished}, options);
  std::vector<JobOutcome> out;
  for (std::size_t i = 0; i < jobs.size(); ++i) {
    if (not outcomes[i])
      outcomes[i] = JobOutcome{{}, error_of(Interrupted(fmt::format("'{}' was interrupted", jobs[i].name)))};
    out.push_back(std::move(*outcomes[i]));
  }
  return out;
}

} // namespace replisim
