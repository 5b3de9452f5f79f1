#include "sim/scenario/events.hpp"

#include <fmt/format.h>

namespace replisim {

bool Event::lasts() const {
  return kind != Kind::Crash and kind != Kind::CreditsUsedUp and kind != Kind::SettingChange and
         kind != Kind::CutOver;
}

std::string to_string(Event::Kind kind) {
  switch (kind) {
  case Event::Kind::SubscriberDown:
    return "subscriber_down";
  case Event::Kind::Partition:
    return "partition";
  case Event::Kind::Crash:
    return "crash";
  case Event::Kind::SlowDisk:
    return "slow_disk";
  case Event::Kind::CpuTaken:
    return "cpu_taken";
  case Event::Kind::CreditsUsedUp:
    return "credits_used_up";
  case Event::Kind::LinkChange:
    return "link";
  case Event::Kind::SettingChange:
    return "set";
  case Event::Kind::CutOver:
    break;
  }
  return "cut_over";
}

std::string describe(const Event& event) {
  switch (event.kind) {
  case Event::Kind::SubscriberDown:
    return fmt::format("subscriber {} down", event.server);
  case Event::Kind::Partition:
    return fmt::format("partition of {} and {}", event.host, event.other_host);
  case Event::Kind::Crash:
    return fmt::format("{} of {} ends",
                       event.process == Event::Process::Walsender     ? "walsender"
                       : event.process == Event::Process::ApplyWorker ? "apply worker"
                                                                      : "table-sync worker",
                       event.subscription);
  case Event::Kind::SlowDisk:
    return fmt::format("WAL disk of {} slower by {:g}", event.server, event.factor);
  case Event::Kind::CpuTaken:
    return fmt::format("{:g} CPUs of {} taken", event.cores, event.host);
  case Event::Kind::CreditsUsedUp:
    return fmt::format("CPU credits of {} used up", event.host);
  case Event::Kind::LinkChange:
    return fmt::format("another link between {} and {}", event.host, event.other_host);
  case Event::Kind::SettingChange:
    return fmt::format("{} of {} changed", event.setting, event.server);
  case Event::Kind::CutOver:
    break;
  }
  return fmt::format("cut-over from {}", event.server);
}

} // namespace replisim
