// A server's own postgresql.conf as its settings: PostgreSQL's rules of reading, whose word counts, where
// mistakes are found.
#include "sim/scenario/include_conf.hpp"
#include "tests/scenario/scenario_files.hpp"

#include <catch2/catch.hpp>
#include <fmt/format.h>
#include <fmt/ranges.h>

using namespace replisim;
using namespace replisim::test;
using Catch::Contains;

namespace {

/// The sound scenario with a configuration file for its publisher.
const std::string with_conf = replaced(sound, "pub: {host: db, version: 17}",
                                       "pub: {host: db, version: 17, include_conf: pg/postgresql.conf}");

Scenario load_with(const Folder& folder, const std::string& conf, const std::string& scenario = with_conf) {
  folder.write("pg/postgresql.conf", conf);
  return load_scenario(folder.write("s.yaml", scenario), {}, shipped_library());
}

Lines errors_with(const std::string& conf) {
  const Folder folder;
  folder.write("pg/postgresql.conf", conf);
  return errors_in(folder.write("s.yaml", with_conf));
}

} // namespace

TEST_CASE("a configuration file is read as PostgreSQL reads it") {
  const Folder folder;
  const Settings settings = load_with(folder, "# a comment\n"
                                              "logical_decoding_work_mem = 128MB  # and another\n"
                                              "WAL_SENDER_TIMEOUT '5 min'\n"
                                              "  max_slot_wal_keep_size=-1\n"
                                              "checkpoint_completion_target = .5\n"
                                              "archive_command = 'cp ''%p'' /wal'\r\n"
                                              "wal_level = 'logical'\n"
                                              "\n"
                                              "max_wal_size = 4096\n"
                                              "max_wal_size = '2GB'\n"
                                              "pg_stat_statements.max = 10000\n"
                                              "log_line_prefix = '%m [%p] # no comment '\n")
                                .servers.at("pub")
                                .settings;
  CHECK(settings.bytes("logical_decoding_work_mem") == 128 * 1024 * 1024);
  CHECK(settings.number("wal_sender_timeout") == 300);
  CHECK(settings.number("max_slot_wal_keep_size") == -1);
  CHECK(settings.number("checkpoint_completion_target") == 0.5);
  CHECK(settings.text("archive_command") == "cp '%p' /wal");
  CHECK(settings.bytes("max_wal_size") == 2LL * 1024 * 1024 * 1024); // the last line counts
}

TEST_CASE("the scenario's own settings win over the configuration file, overrides over both") {
  const Folder folder;
  const std::string text = replaced(with_conf, "version: 17, include_conf",
                                    "version: 17, settings: {logical_decoding_work_mem: 1MB}, include_conf");
  const Scenario own = load_with(folder, "logical_decoding_work_mem = 8MB\nmax_wal_size = 3GB\n", text);
  CHECK(own.servers.at("pub").settings.bytes("logical_decoding_work_mem") == 1024 * 1024);
  CHECK(own.servers.at("pub").settings.bytes("max_wal_size") == 3LL * 1024 * 1024 * 1024);
  const Scenario overridden = load_scenario(
      folder.root() / "s.yaml", {{"servers.pub.settings.max_wal_size", "5GB"}}, shipped_library());
  CHECK(overridden.servers.at("pub").settings.bytes("max_wal_size") == 5LL * 1024 * 1024 * 1024);
}

TEST_CASE("included files are found relative to the file that includes them") {
  const Folder folder;
  folder.write("pg/extra/b.conf", "max_wal_size = 5GB\ninclude = '../more.conf'\n");
  folder.write("pg/extra/a.conf", "max_wal_size = 4GB\nwal_sender_timeout = 1min\n");
  folder.write("pg/extra/.hidden.conf", "max_wal_size = 6GB\n");
  folder.write("pg/extra/c.txt", "max_wal_size = 7GB\n");
  folder.write("pg/more.conf", "wal_sender_timeout = 2min\n");
  folder.write("pg/postgresql.auto.conf", "logical_decoding_work_mem = '32MB'\n");
  const Settings settings = load_with(folder, "logical_decoding_work_mem = 64MB\n"
                                              "include_dir 'extra'\n"
                                              "include_if_exists 'nothing.conf'\n")
                                .servers.at("pub")
                                .settings;
  CHECK(settings.bytes("max_wal_size") == 5LL * 1024 * 1024 * 1024); // b.conf comes after a.conf
  CHECK(settings.number("wal_sender_timeout") == 120);
  CHECK(settings.bytes("logical_decoding_work_mem") == 32 * 1024 * 1024); // ALTER SYSTEM has the last word
}

TEST_CASE("mistakes of a configuration file are found at its own lines") {
  CHECK(errors_with("\nlogical_decoding_work_mem = 12Mb\n") ==
        Lines{"postgresql.conf:2:29 servers.pub.settings.logical_decoding_work_mem: " +
              errors_of(replaced(sound, "pub: {host: db, version: 17}",
                                 "pub: {host: db, version: 17, settings: {logical_decoding_work_mem: 12Mb}}"))
                  .at(0)
                  .substr(std::string("5:71 servers.pub.settings.logical_decoding_work_mem: ").size())});
  CHECK(errors_with("logical_decoding_workmem = 64MB\n") ==
        Lines{"postgresql.conf:1:1 logical_decoding_workmem: PostgreSQL has no setting "
              "'logical_decoding_workmem' "
              "(did you mean 'logical_decoding_work_mem'?)"});
  const auto one = [](const std::string& conf) {
    const Lines lines = errors_with(conf);
    return lines.size() == 1 ? lines[0] : fmt::format("{} mistakes", lines.size());
  };
  CHECK_THAT(one("max_wal_size = 1 GB\n"),
             Contains("postgresql.conf:1:16 max_wal_size") and Contains("single quotes"));
  CHECK_THAT(one("max_wal_size = 1.5GB\n"), Contains("single quotes"));
  CHECK_THAT(one("max_wal_size\n"), Contains("there is no value"));
  CHECK_THAT(one("max_wal_size = '1GB\n"), Contains("quote is not closed"));
  CHECK_THAT(one("= 5\n"), Contains("the name of a setting is wanted"));
  CHECK_THAT(one("include 'nothing.conf'\n"), Contains("1:9 include: there is no file"));
  CHECK_THAT(one("include_dir 'nothing'\n"), Contains("there is no folder"));
  CHECK_THAT(one("include 'postgresql.conf'\n"), Contains("never end"));
  CHECK_THAT(one("logical_replication_mode = immediate\n"),
             Contains("postgresql.conf:1:1") and Contains("up to"));
  const Folder folder;
  CHECK_THAT(errors_in(folder.write("s.yaml", with_conf)).at(0),
             Contains("6:46 servers.pub.include_conf: there is no file"));
}

TEST_CASE("files that include each other, each many times, end after the first chain") {
  const Folder folder;
  std::string circle, wide, narrow;
  for (int i = 0; i < 50; ++i) {
    circle += "include 'postgresql.conf'\n";
    wide += "include 'narrow.conf'\n";
    narrow += "include 'empty.conf'\n";
  }
  folder.write("pg/narrow.conf", narrow);
  folder.write("pg/empty.conf", "");
  const auto lines_with = [&](const std::string& conf) {
    folder.write("pg/postgresql.conf", conf);
    return errors_in(folder.write("s.yaml", with_conf));
  };
  REQUIRE(lines_with(circle).size() == 1);
  CHECK_THAT(lines_with(circle).at(0), Contains("is included more than 10 files deep"));
  REQUIRE(lines_with(wide).size() == 1);
  CHECK_THAT(lines_with(wide).at(0), Contains("more than 200 files are included"));
}

TEST_CASE("what bears on replication and is not modelled is said, the rest is not") {
  const Folder folder;
  const auto warnings = load_with(folder, "ssl = on\ndata_directory = '/data'\ntcp_keepalives_idle = 10\n"
                                          "some.extension = 5\nzebra_stripes = on\n")
                            .warnings;
  const auto all = fmt::format("{}", fmt::join(warnings, "\n"));
  CHECK_THAT(all, Contains("bear on replication and that the model does not know: ssl (postgresql.conf:1), "
                           "tcp_keepalives_idle (postgresql.conf:3)"));
  CHECK_THAT(all, Contains("zebra_stripes (postgresql.conf:5)"));
  CHECK_THAT(all, not Contains("data_directory") and not Contains("extension"));
}

TEST_CASE("equal settings give equal scenarios, whichever way they came") {
  const Folder folder;
  const Scenario by_file = load_with(folder, "max_wal_size = 3GB\n");
  const Scenario by_hand = load_text(replaced(sound, "pub: {host: db, version: 17}",
                                              "pub: {host: db, version: 17, settings: {max_wal_size: 3GB}}"));
  CHECK(by_file.hash == by_hand.hash);
}

TEST_CASE("settings of PostgreSQL are told from others") {
  for (const char* name : {"listen_addresses", "datestyle", "work_mem", "ssl", "autovacuum_naptime"})
    CHECK((is_other_postgres_setting(name) or find_guc(name) != nullptr));
  CHECK_FALSE(is_other_postgres_setting("listen_address"));
  for (const GucDescriptor& guc : guc_table())
    CHECK_FALSE(is_other_postgres_setting(std::string(guc.name)));
}
