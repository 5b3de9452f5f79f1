#include "calibration/live/process_cpu.hpp"

#include <filesystem>
#include <fstream>
#include <sstream>
#include <vector>

#include <unistd.h>

#include <fmt/format.h>

namespace replisim::live {

namespace {

std::string rest_of_stat(pid_t pid) {
  std::ifstream file(fmt::format("/proc/{}/stat", pid));
  std::string text;
  std::getline(file, text);
  const std::size_t end = text.rfind(')');
  return end == std::string::npos ? std::string() : text.substr(end + 1);
}

pid_t parent_of(pid_t pid) {
  std::istringstream words(rest_of_stat(pid));
  std::string state;
  pid_t parent = 0;
  words >> state >> parent;
  return parent;
}

std::vector<pid_t> children_of(pid_t pid) {
  std::vector<pid_t> children;
  std::ifstream file(fmt::format("/proc/{0}/task/{0}/children", pid));
  if (file) {
    for (pid_t child = 0; file >> child;)
      children.push_back(child);
    return children;
  }
  std::error_code error; // a kernel without that file
  for (const auto& entry : std::filesystem::directory_iterator("/proc", error)) {
    const pid_t candidate = std::atoi(entry.path().filename().c_str());
    if (candidate > 0 and parent_of(candidate) == pid)
      children.push_back(candidate);
  }
  return children;
}

} // namespace

double process_cpu_s(pid_t pid) {
  std::ifstream precise(fmt::format("/proc/{}/schedstat", pid));
  if (double nanoseconds = 0; precise >> nanoseconds and nanoseconds > 0)
    return nanoseconds * 1e-9;
  std::istringstream words(rest_of_stat(pid));
  std::string word;
  constexpr int fields_before = 11;
  for (int i = 0; i < fields_before; ++i)
    words >> word;
  double user = 0, system = 0;
  if (not(words >> user >> system))
    return -1;
  return (user + system) / static_cast<double>(::sysconf(_SC_CLK_TCK));
}

std::string process_title(pid_t pid) {
  std::ifstream file(fmt::format("/proc/{}/cmdline", pid));
  std::string title;
  std::getline(file, title, '\0');
  return title;
}

std::string process_class(const std::string& title) {
  if (not title.starts_with("postgres: "))
    return {};
  const auto has = [&](const char* text) { return title.find(text) != std::string::npos; };
  if (has("parallel apply worker"))
    return "parallel_apply_worker";
  if (has("tablesync worker") or has(" sync "))
    return "tablesync_worker";
  if (has("apply worker for subscription") or has("logical replication worker for subscription"))
    return "apply_worker";
  for (const auto& [words, kind] : std::vector<std::pair<const char*, const char*>>{
           {"logical replication launcher", "logical_replication_launcher"},
           {"autovacuum launcher", "autovacuum_launcher"},
           {"autovacuum worker", "autovacuum_worker"},
           {"background writer", "background_writer"},
           {"checkpointer", "checkpointer"},
           {"walwriter", "walwriter"},
           {"walsender", "walsender"},
           {"io worker", "io_worker"},
           {"stats collector", "stats_collector"},
           {"slotsync worker", "slotsync_worker"},
           {"logger", "logger"},
           {"startup", "startup"}})
    if (title.starts_with(fmt::format("postgres: {}", words)) or
        (title.find(fmt::format(": {}", words)) != std::string::npos))
      return kind;
  return "backend";
}

std::map<std::string, double> ServerCpu::sample() {
  for (const pid_t pid : children_of(postmaster_)) {
    Seen& seen = seen_[pid];
    constexpr int looks_at_title = 20; // a young process still changes its title
    if (seen.looks < looks_at_title) {
      ++seen.looks;
      seen.kind = process_class(process_title(pid));
    }
    const double cpu_s = process_cpu_s(pid);
    if (cpu_s > seen.cpu_s)
      seen.cpu_s = cpu_s;
  }
  std::map<std::string, double> sums;
  excluded_s_ = 0;
  for (const auto& [pid, seen] : seen_)
    if (excluded_.contains(pid))
      excluded_s_ += seen.cpu_s;
    else if (not seen.kind.empty())
      sums[seen.kind] += seen.cpu_s;
  return sums;
}

} // namespace replisim::live
