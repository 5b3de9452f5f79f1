#include "sim/run/fork_pool.hpp"

#include "models/base/errors.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <iostream>
#include <utility>

#include <fcntl.h>
#include <poll.h>
#include <sched.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

namespace replisim {

namespace {

// What a SIGINT handler may touch: a flag, and a pipe that wakes the pool's poll().
volatile std::sig_atomic_t interrupt_requested = 0;
int wake_pipe[2] = {-1, -1};
int open_scopes = 0;
struct sigaction previous_action {};

void on_interrupt(int) {
  const int saved = errno;
  interrupt_requested = 1;
  [[maybe_unused]] const auto ignored = ::write(wake_pipe[1], "!", 1);
  errno = saved;
}

/// The first byte of a record: what the rest is.
enum class Kind : char { Value = 'v', Usage = 'u', Scenario = 's', Invariant = 'i', Deadlock = 'd' };

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
[[noreturn]] void child_main(const Job& job, int fd, pid_t parent) {
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (::getppid() != parent)
    ::_exit(1);
  if (open_scopes > 0)
    ::sigaction(SIGINT, &previous_action, nullptr);
  const std::string record = outcome_record(job);
  const std::uint64_t length = record.size();
  std::array<char, sizeof length> header{};
  std::memcpy(header.data(), &length, sizeof length);
  const bool ok = write_all(fd, header.data(), header.size()) and write_all(fd, record.data(), record.size());
  ::_exit(ok ? 0 : 1);
}

struct Child {
  pid_t pid = -1;
  int fd = -1;
  std::size_t job = 0;
  std::string received;
};

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

/// The forked workers of one run_forked() call. Its destructor leaves no child behind.
class Pool {
public:
  Pool(const std::vector<Job>& jobs, const PoolOptions& options)
      : jobs_(jobs), options_(options), outcomes_(jobs.size()),
        limit_(static_cast<std::size_t>(options.jobs > 0 ? options.jobs : available_cpus())) {}
  ~Pool() { end_children(); }
  Pool(const Pool&) = delete;
  Pool& operator=(const Pool&) = delete;

  std::vector<JobOutcome> run() {
    while ((next_ < jobs_.size() or not children_.empty()) and not InterruptScope::interrupted()) {
      while (next_ < jobs_.size() and children_.size() < limit_ and start(next_))
        ++next_;
      wait();
    }
    if (InterruptScope::interrupted())
      give_up();
    return std::move(outcomes_);
  }

private:
  bool start(std::size_t index);
  void wait();
  bool receive(Child& child);
  void finish(Child& child);
  void end_children();
  void give_up();

  const std::vector<Job>& jobs_;
  const PoolOptions& options_;
  std::vector<JobOutcome> outcomes_;
  std::vector<Child> children_;
  std::size_t limit_;
  std::size_t next_ = 0;
  std::size_t done_ = 0;
};

/// Forks one child. False when the system is short of processes or descriptors while others still
/// run: their end makes room.
bool Pool::start(std::size_t index) {
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
      ::close(fds[0]);
      for (const auto& other : children_)
        ::close(other.fd);
      child_main(jobs_[index], fds[1], parent);
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
  children_.push_back({pid, fds[0], index, {}});
  return true;
}

/// Waits until a child says or ends something, or Ctrl-C.
void Pool::wait() {
  std::vector<pollfd> watched;
  for (const auto& child : children_)
    watched.push_back({child.fd, POLLIN, 0});
  watched.push_back({wake_pipe[0], POLLIN, 0});
  if (::poll(watched.data(), watched.size(), -1) < 0)
    return; // EINTR: the caller looks at the interrupt flag and comes back
  for (std::size_t i = children_.size(); i-- > 0;) {
    if ((watched[i].revents & (POLLIN | POLLHUP | POLLERR)) == 0 or receive(children_[i]))
      continue;
    finish(children_[i]);
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

/// Reaps a child whose output has ended and turns its record into the job's outcome.
void Pool::finish(Child& child) {
  ::close(child.fd);
  int status = 0;
  while (::waitpid(child.pid, &status, 0) < 0 and errno == EINTR) {
  }
  child.pid = -1;
  auto& outcome = outcomes_[child.job];
  std::uint64_t length = 0;
  if (child.received.size() > sizeof length)
    std::memcpy(&length, child.received.data(), sizeof length);
  if (length == 0 or child.received.size() != sizeof length + length) {
    const auto& name = jobs_[child.job].name;
    // On Ctrl-C at a terminal the children get the signal too, perhaps before the parent does.
    if (WIFSIGNALED(status) and WTERMSIG(status) == SIGINT)
      outcome.error = error_of(Interrupted(fmt::format("'{}' was interrupted", name)));
    else
      outcome.error =
          error_of(ChildFailure(fmt::format("the process simulating '{}' {}", name, describe_end(status))));
  } else {
    const Kind kind = static_cast<Kind>(child.received[sizeof length]);
    std::string payload = child.received.substr(sizeof length + 1);
    if (kind == Kind::Value)
      outcome.value = std::move(payload);
    else
      outcome.error = decode_error(kind, std::move(payload));
  }
  ++done_;
  if (options_.progress)
    options_.progress(done_, jobs_.size());
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

/// After Ctrl-C: the children are ended, and every job without an outcome says so.
void Pool::give_up() {
  std::vector<std::size_t> open;
  for (const auto& child : children_)
    open.push_back(child.job);
  for (std::size_t i = next_; i < jobs_.size(); ++i)
    open.push_back(i);
  end_children();
  for (const std::size_t i : open)
    outcomes_[i].error = error_of(Interrupted(fmt::format("'{}' was interrupted", jobs_[i].name)));
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

std::vector<JobOutcome> run_forked(const std::vector<Job>& jobs, const PoolOptions& options) {
  const InterruptScope scope;
  return Pool(jobs, options).run();
}

} // namespace replisim
