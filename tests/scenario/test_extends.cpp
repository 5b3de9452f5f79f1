// `extends`: laying files over each other, and what can go wrong.
#include "tests/scenario/scenario_files.hpp"

#include <catch2/catch.hpp>

using namespace replisim;
using namespace replisim::test;

TEST_CASE("maps merge, scalars and lists replace, the extending file wins") {
  const Folder folder;
  folder.write("bases/base.yaml", sound);
  const auto file =
      folder.write("published/child.yaml", "replisim: 1\n"
                                           "name: the child\n"
                                           "extends: ../bases/base.yaml\n"
                                           "servers: {pub: {settings: {logical_decoding_work_mem: 1MB}}}\n"
                                           "tables: {t: {rows: 7}}\n"
                                           "workload: {w: {transaction: [{delete: t, rows: 7}]}}\n");
  const Scenario s = load_scenario(file, {}, shipped_library());
  CHECK(s.name == "the child");
  CHECK(s.servers.at("pub").host == "db");
  CHECK(s.servers.at("pub").settings.bytes("logical_decoding_work_mem") == 1024 * 1024);
  CHECK(s.tables.at("t").initial_rows == 7);
  CHECK(s.tables.at("t").columns.size() == 2);
  REQUIRE(s.batches.at(0).transaction.size() == 1);
  CHECK(std::get<StatementStep>(s.batches[0].transaction[0]).operation == Operation::Delete);
}

TEST_CASE("a shorthand in the base meets a map in the child, and the other way round") {
  const Folder folder;
  folder.write("base.yaml", sound);
  const std::string head = "replisim: 1\nextends: base.yaml\n";
  const auto grown = folder.write("grown.yaml", head + "hosts: {db: {cores_per_socket: 4}}\n");
  CHECK(load_scenario(grown, {}, shipped_library()).hosts.at("db").cpus() == 4);
  // Another machine in shorthand replaces the whole host: nothing of the first machine stays behind.
  const auto other = folder.write("other.yaml", "replisim: 1\nextends: grown.yaml\nhosts: {db: lab-2core}\n");
  CHECK(load_scenario(other, {}, shipped_library()).hosts.at("db").cpus() == 2);
}

TEST_CASE("a mistake is reported where it was written") {
  const Folder folder;
  folder.write("base.yaml", replaced(sound, "version: 17}", "version: 7}"));
  const auto file = folder.write("child.yaml", "replisim: 1\nextends: base.yaml\nobserve: {intervall: 1s}\n");
  const Lines found = errors_in(file);
  REQUIRE(found.size() == 2);
  CHECK(found[0] == "3:11 observe.intervall: unknown key 'intervall' (did you mean 'interval'?)");
  CHECK(found[1].find("base.yaml:6:28 servers.pub.version: ") == 0);
}

TEST_CASE("files that extend each other are an error") {
  const Folder folder;
  const auto a = folder.write("a.yaml", "replisim: 1\nextends: b.yaml\n");
  folder.write("b.yaml", "replisim: 1\nextends: ./a.yaml\n");
  const Lines found = errors_in(a);
  REQUIRE(found.size() == 1);
  CHECK(found[0].find("b.yaml:2:10 extends: ") == 0);
  CHECK(found[0].find("already stands in this chain of `extends`") != std::string::npos);
  const auto self = folder.write("self.yaml", "replisim: 1\nextends: self.yaml\n");
  CHECK(errors_in(self).size() == 1);
}

TEST_CASE("a base that is missing or no scenario is named") {
  const Folder folder;
  const auto missing = folder.write("m.yaml", "replisim: 1\nextends: none.yaml\n");
  CHECK(errors_in(missing) ==
        Lines{"2:10 extends: there is no file " + (folder.root() / "none.yaml").string()});
  folder.write("empty.yaml", "");
  CHECK(errors_in(folder.write("e.yaml", "replisim: 1\nextends: empty.yaml\n")).size() == 1);
  CHECK(errors_in(folder.write("l.yaml", "replisim: 1\nextends: [x]\n")) ==
        Lines{"2:10 extends: a list stands where the path of a scenario file is wanted"});
}

TEST_CASE("a guess ends where the extending file or an override states the value") {
  const Folder folder;
  folder.write(
      "base.yaml",
      sound + "guessed:\n  servers.pub.version: the mail is silent\n  hosts.db.machine: the mail is silent\n"
              "  servers.sub.settings: the mail is silent\n");
  const auto file =
      folder.write("child.yaml", "replisim: 1\nextends: base.yaml\nservers: {pub: {version: 16}}\n");
  const auto paths = [&](const std::vector<Override>& overrides) {
    Lines out;
    for (const Guess& guess : load_scenario(file, overrides, shipped_library()).guesses)
      if (guess.reason == "the mail is silent")
        out.push_back(guess.path + "=" + guess.value);
    return out;
  };
  CHECK(paths({}) == Lines{"hosts.db.machine=lab-2core", "servers.sub.settings=default"});
  CHECK(paths({{"hosts.db", "seed1-host"}}) == Lines{"servers.sub.settings=default"});
}

TEST_CASE("a guess may name a default, through what the file leaves out") {
  const Scenario scenario =
      load_text(sound + "guessed: {servers.pub.settings.shared_buffers: why, observe.interval: why}\n");
  const Guess observe{"observe.interval", "50ms", "why"};
  const Guess setting{"servers.pub.settings.shared_buffers", "128MB", "why"};
  CHECK(std::count(scenario.guesses.begin(), scenario.guesses.end(), observe) == 1);
  CHECK(std::count(scenario.guesses.begin(), scenario.guesses.end(), setting) == 1);
  CHECK(errors_of(sound + "guessed: {\"links[0].window\": why}\n") ==
        Lines{"12:11 guessed.links[0].window: there is no field links[0].window"});
}

TEST_CASE("a guess about a field that does not exist is an error") {
  CHECK(errors_of(sound + "guessed: {servers.pub.versoin: why, hosts.dc: why, servers.xx.version: why}\n") ==
        Lines{"12:11 guessed.servers.pub.versoin: there is no field servers.pub.versoin",
              "12:37 guessed.hosts.dc: there is no field hosts.dc",
              "12:52 guessed.servers.xx.version: there is no field servers.xx.version"});
}
