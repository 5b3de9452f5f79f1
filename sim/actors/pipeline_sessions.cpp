// The part of the cast that runs on subscribers beside the apply workers: locks and client sessions.
#include "sim/actors/pipeline.hpp"

namespace replisim {

SubscriberSide& Pipeline::subscriber_side(const std::string& server) {
  SubscriberSide& side = subscribers_[server];
  if (not side.locks)
    side.locks = std::make_unique<ServerLocks>(
        world_, scenario_.servers.at(server).settings.number("deadlock_timeout"));
  return side;
}

void Pipeline::add_sessions(const SessionLoad& load) {
  const Server& server = scenario_.servers.at(load.server);
  SubscriberSide& side = subscriber_side(load.server);
  SessionRecord& record = sessions_.emplace_back();
  record.name = load.name;
  record.server = load.server;
  record.open_since_s.assign(static_cast<std::size_t>(load.clients), -1);
  const double lock_timeout_s =
      load.lock_timeout_s > 0 ? load.lock_timeout_s : server.settings.number("lock_timeout");
  SubscriberSession::Params params;
  params.load = &load;
  params.tables = &scenario_.tables;
  params.costs = &costs_;
  params.seed = seed_;
  params.dead = side.dead.get();
  if (server.settings.text("synchronous_commit") != "off" and server.settings.flag("fsync"))
    params.flush = [latency_s = scenario_.hosts.at(server.host).disks.front().fsync_latency_s](
                       engine::Process& process) { process.sleep(latency_s); };
  for (int i = 0; i < load.clients; ++i) {
    const std::string name = fmt::format("{} session {} {}", server.name, load.name, i + 1);
    params.client = i;
    record.clients.push_back(side.locks->add_backend(name, ServerLocks::Kind::Session, lock_timeout_s));
    side.sessions.push_back(
        std::make_unique<SubscriberSession>(params, *side.locks, record.clients.back(), record));
    spawn(server.name, "session", name, server.host,
          [session = side.sessions.back().get()](engine::Process& process) { session->run(process); });
  }
}

} // namespace replisim
