// The cast of a run, continued: who changes the catalog, and who decodes through SQL.
#include "sim/actors/pipeline.hpp"

namespace replisim {

Decoder::Params Pipeline::decoding_of(const Server& publisher, bool streaming) const {
  Decoder::Params decoding;
  decoding.work_mem_bytes = publisher.settings.bytes("logical_decoding_work_mem");
  decoding.streaming = streaming;
  decoding.traits = traits_of(publisher.version);
  decoding.costs = &costs_;
  decoding.tables = &scenario_.tables;
  return decoding;
}

void Pipeline::add_ddl(const DdlLoad& load) {
  const Server& server = scenario_.servers.at(load.server);
  auto& side = publishers_.at(load.server);
  log_.ddl.emplace_back();
  log_.ddl.back().name = load.name;
  log_.ddl.back().server = load.server;
  DdlSession::Params params;
  params.load = &load;
  if (not load.table.empty())
    params.table = &scenario_.tables.at(load.table);
  if (not load.publication.empty())
    for (const auto& member : scenario_.publications.at(load.publication).tables)
      params.members.push_back(&scenario_.tables.at(member));
  params.traits = traits_of(server.version);
  params.costs = &costs_;
  params.waits_for_flush = server.settings.text("synchronous_commit") != "off";
  params.seed = seed_;
  params.end_s = scenario_.observe.until_s;
  side.ddl.push_back(std::make_unique<DdlSession>(params, *side.wal, side.state, log_.ddl.back()));
  ++side.state.busy_loads;
  spawn(server.name, "backend", server.name + " DDL " + load.name, server.host,
        [this, session = side.ddl.back().get(), name = server.name](engine::Process& process) {
          session->run(process);
          load_over(name);
        });
}

void Pipeline::add_decode(const DecodeCalls& calls) {
  const Publication& publication = scenario_.publications.at(calls.publication);
  const Server& server = scenario_.servers.at(publication.server);
  auto& from = publishers_.at(publication.server);
  auto& side = sql_slots_[calls.name];
  side.publisher = publication.server;
  side.slot = std::make_unique<Slot>(calls.name, from.wal->inserted(), Lsn{0});
  from.sql_slots.push_back(side.slot.get());
  side.decoder = std::make_unique<Decoder>(decoding_of(server, false), from.state.status);
  SqlDecoding::Params params;
  params.calls = &calls;
  params.costs = &costs_;
  params.publication = &publication;
  params.tables = &scenario_.tables;
  params.traits = traits_of(server.version);
  params.loads_over = [this, name = publication.server] {
    return publishers_.at(name).state.busy_loads == 0;
  };
  params.failed = [this, name = calls.name](const std::string& reason) { decoding_failed(name, reason); };
  side.session = std::make_unique<SqlDecoding>(world_, params, *side.decoder, *from.wal,
                                               from.wal->add_reader(server.name + " decoding " + calls.name),
                                               *side.slot, log_.decoding[calls.name]);
  spawn(server.name, "sql_decoding", server.name + " decoding " + calls.name, server.host,
        [this, session = side.session.get()](engine::Process& process) {
          session->run(process);
          progressed();
        });
}

/// The error comes again with each attempt, as WAL is read from the same position: the run ends.
void Pipeline::decoding_failed(const std::string& slot, const std::string& reason) {
  if (not outcomes_.empty() and outcomes_.back().kind == "decoding_failed")
    return; // the run is ending
  outcomes_.push_back(
      {world_.now(), "decoding_failed", slot,
       fmt::format("decoding from slot {} ends with an error, again and again: {}", slot, reason)});
  world_.finish();
}

} // namespace replisim
