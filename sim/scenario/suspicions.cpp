#include "sim/scenario/suspicions.hpp"

#include "models/base/units.hpp"
#include "models/wal_volume.hpp"
#include "sim/scenario/scenario.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace replisim {

namespace {

using Sentences = std::vector<std::string>;

const Server* publisher_of(const Scenario& scenario, const std::string& publication) {
  const auto known = scenario.publications.find(publication);
  if (known == scenario.publications.end())
    return nullptr;
  const auto server = scenario.servers.find(known->second.server);
  return server == scenario.servers.end() ? nullptr : &server->second;
}

void parallel_without_workers(const Scenario& scenario, Sentences& out) {
  for (const auto& [name, subscription] : scenario.subscriptions) {
    if (subscription.streaming != Streaming::Parallel)
      continue;
    const Settings& settings = scenario.servers.at(subscription.server).settings;
    for (const char* limit :
         {"max_parallel_apply_workers_per_subscription", "max_logical_replication_workers"}) {
      const double fewest = std::string_view(limit).starts_with("max_parallel") ? 1 : 2;
      if (settings.number(limit) < fewest)
        out.push_back(fmt::format(
            "subscriptions.{}.streaming is parallel, but servers.{}.settings.{} is {}: no parallel "
            "apply worker can start, and every streamed transaction goes through a file as with on",
            name, subscription.server, limit, settings.number(limit)));
    }
  }
}

/// WAL of the rows of one transaction, without full-page images.
Bytes wal_of(const Scenario& scenario, const BatchLoad& load) {
  Bytes bytes = 0;
  for (const auto& step : load.transaction)
    if (const auto* statement = std::get_if<StatementStep>(&step))
      if (const auto table = scenario.tables.find(statement->table); table != scenario.tables.end())
        bytes += statement_wal(table->second, statement->operation, statement->rows, false).bytes;
  return bytes;
}

void cap_below_a_batch(const Scenario& scenario, Sentences& out) {
  for (const BatchLoad& load : scenario.batches) {
    const auto server = scenario.servers.find(load.server);
    if (server == scenario.servers.end())
      continue;
    const double cap = server->second.settings.number("max_slot_wal_keep_size");
    const auto bytes = static_cast<double>(wal_of(scenario, load));
    if (cap >= 0 and bytes > cap)
      out.push_back(fmt::format(
          "servers.{}.settings.max_slot_wal_keep_size is {}, less than the {} of WAL that one transaction "
          "of {} writes: while it is open its slots hold more than that, and a checkpoint loses them",
          load.server, format_bytes(cap), format_bytes(bytes), load.name));
  }
}

void memory_beyond_the_host(const Scenario& scenario, Sentences& out) {
  std::map<std::string, int> decoders; // by server
  const auto count = [&](const std::string& publication) {
    if (const Server* server = publisher_of(scenario, publication))
      ++decoders[server->name];
  };
  for (const auto& [name, subscription] : scenario.subscriptions)
    count(subscription.publication);
  for (const auto& [name, consumer] : scenario.consumers)
    count(consumer.publication);
  for (const auto& [name, number] : decoders) {
    const Server& server = scenario.servers.at(name);
    const auto host = scenario.hosts.find(server.host);
    const double memory = server.settings.number("logical_decoding_work_mem") * number;
    if (host != scenario.hosts.end() and host->second.memory_bytes > 0 and
        memory > static_cast<double>(host->second.memory_bytes))
      out.push_back(fmt::format(
          "servers.{}.settings.logical_decoding_work_mem is {} for each of {} slots: together more than "
          "the {} of host {}",
          name, format_bytes(memory / number), number,
          format_bytes(static_cast<double>(host->second.memory_bytes)), server.host));
  }
}

void timeout_before_the_answer(const Scenario& scenario, Sentences& out) {
  for (const auto& [name, subscription] : scenario.subscriptions) {
    const Server* publisher = publisher_of(scenario, subscription.publication);
    if (publisher == nullptr)
      continue;
    const double timeout_s = publisher->settings.number("wal_sender_timeout");
    const double status_s =
        scenario.servers.at(subscription.server).settings.number("wal_receiver_status_interval");
    if (timeout_s > 0 and (status_s == 0 or status_s >= timeout_s))
      out.push_back(fmt::format(
          "subscription {} reports by itself {}, and servers.{}.settings.wal_sender_timeout is {}: only the "
          "keepalives at half of that keep the connection",
          name, status_s == 0 ? "never" : "every " + format_duration(status_s), publisher->name,
          format_duration(timeout_s)));
  }
}

void two_phase_without_room(const Scenario& scenario, Sentences& out) {
  for (const auto& [name, subscription] : scenario.subscriptions) {
    const Settings& settings = scenario.servers.at(subscription.server).settings;
    if (subscription.two_phase and settings.number("max_prepared_transactions") < 1)
      out.push_back(fmt::format("subscriptions.{}.two_phase is on, but "
                                "servers.{}.settings.max_prepared_transactions is 0: the first "
                                "prepared transaction ends the apply worker with an error, again and again",
                                name, subscription.server));
  }
}

} // namespace

Sentences suspicions(const Scenario& scenario) {
  Sentences out;
  parallel_without_workers(scenario, out);
  cap_below_a_batch(scenario, out);
  memory_beyond_the_host(scenario, out);
  timeout_before_the_answer(scenario, out);
  two_phase_without_room(scenario, out);
  return out;
}

} // namespace replisim
