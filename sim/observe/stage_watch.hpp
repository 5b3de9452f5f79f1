// Watches what keeps each slot's pipeline busy, over the whole run and while the slot is behind.
#pragma once

#include "sim/actors/pipeline.hpp"

#include <array>
#include <map>
#include <string>
#include <vector>

namespace replisim {

/// The stations of a pipeline in the order of the flow. The walsender is one process with four kinds of work.
enum class Station {
  Backend,
  WalDisk,
  Decoding,
  Spilling,
  Filtering,
  Sending,
  Bandwidth,
  Window,
  Client,
  Worker
};
inline constexpr std::size_t stations = 10;
using StationSeconds = std::array<double, stations>;

/// Seconds each station was busy. Backend: CPU of the busiest one. Window: the walsender waited for room
/// while neither the network nor the client had anything to do.
struct SlotWatch {
  double watched_s = 0;
  double behind_s = 0; ///< the slot's lag was more than work under way
  StationSeconds busy{}, busy_behind{};
  double unflushed_bytes = 0,
         unread_bytes = 0; ///< summed over the samples behind; unread: flushed, not decoded
};

/// Below this a lag is that of work under way, not a backlog: a second's worth of WAL, at most a segment.
double work_under_way_bytes(double wal_bytes, double now_s);

class StageWatch {
public:
  explicit StageWatch(const Pipeline& pipeline);
  void sample(double now_s);
  const std::map<std::string, SlotWatch>& slots() const { return watches_; }

private:
  /// What was read off the processes of a slot at the last sample.
  struct Reading {
    double walsender_busy_s = 0, walsender_blocked_s = 0, network_s = 0, client_s = 0, client_blocked_s = 0,
           workers_s = 0;
    WalsenderWork work;
  };
  struct SlotProcesses {
    const engine::Process* walsender = nullptr;
    const engine::Process* network = nullptr;
    const engine::Process* client = nullptr;
    std::vector<const engine::Process*> workers;
    Reading last;
  };
  struct PublisherProcesses {
    std::vector<const engine::Process*> backends;
    std::vector<double> last_s;
    double last_disk_s = 0;
    double backend_s = 0, disk_s = 0; ///< since the last sample
  };
  static Reading read(const SlotProcesses& processes, const WalsenderWork& work);
  void sample_publisher(const PublisherSide& side, PublisherProcesses& processes) const;
  static StationSeconds busy_between(const Reading& before, const Reading& after, double seconds);

  const Pipeline& pipeline_;
  std::map<std::string, SlotProcesses> slots_;
  std::map<std::string, PublisherProcesses> publishers_;
  std::map<std::string, SlotWatch> watches_;
  double last_s_ = 0;
};

} // namespace replisim
