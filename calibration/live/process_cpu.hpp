// CPU seconds of a server's processes by class, from /proc.
#pragma once

#include <map>
#include <set>
#include <string>

#include <sys/types.h>

namespace replisim::live {

/// CPU time a process has used, in s; -1 when there is no such process.
double process_cpu_s(pid_t pid);
/// What it calls itself (/proc/PID/cmdline).
std::string process_title(pid_t pid);
/// "backend", "walsender", "apply_worker", "parallel_apply_worker", "walwriter", ... of a title as PostgreSQL
/// sets it; empty when it has none yet.
std::string process_class(const std::string& title);

/// The processes below one postmaster.
class ServerCpu {
public:
  explicit ServerCpu(pid_t postmaster) : postmaster_(postmaster) {}
  /// Processes that measure: they are summed in `excluded_s` instead of in a class.
  void exclude(pid_t pid) { excluded_.insert(pid); }

  /// Cumulated CPU seconds by class, of processes that have ended meanwhile as of the last look at them.
  std::map<std::string, double> sample();
  double excluded_s() const { return excluded_s_; }

private:
  struct Seen {
    std::string kind;
    double cpu_s = 0;
    int looks = 0;
  };

  pid_t postmaster_;
  std::set<pid_t> excluded_;
  std::map<pid_t, Seen> seen_;
  double excluded_s_ = 0;
};

} // namespace replisim::live
