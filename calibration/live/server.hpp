// Throwaway PostgreSQL servers: found, made, started, spoken to, stopped.
#pragma once

#include "calibration/live/connection.hpp"
#include "calibration/live/workspace.hpp"
#include "models/version.hpp"

#include <cstdint>
#include <filesystem>
#include <map>
#include <string>
#include <vector>

namespace replisim::live {

/// The programs of one version.
struct Binaries {
  std::filesystem::path folder; ///< holds initdb and postgres
  std::filesystem::path pgbench;
  Version version;
};

/// The programs in `folder`; where it is empty, the newest of Debian's folders. Throws UsageError with a
/// sentence: none there, or a version that is too old or too new.
Binaries find_binaries(const std::filesystem::path& folder);

/// The same where the servers' user may execute them, else a copy of their tree in the workspace.
Binaries executable_binaries(Binaries binaries, Workspace& workspace);

/// Settings of a server by name, as postgresql.conf has them.
using ServerSettings = std::map<std::string, std::string>;

class ThrowawayServer {
public:
  /// Makes a cluster and starts it. `port` 0: it listens on a socket in the workspace alone; else on
  /// 127.0.0.1, too. Throws UsageError with a sentence and a next step; Interrupted.
  ThrowawayServer(std::string name, Workspace& workspace, const Binaries& binaries, int port,
                  const ServerSettings& settings);
  ~ThrowawayServer();
  ThrowawayServer(const ThrowawayServer&) = delete;
  ThrowawayServer& operator=(const ThrowawayServer&) = delete;

  void start();
  void stop(); ///< fast shutdown

  const std::string& name() const { return name_; }
  std::string conninfo(const std::string& database = "postgres") const;
  Connection connect(const std::string& database = "postgres") const;
  pid_t postmaster() const { return process_.pid; }
  const std::filesystem::path& socket_folder() const { return folder_; }
  int port() const { return port_; }
  const std::filesystem::path& data() const { return data_; }
  const std::filesystem::path& log() const { return log_; }
  /// Length of the log so far: what is behind it belongs to what comes next.
  std::uintmax_t log_size() const;
  std::string log_from(std::uintmax_t position) const;
  /// What the log says of its end: the last FATAL, PANIC or "No space left" line; empty when nothing.
  std::string last_words() const;

private:
  void make_cluster();
  void write_settings(const ServerSettings& settings) const;

  std::string name_;
  Workspace& workspace_;
  Binaries binaries_;
  int port_ = 0;
  bool on_tcp_ = false;
  std::filesystem::path folder_; ///< the servers' user's own: data and socket
  std::filesystem::path data_;
  std::filesystem::path log_;
  Process process_;
};

/// Throws UsageError with a sentence when something listens on 127.0.0.1 at `port` already.
void require_free_port(int port);

} // namespace replisim::live
