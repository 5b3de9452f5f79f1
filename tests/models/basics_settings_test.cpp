// The settings table and PostgreSQL's syntax of values.
#include "models/base/errors.hpp"
#include "models/settings.hpp"

#include <catch2/catch.hpp>

#include <algorithm>
#include <set>

using namespace replisim;

namespace {

GucValue parsed(std::string_view name, std::string_view text) {
  const GucDescriptor* guc = find_guc(name);
  REQUIRE(guc != nullptr);
  std::string problem;
  const auto value = parse_guc(*guc, text, problem);
  INFO(name << " = " << text << ": " << problem);
  REQUIRE(value.has_value());
  return *value;
}

double number(std::string_view name, std::string_view text) { return parsed(name, text).number; }

std::string problem_of(std::string_view name, std::string_view text) {
  const GucDescriptor* guc = find_guc(name);
  REQUIRE(guc != nullptr);
  std::string problem;
  INFO(name << " = " << text);
  REQUIRE_FALSE(parse_guc(*guc, text, problem).has_value());
  return problem;
}

} // namespace

TEST_CASE("every row of the settings table is sound") {
  const auto& table = guc_table();
  CHECK(table.size() >= 60);
  CHECK(std::is_sorted(table.begin(), table.end(),
                       [](const auto& a, const auto& b) { return a.name < b.name; }));
  std::set<std::string_view> names;
  for (const GucDescriptor& guc : table) {
    INFO(guc.name);
    CHECK(names.insert(guc.name).second);
    CHECK(find_guc(guc.name) == &guc);
    CHECK(guc.sentence.ends_with('.'));
    CHECK(guc.since_major <= guc.until_major);
    CHECK(guc.minimum <= guc.maximum);
    CHECK((guc.type == GucType::Enum) == not guc.allowed.empty());
    if (guc.type == GucType::Size or guc.type == GucType::Duration)
      CHECK_FALSE(guc.unit.empty());
    std::string problem;
    CHECK(parse_guc(guc, guc.default_value, problem).has_value());
    CHECK(problem.empty());
  }
}

TEST_CASE("the settings that have an effect on a run") {
  std::set<std::string_view> modelled;
  for (const GucDescriptor& guc : guc_table())
    if (guc.modelled)
      modelled.insert(guc.name);
  CHECK(modelled == std::set<std::string_view>{"checkpoint_completion_target",
                                               "checkpoint_timeout",
                                               "deadlock_timeout",
                                               "fsync",
                                               "full_page_writes",
                                               "idle_replication_slot_timeout",
                                               "lock_timeout",
                                               "logical_decoding_work_mem",
                                               "max_connections",
                                               "max_logical_replication_workers",
                                               "max_parallel_apply_workers_per_subscription",
                                               "max_slot_wal_keep_size",
                                               "max_wal_size",
                                               "max_worker_processes",
                                               "synchronous_commit",
                                               "synchronous_standby_names",
                                               "wal_buffers",
                                               "wal_keep_size",
                                               "wal_receiver_status_interval",
                                               "wal_receiver_timeout",
                                               "wal_retrieve_retry_interval",
                                               "wal_sender_timeout",
                                               "wal_writer_delay"});
}

TEST_CASE("settings come and go with versions") {
  const auto range = [](std::string_view name) {
    const GucDescriptor* guc = find_guc(name);
    REQUIRE(guc != nullptr);
    return std::pair(guc->since_major, guc->until_major);
  };
  CHECK(range("wal_keep_size") == std::pair(13, 99));
  CHECK(range("wal_keep_segments") == std::pair(0, 12));
  CHECK(range("logical_decoding_work_mem") == std::pair(13, 99));
  CHECK(range("logical_replication_mode") == std::pair(16, 16));
  CHECK(range("debug_logical_replication_streaming") == std::pair(17, 99));
  CHECK(range("max_active_replication_origins") == std::pair(18, 99));
  CHECK(range("idle_replication_slot_timeout") == std::pair(18, 99));
  CHECK(range("max_wal_senders") == std::pair(0, 99));
  CHECK(find_guc("streaming") == nullptr); // an option of a subscription, not a setting
  CHECK(find_guc("") == nullptr);
  CHECK(find_guc("zzz") == nullptr);
}

TEST_CASE("sizes in the setting's base unit") {
  CHECK(number("logical_decoding_work_mem", "64kB") == 65536);
  CHECK(number("logical_decoding_work_mem", "64") == 65536);
  CHECK(number("logical_decoding_work_mem", "65536B") == 65536);
  CHECK(number("logical_decoding_work_mem", "64.4kB") == 65536); // rounded to whole kB
  CHECK(number("logical_decoding_work_mem", " 1.5GB ") == 1610612736);
  CHECK(number("logical_decoding_work_mem", "2147483647kB") == 2147483647.0 * 1024);
  CHECK(problem_of("logical_decoding_work_mem", "32kB") == "found 32kB; allowed 64kB to 2147483647kB");
  CHECK(problem_of("logical_decoding_work_mem", "32") == "found 32 (32kB); allowed 64kB to 2147483647kB");
  CHECK(problem_of("logical_decoding_work_mem", "2147483648kB") ==
        "found 2147483648kB; allowed 64kB to 2147483647kB");
  CHECK(problem_of("logical_decoding_work_mem", "-1") == "found -1 (-1kB); allowed 64kB to 2147483647kB");
  CHECK(problem_of("logical_decoding_work_mem", "64mb") ==
        "unit 'mb' is not a size; did you mean 'MB'? (allowed 64kB to 2147483647kB)");
  CHECK(number("wal_writer_flush_after", "128") == 1048576); // blocks of 8kB
  CHECK(problem_of("shared_buffers", "10") == "found 10 (80kB); allowed 128kB to 8589934584kB");
}

TEST_CASE("minus one is a word, not a size") {
  CHECK(number("wal_buffers", "-1") == -1);
  CHECK(number("wal_buffers", "16MB") == 16777216);
  CHECK(number("wal_buffers", "0") == 0);
  CHECK(problem_of("wal_buffers", "-2") == "found -2 (-16kB); allowed -1 or 0kB to 2097144kB");
  CHECK(number("max_slot_wal_keep_size", "-1") == -1);
  CHECK(number("log_min_duration_statement", "-1") == -1);
  CHECK(number("log_min_duration_statement", "-1ms") == -1);
  CHECK(problem_of("log_min_duration_statement", "-1s") == "found -1s; allowed -1 or 0ms to 2147483647ms");
  CHECK(number("autovacuum_vacuum_cost_limit", "-1") == -1);
  CHECK(problem_of("wal_writer_delay", "-1") == "found -1 (-1ms); allowed 1ms to 10000ms");
}

TEST_CASE("durations in the setting's base unit") {
  CHECK(number("wal_writer_delay", "200ms") == 0.2);
  CHECK(number("wal_writer_delay", "200") == 0.2);
  CHECK(number("wal_writer_delay", "10s") == 10);
  CHECK(problem_of("wal_writer_delay", "20s") == "found 20s; allowed 1ms to 10000ms");
  CHECK(problem_of("wal_writer_delay", "100us") == "found 100us; allowed 1ms to 10000ms"); // rounds to 0
  CHECK(number("checkpoint_timeout", "5min") == 300);
  CHECK(number("checkpoint_timeout", "300") == 300);
  CHECK(number("autovacuum_vacuum_cost_delay", "0.5ms") == 0.0005); // a real one keeps its fraction
  CHECK(problem_of("wal_writer_delay", "200000000ns") ==
        "unit 'ns' is not a PostgreSQL duration but a duration; "
        "use us, ms, s, min, h or d (allowed 1ms to 10000ms)");
}

TEST_CASE("plain numbers") {
  CHECK(number("max_worker_processes", "8") == 8);
  CHECK(problem_of("max_worker_processes", "8kB") ==
        "found '8kB'; allowed is a whole number from 0 to 262143");
  CHECK(problem_of("max_worker_processes", "many") ==
        "found 'many'; allowed is a whole number from 0 to 262143");
  CHECK(problem_of("max_worker_processes", "262144") == "found 262144; allowed 0 to 262143");
  CHECK(problem_of("checkpoint_completion_target", "1.5") == "found 1.5; allowed 0 to 1");
  CHECK(number("checkpoint_completion_target", "0.5") == 0.5);
  CHECK(problem_of("random_page_cost", "-4") == "found -4; allowed 0 or more");
  CHECK(number("wal_segment_size", "64MB") == 67108864);
  CHECK(problem_of("wal_segment_size", "20MB") ==
        "found 20MB; allowed 1048576B to 1073741824B, powers of two only");
}

TEST_CASE("Booleans in all their spellings") {
  for (const char* text : {"on", "ON", "true", "t", "yes", "y", "1", " on "})
    CHECK(number("fsync", text) == 1);
  for (const char* text : {"off", "of", "False", "f", "no", "n", "0"})
    CHECK(number("fsync", text) == 0);
  for (const char* text : {"o", "", "maybe", "2", "onn", "on off"})
    CHECK(problem_of("fsync", text) ==
          std::string("found '") + text + "'; allowed on, off, true, false, yes, no, 1 or 0");
}

TEST_CASE("words from a list") {
  CHECK(parsed("synchronous_commit", "remote_apply").text == "remote_apply");
  CHECK(parsed("synchronous_commit", "OFF").text == "off");
  CHECK(parsed("synchronous_commit", "true").text == "on");
  CHECK(parsed("synchronous_commit", "0").text == "off");
  CHECK(problem_of("synchronous_commit", "remote_aply") ==
        "found 'remote_aply'; allowed on, off, local, remote_write or remote_apply; did you mean "
        "'remote_apply'?");
  CHECK(problem_of("wal_level", "on") == "found 'on'; allowed minimal, replica or logical");
}

TEST_CASE("the settings of a server: what is set over the defaults") {
  Settings settings;
  CHECK(settings.bytes("logical_decoding_work_mem") == 67108864);
  CHECK(settings.number("wal_receiver_status_interval") == 10);
  CHECK(settings.number("max_parallel_apply_workers_per_subscription") == 2);
  CHECK(settings.number("max_logical_replication_workers") == 4);
  CHECK(settings.number("max_worker_processes") == 8);
  CHECK(settings.bytes("wal_writer_flush_after") == 1048576);
  CHECK(settings.number("wal_buffers") == -1);
  CHECK(settings.flag("full_page_writes"));
  CHECK(settings.text("synchronous_commit") == "on");
  CHECK(settings.text("synchronous_standby_names").empty());
  CHECK(settings.explicitly_set().empty());

  settings.set("logical_decoding_work_mem", parsed("logical_decoding_work_mem", "64kB"));
  settings.set("synchronous_commit", parsed("synchronous_commit", "off"));
  settings.set("fsync", parsed("fsync", "off"));
  CHECK(settings.bytes("logical_decoding_work_mem") == 65536);
  CHECK(settings.text("synchronous_commit") == "off");
  CHECK_FALSE(settings.flag("fsync"));
  CHECK(settings.explicitly_set().size() == 3);

  settings.set("logical_decoding_work_mem", parsed("logical_decoding_work_mem", "1MB"));
  CHECK(settings.bytes("logical_decoding_work_mem") == 1048576);
  CHECK(settings.explicitly_set().size() == 3);

  CHECK_THROWS_AS(settings.set("work_memory", {}), InvariantViolation);
  CHECK_THROWS_AS(settings.number("no_such_setting"), InvariantViolation);
  CHECK_THROWS_AS(settings.number("synchronous_commit"), InvariantViolation);
  CHECK_THROWS_AS(settings.text("fsync"), InvariantViolation);
}
