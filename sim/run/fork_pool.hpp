// Jobs in forked children, a few at a time. One simulation needs one process, since SimGrid's clock
// lives as long as its process; sim/run/run_simulation.hpp has the jobs that simulate.
#pragma once

#include "models/base/units.hpp"

#include <cstddef>
#include <exception>
#include <functional>
#include <optional>
#include <stdexcept>
#include <string>
#include <vector>

namespace replisim {

/// Ctrl-C arrived; what was finished before is complete. Exit 130.
class Interrupted : public std::runtime_error {
public:
  using std::runtime_error::runtime_error;
};

/// A child ended without a result: a signal, or an exit of its own. Exit 3.
class ChildFailure : public std::runtime_error {
public:
  using std::runtime_error::runtime_error;
};

/// A job was ended at a limit of RunLimits, or could not go on within it.
class LimitExceeded : public std::runtime_error {
public:
  using std::runtime_error::runtime_error;
};

/// While one lives, SIGINT asks the pool to end its children instead of ending the program. Scopes
/// nest; a request stays until the outermost scope closes. An ignored SIGINT stays ignored.
class InterruptScope {
public:
  InterruptScope();
  ~InterruptScope();
  InterruptScope(const InterruptScope&) = delete;
  InterruptScope& operator=(const InterruptScope&) = delete;
  static bool interrupted();
};

/// One piece of work. `work` runs in a child of its own; what it returns (any bytes) reaches the parent.
struct Job {
  std::string name; ///< for error messages
  std::function<std::string()> work;
};

/// What became of a job: its value, or an error. The error has the type it was thrown with in the
/// child when that is ScenarioError, UsageError, DeadlockError or InvariantViolation; any other
/// exception becomes an InvariantViolation, a crash a ChildFailure, one that met a limit a LimitExceeded, a
/// job ended or not started because of Ctrl-C an Interrupted.
struct JobOutcome {
  std::string value = {};
  std::exception_ptr error = {};
  double wall_s = 0; ///< from the fork to the end of the child
  double cpu_s = 0;  ///< user and system CPU time of the child
  Bytes peak_memory_bytes =
      0; ///< largest resident size of the child, what it shares with the parent included
  /// The value; rethrows the error if there is one.
  const std::string& get() const;
};

/// What one job may use; 0: no limit.
struct RunLimits {
  double time_s = 0;      ///< wall clock of the parent; the child is killed
  Bytes memory_bytes = 0; ///< private writable memory (RLIMIT_DATA) of the child
};

struct PoolOptions {
  int jobs = 0; ///< children at a time; 0: available_cpus()
  std::function<void(std::size_t done, std::size_t total)> progress; ///< called as jobs end; may be empty
  RunLimits limits = {};
  /// Asked every few milliseconds where there is one: whether nobody wants the outcomes any more. Then the
  /// children end at once, as on Ctrl-C. Pools of several threads may run side by side in an InterruptScope.
  std::function<bool()> cancelled = {};
};

/// Where jobs come from and where their outcomes go, so that neither list needs to be in memory. Both are
/// called in the parent; an exception of either ends all children and is passed on.
struct JobStream {
  std::function<std::optional<Job>()> next; ///< nothing: there are no more
  /// `index` counts the calls of `next` from 0. Outcomes come in the order in which children end.
  std::function<void(std::size_t index, JobOutcome outcome)> finished;
};

/// CPUs this process may run on (sched_getaffinity), at least 1.
int available_cpus();

/// Runs all jobs, at most options.jobs at a time, and returns their outcomes in order of submission.
/// No child is left when it returns. Throws UsageError when the system refuses to create processes.
std::vector<JobOutcome> run_forked(const std::vector<Job>& jobs, const PoolOptions& options = {});

/// Runs jobs as they come, at most options.jobs at a time; options.progress is not called. Ctrl-C ends the
/// children at once; what they were doing is then never reported as finished. No child is left when it
/// returns. Throws UsageError when the system refuses to create processes.
void run_stream(const JobStream& stream, const PoolOptions& options);

} // namespace replisim
