#include "calibration/live/server.hpp"

#include "calibration/live/clock.hpp"
#include "models/base/errors.hpp"

#include <algorithm>
#include <array>
#include <csignal>
#include <cstdio>
#include <fstream>
#include <optional>
#include <sstream>

#include <netinet/in.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <fmt/format.h>

namespace replisim::live {

namespace fs = std::filesystem;

namespace {

constexpr int oldest_major = 14;
constexpr int newest_major = 19;

/// "postgres (PostgreSQL) 18.4" from `postgres --version`.
std::string version_text(const fs::path& program) {
  const std::string command = fmt::format("'{}' --version 2>/dev/null", program.string());
  std::string out;
  if (FILE* pipe = ::popen(command.c_str(), "r")) {
    std::array<char, 256> buffer{};
    while (std::fgets(buffer.data(), buffer.size(), pipe) != nullptr)
      out += buffer.data();
    ::pclose(pipe);
  }
  return out;
}

std::vector<fs::path> debian_folders() {
  std::vector<std::pair<int, fs::path>> found;
  std::error_code error;
  for (const auto& entry : fs::directory_iterator("/usr/lib/postgresql", error))
    if (fs::exists(entry.path() / "bin" / "postgres"))
      found.emplace_back(std::atoi(entry.path().filename().c_str()), entry.path() / "bin");
  std::sort(found.rbegin(), found.rend());
  std::vector<fs::path> folders;
  for (auto& [major, folder] : found)
    folders.push_back(std::move(folder));
  return folders;
}

fs::path find_pgbench(const fs::path& folder) {
  if (fs::exists(folder / "pgbench"))
    return folder / "pgbench";
  for (const fs::path& other : debian_folders())
    if (fs::exists(other / "pgbench"))
      return other / "pgbench";
  return {};
}

fs::path folder_of_programs(const fs::path& named) {
  if (named.empty()) {
    const auto folders = debian_folders();
    if (folders.empty())
      throw UsageError(
          "no PostgreSQL server is installed below /usr/lib/postgresql; install one (apt-get install "
          "postgresql-15) or name the folder of its programs with --bin");
    return folders.front();
  }
  for (const fs::path& folder : {named, named / "bin", named / "native" / "bin"})
    if (fs::exists(folder / "postgres") and fs::exists(folder / "initdb"))
      return fs::canonical(folder);
  throw UsageError(
      fmt::format("--bin {}: there are no programs initdb and postgres; name the folder that holds them, "
                  "such as /usr/lib/postgresql/15/bin",
                  named.string()));
}

} // namespace

Binaries find_binaries(const fs::path& folder) {
  Binaries binaries;
  binaries.folder = folder_of_programs(folder);
  binaries.pgbench = find_pgbench(binaries.folder);
  const std::string text = version_text(binaries.folder / "postgres");
  const std::size_t at = text.find(") ");
  std::string number, problem;
  if (at != std::string::npos)
    std::istringstream(text.substr(at + 2)) >> number;
  const int major = std::atoi(number.c_str());
  if (major == 0)
    throw UsageError(
        fmt::format("{} does not start: `postgres --version` says '{}'; a library may be missing (ldd)",
                    (binaries.folder / "postgres").string(), text));
  if (major < oldest_major or major > newest_major or not parse_version(number, binaries.version, problem))
    throw UsageError(
        fmt::format("{} is PostgreSQL {}; replisim lab works with {} to {}: name another folder with "
                    "--bin",
                    binaries.folder.string(), number, oldest_major, newest_major));
  return binaries;
}

Binaries executable_binaries(Binaries binaries, Workspace& workspace) {
  if (workspace.can_execute(binaries.folder / "postgres"))
    return binaries;
  const fs::path root = binaries.folder.parent_path();
  if (not fs::is_directory(root / "share") or not fs::is_directory(root / "lib"))
    throw UsageError(
        fmt::format("user {} cannot execute {}; choose another user with --as, or open the folders above "
                    "it (chmod o+x)",
                    workspace.user().name, (binaries.folder / "postgres").string()));
  const fs::path copy = workspace.path() / "programs";
  for (const char* part : {"bin", "lib", "share"}) {
    std::error_code error;
    fs::create_directories(copy, error);
    fs::copy(root / part, copy / part, fs::copy_options::recursive | fs::copy_options::copy_symlinks, error);
    if (error)
      throw UsageError(fmt::format("{} cannot be copied to {}: {}", (root / part).string(), copy.string(),
                                   error.message()));
  }
  binaries.folder = copy / "bin";
  return binaries;
}

void require_free_port(int port) {
  const int probe = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  const int yes = 1;
  ::setsockopt(probe, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof yes);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  address.sin_port = htons(static_cast<std::uint16_t>(port));
  const bool is_free = ::bind(probe, reinterpret_cast<sockaddr*>(&address), sizeof address) == 0;
  ::close(probe);
  if (not is_free)
    throw UsageError(
        fmt::format("port {} on 127.0.0.1 is in use by another program; give another one with --port, or "
                    "leave --port out: the servers then listen on sockets in their own folder",
                    port));
}

ThrowawayServer::ThrowawayServer(std::string name, Workspace& workspace, const Binaries& binaries, int port,
                                 const ServerSettings& settings)
    : name_(std::move(name)), workspace_(workspace), binaries_(binaries), on_tcp_(port != 0),
      folder_(workspace.make_folder(name_)), data_(folder_ / "data"),
      log_(workspace.path() / fmt::format("{}.log", name_)) {
  // A port names the socket even where nothing listens on it.
  port_ = on_tcp_ ? port : (name_ == "pub" ? 5432 : 5433);
  constexpr std::size_t longest_socket = sizeof(sockaddr_un::sun_path) - 1;
  if ((folder_ / ".s.PGSQL.65535").string().size() > longest_socket)
    throw UsageError(fmt::format("{} is too long a path for a socket; choose a shorter one with --work",
                                 folder_.string()));
  make_cluster();
  write_settings(settings);
  start();
}

ThrowawayServer::~ThrowawayServer() {
  if (process_.pid != 0)
    workspace_.end(process_, SIGQUIT, 5);
}

void ThrowawayServer::make_cluster() {
  const fs::path output = workspace_.path() / fmt::format("{}.initdb.log", name_);
  const int code = workspace_.run("initdb",
                                  {(binaries_.folder / "initdb").string(), "-D", data_.string(), "-U",
                                   "postgres", "-A", "trust", "--locale=C", "-E", "UTF8", "-N"},
                                  {output, folder_, true});
  if (code == 0)
    return;
  std::ifstream file(output);
  std::string line, last;
  while (std::getline(file, line))
    if (line.find("rror") != std::string::npos or line.find("ould not") != std::string::npos)
      last = line;
  const bool is_full = last.find("No space left") != std::string::npos;
  throw UsageError(
      fmt::format("initdb failed in {}: {}; {}", data_.string(), last.empty() ? "no reason given" : last,
                  is_full ? "free some of that disk, or choose another place with --work"
                          : "see whether the user may write there, or choose another place with --work"));
}

void ThrowawayServer::write_settings(const ServerSettings& settings) const {
  std::ofstream file(data_ / "postgresql.conf", std::ios::app);
  file << fmt::format("port = {}\nlisten_addresses = '{}'\nunix_socket_directories = '{}'\n", port_,
                      on_tcp_ ? "127.0.0.1" : "", folder_.string());
  file << "logging_collector = off\nlc_messages = 'C'\nlog_line_prefix = '%m [%p] %b %q%u@%d %a '\n"
          "log_timezone = 'UTC'\ntimezone = 'UTC'\n";
  for (const auto& [setting, value] : settings)
    file << fmt::format("{} = {}\n", setting, quoted_text(value));
  file.close();
  if (not file)
    throw UsageError(fmt::format("cannot write {}: is the disk full? choose another place with --work",
                                 (data_ / "postgresql.conf").string()));
}

void ThrowawayServer::start() {
  process_ = workspace_.spawn(name_, {(binaries_.folder / "postgres").string(), "-D", data_.string()},
                              {log_, folder_, true}, SIGQUIT);
  const double until = now_s() + 60;
  while (true) {
    check_interrupt();
    if (workspace_.wait(process_, 0.02)) {
      const std::string why = last_words();
      throw UsageError(fmt::format("the {} of the lab did not start: {}; {}", name_,
                                   why.empty() ? "no reason given" : why,
                                   why.find("No space left") != std::string::npos
                                       ? "free some of that disk, or choose another place with --work"
                                       : "the settings of the plan may not suit this version"));
    }
    try {
      connect().run("select 1");
      return;
    } catch (const ConnectionLost&) {
      if (now_s() > until)
        throw;
    }
  }
}

void ThrowawayServer::stop() {
  workspace_.end(process_, SIGINT, 60);
  process_ = {};
}

std::string ThrowawayServer::conninfo(const std::string& database) const {
  return fmt::format("host={} port={} dbname={} user=postgres", socket_folder().string(), port_, database);
}

Connection ThrowawayServer::connect(const std::string& database) const {
  return {conninfo(database), name_ == "pub" ? "lab's publisher" : "lab's subscriber", "replisim lab"};
}

std::uintmax_t ThrowawayServer::log_size() const {
  std::error_code error;
  const auto size = fs::file_size(log_, error);
  return error ? 0 : size;
}

std::string ThrowawayServer::log_from(std::uintmax_t position) const {
  std::ifstream file(log_, std::ios::binary);
  file.seekg(static_cast<std::streamoff>(position));
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}

std::string ThrowawayServer::last_words() const {
  std::istringstream lines(log_from(0));
  std::string line, last;
  while (std::getline(lines, line))
    for (const char* word : {"FATAL:", "PANIC:", "No space left"})
      if (const std::size_t at = line.find(word); at != std::string::npos)
        last = line.substr(std::min(at, line.find("ERROR:")));
  return last;
}

} // namespace replisim::live
