// Events and initial synchronisations as they are written, and what does not fit together in them.
#include "tests/scenario/scenario_files.hpp"

#include <catch2/catch.hpp>

using namespace replisim;
using namespace replisim::test;

namespace {

/// The sound scenario with its subscriber on another host.
const std::string apart =
    replaced(replaced(sound, "hosts: {db: lab-2core}", "hosts: {db: lab-2core, far: lab-2core}"),
             "sub: {host: db,", "sub: {host: far,") +
    "links: [{between: [db, far], bandwidth: 1Gbps, latency: 1ms}]\n";

Lines errors_with(const std::string& event) { return errors_of(apart + "events: [" + event + "]\n"); }

} // namespace

TEST_CASE("every kind of event is read") {
  const Scenario scenario = load_text(apart + R"(events:
  - {at: 20s, for: 1min, subscriber_down: sub}
  - {at: 10s, for: 5s, partition: [db, far]}
  - {at: 30s, crash: apply_worker, subscription: s}
  - {at: 31s, for: 1s, slow_disk: pub, factor: 7}
  - {at: 32s, for: 1s, cpu_taken: far, cores: 1.5}
  - {at: 34s, for: 1s, link: [far, db], bandwidth: 10Mbps, latency: 5ms}
  - {at: 35s, ddl: add_column, server: pub, table: t}
  - {at: 36s, set: max_slot_wal_keep_size, server: pub, to: 1GB}
  - {at: ready, cut_over: pub}
)");
  REQUIRE(scenario.events.size() == 8); // DDL is a load
  CHECK(scenario.events[0].when_ready);
  CHECK(describe(scenario.events[1]) == "partition of db and far");
  CHECK(scenario.events[2].kind == Event::Kind::SubscriberDown);
  CHECK(scenario.events[2].end_s() == 80);
  CHECK(scenario.events[3].process == Event::Process::ApplyWorker);
  CHECK(scenario.events[4].factor == 7);
  CHECK(scenario.events[5].cores == 1.5);
  CHECK(scenario.events[6].latency_s == 0.005);
  CHECK(scenario.events[7].value.number == 1024.0 * 1024 * 1024);
  REQUIRE(scenario.ddl.size() == 1);
  CHECK(scenario.ddl.front().at_s == 35);
}

TEST_CASE("mistakes in events get a sentence") {
  CHECK(errors_with("{at: 5s}").front().find("events[0]: nothing happens in it; one of subscriber_down, ") !=
        std::string::npos);
  CHECK(errors_with("{at: 5s, for: 1s, subscriber_down: sub, slow_disk: pub}")
            .front()
            .find("subscriber_down and slow_disk stand in one event") != std::string::npos);
  const auto one = [](const std::string& event, const std::string& sentence) {
    const Lines found = errors_with(event);
    INFO(event << ": " << (found.empty() ? "no mistake" : found.front()));
    REQUIRE(found.size() == 1);
    CHECK(found.front().find(sentence) != std::string::npos);
  };
  one("{at: 5s, for: 1s, subscriber_down: pub}", "server pub has no subscription");
  one("{at: 5s, subscriber_down: sub}", "it never ends");
  one("{at: 5s, for: 1s, partition: [db]}", "two hosts are wanted");
  one("{at: 5s, crash: walsender}", "`crash` needs `subscription`");
  one("{at: 5s, crash: table_sync_worker, subscription: s}", "subscription s has no `initial_sync`");
  one("{at: 5s, for: 1s, crash: walsender, subscription: s}", "`crash` is over at once");
  one("{at: 5s, credits_used_up: db}", "db has no CPU credits");
  one("{at: 5s, for: 1s, link: [db, far]}", "`link` needs `bandwidth`, `latency` or both");
  one("{at: 5s, set: max_slot_keep_size, server: pub, to: 1GB}", "(did you mean 'max_slot_wal_keep_size'?)");
  one("{at: 5s, set: max_wal_size, server: pub, to: 1Gb}", "events[0].to: ");
  one("{at: ready, for: 1s, slow_disk: pub}", "`ready` is for `cut_over`");
  one("{at: 5s, for: 1s, slow_disk: pub, faktor: 3}", "did you mean 'factor'?");
}

TEST_CASE("an initial synchronisation is a date or a map") {
  const auto plan = [](const std::string& text) {
    return load_text(replaced(sound, "publication: p}", "publication: p, initial_sync: " + text + "}"))
        .subscriptions.at("s")
        .initial_sync;
  };
  CHECK_FALSE(load_text(sound).subscriptions.at("s").initial_sync.has_value());
  CHECK(plan("10s").value().created_s == 10);
  CHECK(plan("10s").value().copies);
  CHECK(plan("{copy_data: off}").value().created_s == 0);
  CHECK_FALSE(plan("{copy_data: off}").value().copies);
  CHECK(plan("{copy_rate: 1MB/s}").value().rate_bytes_per_s == 1024.0 * 1024);
}

TEST_CASE("trap 19: upgrading to 18 does not turn parallel on for subscriptions that exist") {
  const std::string version_18 =
      replaced(replaced(sound, "version: 17", "version: 18"), "version: 17", "version: 18");
  const auto streaming = [](const std::string& text) {
    return load_text(text).subscriptions.at("s").streaming;
  };
  CHECK(streaming(sound) == Streaming::Off);
  CHECK(streaming(version_18) == Streaming::Parallel);
  const auto created_on = [&](const std::string& version) {
    return streaming(replaced(version_18, "publication: p}", "publication: p, created_on: " + version + "}"));
  };
  CHECK(created_on("17") == Streaming::Off);
  CHECK(created_on("18") == Streaming::Parallel);
  CHECK(streaming(replaced(version_18, "publication: p}",
                           "publication: p, created_on: 17, streaming: parallel}")) == Streaming::Parallel);
}
