#include "calibration/live/machine_probe.hpp"

#include "calibration/live/clock.hpp"
#include "calibration/repeats.hpp"
#include "models/base/errors.hpp"
#include "sim/run/fork_pool.hpp"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <vector>

#include <fcntl.h>
#include <unistd.h>

#include <fmt/format.h>

namespace replisim::live {

namespace {

constexpr std::size_t page = 8192;
constexpr std::size_t pages = 8192; // 64 MB

class ProbeFile {
public:
  ProbeFile(std::filesystem::path file, const char* option)
      : file_(std::move(file)), option_(option),
        descriptor_(::open(file_.c_str(), O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0600)) {
    if (descriptor_ < 0)
      fail();
  }
  ~ProbeFile() {
    ::close(descriptor_);
    ::unlink(file_.c_str());
  }
  ProbeFile(const ProbeFile&) = delete;
  ProbeFile& operator=(const ProbeFile&) = delete;

  void write(const std::vector<char>& data, std::size_t at) {
    if (::pwrite(descriptor_, data.data(), data.size(), static_cast<off_t>(at)) != std::ssize(data))
      fail();
  }
  void flush() {
    if (::fdatasync(descriptor_) != 0)
      fail();
  }
  bool read(std::vector<char>& data, std::size_t at) {
    return ::pread(descriptor_, data.data(), data.size(), static_cast<off_t>(at)) > 0;
  }
  bool forget() { return ::posix_fadvise(descriptor_, 0, 0, POSIX_FADV_DONTNEED) == 0; }

private:
  [[noreturn]] void fail() const {
    throw UsageError(
        fmt::format("the disk below {} cannot be measured: {}; free some of it, or choose another place "
                    "with {}",
                    file_.parent_path().string(), std::strerror(errno), option_));
  }
  std::filesystem::path file_;
  const char* option_;
  int descriptor_;
};

/// The first pages of the file, one after the other, each written anew and flushed.
double flush_latency_s(ProbeFile& file, int count) {
  const std::vector<char> data(page, 'x');
  std::vector<double> flushes;
  for (int i = 0; i < count; ++i) {
    const double begin_s = now_s();
    file.write(data, static_cast<std::size_t>(i) * page);
    file.flush();
    flushes.push_back(now_s() - begin_s);
  }
  return median(flushes);
}

} // namespace

double flush_latency_s(const std::filesystem::path& folder, int count, const char* option) {
  ProbeFile file(folder / "disk.probe", option);
  file.write(std::vector<char>(page * static_cast<std::size_t>(count), 'x'), 0);
  file.flush();
  return flush_latency_s(file, count);
}

MachineProbe probe_machine(const std::filesystem::path& folder) {
  MachineProbe probe;
  probe.cpus = available_cpus();
  probe.memory_bytes =
      static_cast<double>(::sysconf(_SC_PHYS_PAGES)) * static_cast<double>(::sysconf(_SC_PAGESIZE));
  ProbeFile file(folder / "disk.probe", "--work");
  std::vector<char> data(page * 128, 'x');
  double begin_s = now_s();
  for (std::size_t at = 0; at < page * pages; at += data.size())
    file.write(data, at);
  file.flush();
  probe.write_bytes_per_s = static_cast<double>(page * pages) / (now_s() - begin_s);
  data.resize(page);
  check_interrupt();
  probe.fsync_s = flush_latency_s(file, 200);
  if (not file.forget())
    return probe;
  std::vector<double> reads;
  constexpr std::size_t stride = 2741; // a prime: pages far from each other, none twice
  constexpr int read_count = 200;
  for (std::size_t i = 0; i < read_count; ++i) {
    begin_s = now_s();
    file.read(data, (i * stride % pages) * page);
    reads.push_back(now_s() - begin_s);
  }
  probe.random_read_s = median(reads);
  file.forget();
  data.resize(page * 128);
  begin_s = now_s();
  for (std::size_t at = 0; at < page * pages; at += data.size())
    file.read(data, at);
  probe.read_bytes_per_s = static_cast<double>(page * pages) / (now_s() - begin_s);
  return probe;
}

std::string machine_text(const MachineProbe& probe, const std::string& name) {
  constexpr double mega = 1024.0 * 1024, giga = 1024 * mega; // as scenarios count rates in bytes, too
  std::string out = fmt::format(
      "# This machine as `replisim lab` found it: its processors as the system counts them, its disk by a "
      "short\n"
      "# measurement of its own.\nreplisim_machine: 1\nname: {}\nsockets: 1\ncores_per_socket: {}\n"
      "threads_per_core: 1\nmemory: {:.0f}GB\ndisks:\n",
      name, probe.cpus, std::max(1.0, probe.memory_bytes / giga));
  const double read = probe.read_bytes_per_s > 0 ? probe.read_bytes_per_s : probe.write_bytes_per_s;
  out += fmt::format(
      "  - {{name: data, fsync_latency: {:.4g}ms, write_bandwidth: {:.0f}MB/s, read_bandwidth: {:.0f}MB/s",
      probe.fsync_s * 1e3, std::max(1.0, probe.write_bytes_per_s / mega), std::max(1.0, read / mega));
  if (probe.random_read_s > 0)
    out += fmt::format(", read_latency: {:.4g}ms", probe.random_read_s * 1e3);
  out += "}\nguessed:\n  threads_per_core: every processor is taken for a core; whether two are threads of "
         "one is not looked at\n";
  if (probe.read_bytes_per_s <= 0)
    out += "  disks: reads could not be measured and are taken to be as fast as writes\n";
  return out;
}

} // namespace replisim::live
