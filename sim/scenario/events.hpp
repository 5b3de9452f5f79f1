// What happens to a cluster during a run: faults, changes, and a cut-over.
#pragma once

#include "models/settings.hpp"

#include <string>

namespace replisim {

struct Event {
  enum class Kind {
    SubscriberDown, ///< a server with subscriptions is stopped
    Partition,      ///< nothing passes between two hosts
    Crash,          ///< a process of one subscription ends
    SlowDisk,       ///< flushes of a server's WAL take longer
    CpuTaken,       ///< other programs run on a host
    CreditsUsedUp,  ///< a burstable host has no CPU credits left
    LinkChange,     ///< another bandwidth or latency
    SettingChange,  ///< of a server, reloaded
    CutOver         ///< applications leave a publisher: nothing is written there any more
  };
  enum class Process { Walsender, ApplyWorker, TableSyncWorker };

  Kind kind = Kind::SubscriberDown;
  double at_s = 0;
  bool when_ready = false; ///< of a CutOver: once every table is READY
  double for_s = 0;        ///< 0: to the end of the run, where it lasts
  std::string server;
  std::string host, other_host;
  std::string subscription;
  Process process = Process::Walsender;
  double factor = 1;                ///< of a SlowDisk
  double cores = 0;                 ///< of CpuTaken
  double bandwidth_bytes_per_s = 0; ///< of a LinkChange; 0: as it was
  double latency_s = -1;            ///< of a LinkChange; negative: as it was
  std::string setting;
  GucValue value;

  double end_s() const { return at_s + for_s; }
  bool lasts() const;
};

/// As in a scenario file: "partition".
std::string to_string(Event::Kind kind);

/// "partition of a and b".
std::string describe(const Event& event);

} // namespace replisim
