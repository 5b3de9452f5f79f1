// Disks that fill, where a server puts its files, and the settings that bound them.
#include "tests/scenario/scenario_files.hpp"

#include <catch2/catch.hpp>

using namespace replisim;
using namespace replisim::test;

namespace {

const std::string speeds = ", fsync_latency: 1ms, write_bandwidth: 500MB/s, read_bandwidth: 500MB/s";

std::string with_disks(const std::string& first, const std::string& second) {
  return replaced(sound, "{db: lab-2core}",
                  "{db: {machine: lab-2core, disks: [{" + first + speeds + "}, {" + second + speeds + "}]}}");
}

std::string with_server(const std::string& text, const std::string& fields) {
  return replaced(text, "pub: {host: db, version: 17}", "pub: {host: db, version: 17, " + fields + "}");
}

constexpr Bytes gigabyte = 1024LL * 1024 * 1024;

} // namespace

TEST_CASE("a disk has a size where somebody says so") {
  CHECK(load_text(sound).hosts.at("db").disks.at(0).capacity_bytes == 0);
  const Machine machine =
      load_text(with_disks("capacity: 1800GB, used: 900GB", "name: wal, capacity: 90GB")).hosts.at("db");
  REQUIRE(machine.disks.size() == 2);
  CHECK(machine.disks[0].name == "data");
  CHECK(machine.disks[0].capacity_bytes == 1800 * gigabyte);
  CHECK(machine.disks[0].used_bytes == 900 * gigabyte);
  CHECK(machine.disks[1].name == "wal");
  CHECK(machine.disks[1].capacity_bytes == 90 * gigabyte);
  CHECK(machine.disks[1].used_bytes == 0);
}

TEST_CASE("disks that cannot be") {
  CHECK(errors_of(with_disks("capacity: 1GB, used: 2GB", "name: wal")) ==
        Lines{"4:64 hosts.db.disks[0].used: 2 GB are used of a disk of 1 GB"});
  CHECK(errors_of(with_disks("used: 2GB", "name: wal")) ==
        Lines{"4:49 hosts.db.disks[0].used: a disk that never fills has nothing used; give it a `capacity`"});
  CHECK(errors_of(with_disks("name: a", "name: a")) ==
        Lines{"4:131 hosts.db.disks[1].name: two disks are named 'a'"});
  CHECK(errors_of(with_disks("capacity: 5", "name: wal")) ==
        Lines{"4:53 hosts.db.disks[0].capacity: '5' has no unit; use B, kB, MB, GB or TB"});
}

TEST_CASE("a server's files lie on disks of its host") {
  const std::string two = with_disks("name: data", "name: wal");
  const Server plain = load_text(two).servers.at("pub");
  CHECK(plain.data_disk.empty());
  CHECK(plain.wal_disk.empty());
  CHECK(plain.initial_retained_wal_bytes == 0);
  const Server pub =
      load_text(with_server(two, "data_disk: data, wal_disk: wal, retained_wal: 165MB")).servers.at("pub");
  CHECK(pub.data_disk == "data");
  CHECK(pub.wal_disk == "wal");
  CHECK(pub.initial_retained_wal_bytes == 165LL * 1024 * 1024);
  CHECK(errors_of(with_server(two, "wal_disk: wals")) ==
        Lines{"6:42 servers.pub.wal_disk: host db has no disk 'wals' (did you mean 'wal'?)"});
  CHECK(errors_of(with_server(two, "data_disk: ssd")) ==
        Lines{"6:43 servers.pub.data_disk: host db has no disk 'ssd' (allowed: data, wal)"});
  // The disk of the lab's machine has a blank in its name.
  CHECK(load_text(with_server(sound, "wal_disk: virtual SSD")).servers.at("pub").wal_disk == "virtual SSD");
}

TEST_CASE("retained WAL belongs to a server with slots") {
  CHECK(load_text(with_server(sound, "retained_wal: 1GB")).warnings.empty());
  CHECK(load_text(replaced(sound, "sub: {host: db, version: 17}",
                           "sub: {host: db, version: 17, retained_wal: 1GB}"))
            .warnings == Lines{"servers.sub.retained_wal has no effect: no slot is on sub"});
}

TEST_CASE("the settings that bound retained WAL and checkpoints have an effect") {
  const std::string settings =
      "settings: {wal_sender_timeout: 30s, max_slot_wal_keep_size: 10GB, wal_keep_size: "
      "1GB, checkpoint_timeout: 1min, max_wal_size: 2GB, checkpoint_completion_target: "
      "0.7, wal_receiver_status_interval: 5s}";
  const Scenario scenario = load_text(with_server(sound, settings));
  CHECK(scenario.warnings.empty());
  CHECK(scenario.servers.at("pub").settings.number("wal_sender_timeout") == 30);
  CHECK(scenario.servers.at("pub").settings.bytes("max_slot_wal_keep_size") == 10 * gigabyte);
  CHECK(scenario.servers.at("pub").settings.number("checkpoint_completion_target") == 0.7);
  CHECK(scenario.servers.at("sub").settings.number("max_slot_wal_keep_size") == -1);
}

TEST_CASE("checkpoints were spread over half their interval before version 14") {
  const auto target = [](const std::string& version, const std::string& settings) {
    return load_text(replaced(sound, "pub: {host: db, version: 17}",
                              "pub: {host: db, version: " + version + settings + "}"))
        .servers.at("pub")
        .settings.number("checkpoint_completion_target");
  };
  CHECK(target("13", "") == 0.5);
  CHECK(target("14", "") == 0.9);
  CHECK(target("13", ", settings: {checkpoint_completion_target: 0.8}") == 0.8);
}
