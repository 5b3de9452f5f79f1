// A folder for throwaway servers and the processes started in it, and their end whatever happens.
//
// Each run has a folder of its own below TMP/replisim-lab-UID, locked (flock) while it lives. A process is
// entered in the folder's list, with its start time, before it becomes what it is meant to be; so the next
// run finds what a killed one left: it ends exactly the processes of that list which are still the same ones,
// and removes the folder.
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include <sys/types.h>

namespace replisim::live {

/// Whom servers run as: PostgreSQL refuses to run as root.
struct ServerUser {
  std::string name;
  uid_t uid = 0;
  gid_t gid = 0;
  bool changes = false; ///< it is another user than ours
};

/// Of the name given; of ourselves when it is empty and we are not root; else postgres or nobody. Throws
/// UsageError with a sentence.
ServerUser server_user(const std::string& name);

/// A process of ours. It is the holder that ends it; destroying the object does not.
struct Process {
  pid_t pid = 0;
  std::string name;
};

struct SpawnOptions {
  std::filesystem::path output; ///< standard output and error are appended to it
  std::filesystem::path folder; ///< where it runs
  bool as_server_user = true;
};

class Workspace {
public:
  /// Ends what dead runs left behind in `parent`/replisim-lab-UID, then makes a folder of its own there.
  Workspace(const std::filesystem::path& parent, ServerUser user);
  /// Ends its processes and removes the folder.
  ~Workspace();
  Workspace(const Workspace&) = delete;
  Workspace& operator=(const Workspace&) = delete;

  const std::filesystem::path& path() const { return path_; }
  const ServerUser& user() const { return user_; }
  /// What dead runs had left: one sentence each.
  const std::vector<std::string>& cleaned() const { return cleaned_; }

  /// Makes a folder that the servers' user owns.
  std::filesystem::path make_folder(const std::string& name) const;
  /// Whether the servers' user may execute the file.
  bool can_execute(const std::filesystem::path& file) const;

  /// Starts a program. It gets `death_signal` when this process dies; call it from the thread that lives
  /// longest.
  Process spawn(const std::string& name, const std::vector<std::string>& arguments,
                const SpawnOptions& options, int death_signal);
  /// Exit code, or 128 plus the signal, once it has ended; nothing while it runs after `most_s`.
  std::optional<int> wait(const Process& process, double most_s);
  /// Sends `signal`; after `patience_s` SIGKILL. Returns when the process is gone.
  void end(const Process& process, int signal, double patience_s);
  /// Runs a program to its end; its exit code.
  int run(const std::string& name, const std::vector<std::string>& arguments, const SpawnOptions& options);

private:
  void clean_dead_runs(const std::filesystem::path& base);
  void register_process(pid_t pid, const std::string& name) const;
  [[noreturn]] void become(const std::vector<std::string>& arguments, const SpawnOptions& options,
                           int death_signal, int go) const;

  ServerUser user_;
  std::filesystem::path path_;
  int lock_ = -1;
  std::map<pid_t, std::optional<int>> ended_; ///< exit codes of children, by pid
  std::vector<std::string> cleaned_;
};

/// When a process was started, in ticks since boot (/proc/PID/stat); nothing when there is none.
std::optional<std::uint64_t> start_ticks(pid_t pid);

} // namespace replisim::live
