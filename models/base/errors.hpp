// The kinds of failure replisim knows, and the exit code each one means.
#pragma once

#include <stdexcept>
#include <string>
#include <vector>

namespace replisim {

/// Process exit codes, the same for every subcommand (README, "Exit codes").
enum class ExitCode : int {
  Ok = 0,           ///< done; warnings alone are Ok
  No = 1,           ///< the answer is no: a suite short of its bar, a promise not kept
  Usage = 2,        ///< something outside the program must be put right
  Internal = 3,     ///< our own error: invariant, deadlock
  Interrupted = 130 ///< Ctrl-C; what was finished is complete
};

/// The user (or the world outside) must put something right: command line, file, disk. Exit 2.
class UsageError : public std::runtime_error {
public:
  using std::runtime_error::runtime_error;
};

/// One mistake in an input file. `line` and `column` are 1-based; 0 when there is no position
/// (a mistake in a `--set` override names the override in `file` instead).
struct Diagnostic {
  std::string file;
  int line = 0;
  int column = 0;
  std::string path;    ///< field path, e.g. `servers.pub.settings.logical_decoding_work_mem`
  std::string message; ///< what was found, what is allowed, nearest known name

  /// `file:line:column: path: message`, leaving out the parts that are empty.
  std::string to_string() const;
};

/// All mistakes of a set of input files, reported in one go. Exit 2.
class ScenarioError : public UsageError {
public:
  explicit ScenarioError(std::vector<Diagnostic> diagnostics);
  const std::vector<Diagnostic>& diagnostics() const { return diagnostics_; }

private:
  std::vector<Diagnostic> diagnostics_;
};

/// A rule that must hold in every run does not: a bug of replisim, never of the user. Exit 3.
class InvariantViolation : public std::logic_error {
public:
  using std::logic_error::logic_error;
};

/// The simulated world stands still with work left; says who waits for what. Exit 3.
class DeadlockError : public std::runtime_error {
public:
  using std::runtime_error::runtime_error;
};

} // namespace replisim
