#include "calibration/live/workspace.hpp"

#include "calibration/live/clock.hpp"
#include "models/base/errors.hpp"
#include "sim/run/fork_pool.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <fstream>
#include <sstream>

#include <fcntl.h>
#include <grp.h>
#include <pwd.h>
#include <sys/file.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <fmt/format.h>

namespace replisim::live {

namespace fs = std::filesystem;

namespace {

constexpr const char* list_name = "processes";
constexpr const char* lock_name = "lock";

[[noreturn]] void fail(const std::string& what, const fs::path& path) {
  throw UsageError(fmt::format("{} {}: {}", what, path.string(), std::strerror(errno)));
}

std::string boot_id() {
  std::ifstream file("/proc/sys/kernel/random/boot_id");
  std::string id;
  file >> id;
  return id;
}

/// The folder of all runs of this user. Others could have made it first: then it is not ours.
fs::path require_base(const fs::path& parent) {
  if (not fs::is_directory(parent))
    throw UsageError(
        fmt::format("there is no folder {}; --work names one for the throwaway servers", parent.string()));
  const fs::path base = fs::canonical(parent) / fmt::format("replisim-lab-{}", ::getuid());
  if (::mkdir(base.c_str(), 0711) != 0 and errno != EEXIST)
    fail("cannot make the folder", base);
  struct stat info {};
  if (::lstat(base.c_str(), &info) != 0)
    fail("cannot look at", base);
  constexpr mode_t others_write = 0022;
  if (not S_ISDIR(info.st_mode) or info.st_uid != ::getuid() or (info.st_mode & others_write) != 0)
    throw UsageError(
        fmt::format("{} is not a folder that belongs to this user alone; remove it, or choose another "
                    "place with --work",
                    base.string()));
  return base;
}

int open_locked(const fs::path& file, int how) {
  const int descriptor = ::open(file.c_str(), O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);
  if (descriptor < 0)
    fail("cannot open", file);
  if (::flock(descriptor, how) != 0) {
    ::close(descriptor);
    return -1;
  }
  return descriptor;
}

struct Entry {
  pid_t pid = 0;
  std::uint64_t ticks = 0;
  std::string name;
};

/// The processes of a run's list that still are what they were then.
std::vector<Entry> living_entries(const fs::path& run) {
  std::vector<Entry> living;
  std::ifstream list(run / list_name);
  std::string boot, line;
  std::getline(list, boot);
  if (boot != boot_id())
    return living;
  while (std::getline(list, line)) {
    std::istringstream words(line);
    Entry entry;
    // A line without its end may be cut short; its process has not been let go.
    if (list.eof() or not(words >> entry.pid >> entry.ticks >> entry.name) or entry.pid <= 1)
      continue;
    if (start_ticks(entry.pid) == entry.ticks)
      living.push_back(std::move(entry));
  }
  return living;
}

bool is_gone(const Entry& entry) { return start_ticks(entry.pid) != entry.ticks; }

void end_entries(const std::vector<Entry>& entries) {
  for (const Entry& entry : entries)
    ::kill(entry.pid, SIGQUIT);
  const double until = now_s() + 5;
  const auto all_gone = [&] { return std::all_of(entries.begin(), entries.end(), is_gone); };
  while (not all_gone() and now_s() < until)
    ::usleep(20'000);
  for (const Entry& entry : entries)
    if (not is_gone(entry))
      ::kill(entry.pid, SIGKILL);
  const double last = now_s() + 5;
  while (not all_gone() and now_s() < last)
    ::usleep(20'000);
}

} // namespace

std::optional<std::uint64_t> start_ticks(pid_t pid) {
  std::ifstream file(fmt::format("/proc/{}/stat", pid));
  std::string text;
  if (not std::getline(file, text))
    return std::nullopt;
  const std::size_t name_end = text.rfind(')');
  if (name_end == std::string::npos)
    return std::nullopt;
  std::istringstream rest(text.substr(name_end + 1));
  std::string word;
  rest >> word;
  if (word == "Z")
    return std::nullopt; // it has ended, nobody has asked how
  constexpr int fields_before = 18;
  for (int i = 0; i < fields_before; ++i)
    rest >> word;
  std::uint64_t ticks = 0;
  return rest >> ticks ? std::optional(ticks) : std::nullopt;
}

ServerUser server_user(const std::string& name) {
  const auto known = [](const std::string& wanted) -> std::optional<ServerUser> {
    const passwd* entry = ::getpwnam(wanted.c_str());
    if (entry == nullptr)
      return std::nullopt;
    return ServerUser{wanted, entry->pw_uid, entry->pw_gid, entry->pw_uid != ::getuid()};
  };
  if (::getuid() != 0) {
    const passwd* own = ::getpwuid(::getuid());
    const std::string own_name = own != nullptr ? own->pw_name : fmt::format("{}", ::getuid());
    if (not name.empty() and name != own_name)
      throw UsageError(fmt::format("--as {}: only root can run servers as another user; leave it out", name));
    return {own_name, ::getuid(), ::getgid(), false};
  }
  for (const std::string& wanted :
       name.empty() ? std::vector<std::string>{"postgres", "nobody"} : std::vector{name})
    if (const auto user = known(wanted)) {
      if (user->uid == 0)
        throw UsageError("--as: PostgreSQL refuses to run as root; name another user");
      return *user;
    }
  throw UsageError(fmt::format("there is no user '{}' to run servers as; name one with --as",
                               name.empty() ? "postgres" : name));
}

Workspace::Workspace(const fs::path& parent, ServerUser user) : user_(std::move(user)) {
  const fs::path base = require_base(parent);
  const int base_lock = open_locked(base / lock_name, LOCK_EX);
  clean_dead_runs(base);
  std::string pattern = (base / "run-XXXXXX").string();
  if (::mkdtemp(pattern.data()) == nullptr) {
    ::close(base_lock);
    fail("cannot make a folder in", base);
  }
  path_ = pattern;
  ::chmod(path_.c_str(), 0711);
  lock_ = open_locked(path_ / lock_name, LOCK_EX | LOCK_NB);
  std::ofstream list(path_ / list_name);
  list << boot_id() << '\n';
  list.close();
  ::close(base_lock);
  if (not list)
    throw UsageError(fmt::format("cannot write {}: is the disk full?", (path_ / list_name).string()));
}

Workspace::~Workspace() {
  end_entries(living_entries(path_));
  while (::waitpid(-1, nullptr, WNOHANG) > 0) {
  }
  std::error_code error;
  fs::remove_all(path_, error);
  ::close(lock_);
}

void Workspace::clean_dead_runs(const fs::path& base) {
  for (const auto& entry : fs::directory_iterator(base)) {
    if (not entry.is_directory() or entry.is_symlink() or
        not entry.path().filename().string().starts_with("run-"))
      continue;
    const int lock = open_locked(entry.path() / lock_name, LOCK_EX | LOCK_NB);
    if (lock < 0)
      continue; // somebody is at work there
    const auto living = living_entries(entry.path());
    end_entries(living);
    std::error_code error;
    fs::remove_all(entry.path(), error);
    ::close(lock);
    cleaned_.push_back(fmt::format("an earlier run had been killed: {} {} of it ended, {} removed",
                                   living.size(), living.size() == 1 ? "process" : "processes",
                                   entry.path().string()));
  }
}

fs::path Workspace::make_folder(const std::string& name) const {
  fs::path folder = path_ / name;
  if (::mkdir(folder.c_str(), 0700) != 0)
    fail("cannot make the folder", folder);
  if (user_.changes and ::chown(folder.c_str(), user_.uid, user_.gid) != 0)
    fail("cannot give away the folder", folder);
  return folder;
}

void Workspace::register_process(pid_t pid, const std::string& name) const {
  const auto ticks = start_ticks(pid);
  const int list = ::open((path_ / list_name).c_str(), O_WRONLY | O_APPEND | O_CLOEXEC);
  const std::string line = fmt::format("{} {} {}\n", pid, ticks.value_or(0), name);
  const bool is_written = list >= 0 and ::write(list, line.data(), line.size()) == std::ssize(line);
  ::close(list);
  if (not is_written or not ticks)
    throw UsageError(fmt::format("cannot write {}: {}", (path_ / list_name).string(), std::strerror(errno)));
}

void Workspace::become(const std::vector<std::string>& arguments, const SpawnOptions& options,
                       int death_signal, int go) const {
  ::setpgid(0, 0); // Ctrl-C on the terminal is for us, not for servers
  if (options.as_server_user and user_.changes and
      (::setgroups(0, nullptr) != 0 or ::setgid(user_.gid) != 0 or ::setuid(user_.uid) != 0))
    ::_exit(126);
  ::prctl(PR_SET_PDEATHSIG, death_signal); // after setuid, which would clear it
  char ready = 0;
  if (::read(go, &ready, 1) != 1) // entered in the list, or our parent is dead
    ::_exit(126);
  ::close(go);
  ::signal(SIGPIPE, SIG_DFL);
  ::signal(SIGINT, SIG_DFL);
  const int out = ::open(options.output.c_str(), O_WRONLY | O_APPEND);
  const int in = ::open("/dev/null", O_RDONLY);
  ::dup2(in, 0);
  ::dup2(out, 1);
  ::dup2(out, 2);
  if (not options.folder.empty() and ::chdir(options.folder.c_str()) != 0)
    ::_exit(126);
  std::vector<char*> words;
  for (const std::string& argument : arguments)
    words.push_back(const_cast<char*>(argument.c_str()));
  words.push_back(nullptr);
  ::execv(words.front(), words.data());
  ::_exit(127);
}

Process Workspace::spawn(const std::string& name, const std::vector<std::string>& arguments,
                         const SpawnOptions& options, int death_signal) {
  const int out = ::open(options.output.c_str(), O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0644);
  if (out < 0)
    fail("cannot write", options.output);
  if (options.as_server_user and user_.changes and ::fchown(out, user_.uid, user_.gid) != 0)
    fail("cannot give away", options.output);
  ::close(out);
  std::array<int, 2> go{};
  if (::pipe2(go.data(), O_CLOEXEC) != 0)
    fail("no pipe for", name);
  const pid_t pid = ::fork();
  if (pid < 0)
    fail("cannot start", name);
  if (pid == 0) {
    ::close(go[1]);
    become(arguments, options, death_signal, go[0]);
  }
  ::close(go[0]);
  try {
    register_process(pid, name);
  } catch (const UsageError&) {
    ::close(go[1]); // the child ends
    ::waitpid(pid, nullptr, 0);
    throw;
  }
  const char ready = 1;
  const bool is_told = ::write(go[1], &ready, 1) == 1;
  ::close(go[1]);
  ended_[pid] = std::nullopt;
  if (not is_told)
    fail("cannot start", name);
  return {pid, name};
}

std::optional<int> Workspace::wait(const Process& process, double most_s) {
  const double until = now_s() + most_s;
  while (true) {
    if (const auto known = ended_.find(process.pid); known != ended_.end() and known->second)
      return known->second;
    int status = 0;
    const pid_t done = ::waitpid(process.pid, &status, WNOHANG);
    if (done == process.pid)
      ended_[done] = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
    else if (done < 0)
      ended_[process.pid] = 128; // somebody else has asked
    else if (now_s() >= until)
      return std::nullopt;
    else
      ::usleep(5'000);
  }
}

void Workspace::end(const Process& process, int signal, double patience_s) {
  if (wait(process, 0))
    return;
  ::kill(process.pid, signal);
  if (wait(process, patience_s))
    return;
  ::kill(process.pid, SIGKILL);
  wait(process, 10);
}

int Workspace::run(const std::string& name, const std::vector<std::string>& arguments,
                   const SpawnOptions& options) {
  const Process process = spawn(name, arguments, options, SIGKILL);
  while (true) {
    if (const auto code = wait(process, 0.1))
      return *code;
    try {
      check_interrupt();
    } catch (const Interrupted&) {
      end(process, SIGTERM, 2);
      throw;
    }
  }
}

bool Workspace::can_execute(const fs::path& file) const {
  if (not user_.changes)
    return ::access(file.c_str(), X_OK) == 0;
  const pid_t pid = ::fork();
  if (pid < 0)
    fail("cannot start a process for", file);
  if (pid == 0) {
    if (::setgroups(0, nullptr) != 0 or ::setgid(user_.gid) != 0 or ::setuid(user_.uid) != 0)
      ::_exit(1);
    ::_exit(::access(file.c_str(), X_OK) == 0 ? 0 : 1);
  }
  int status = 0;
  ::waitpid(pid, &status, 0);
  return WIFEXITED(status) and WEXITSTATUS(status) == 0;
}

} // namespace replisim::live
