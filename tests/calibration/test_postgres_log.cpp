// Server logs: prefixes seen in the wild, the three formats, what messages mean, and what cannot be read.
#include "calibration/readers/log_prefix.hpp"
#include "calibration/readers/reader.hpp"
#include "models/base/errors.hpp"

#include <catch2/catch.hpp>

#include <algorithm>

using namespace replisim::readers;

namespace {

ReadResult read_log(const std::string& text, const ReadOptions& options = {}) {
  ReadResult result;
  LineInput input = LineInput::over_text("f", text, result.problems);
  read_input(input, options, result.observation, result.problems);
  return result;
}

std::vector<const Event*> events(const ReadResult& result, const std::string& type) {
  std::vector<const Event*> found;
  for (const Event& event : result.observation.events())
    if (event.type == type)
      found.push_back(&event);
  return found;
}

const Event& only_event(const ReadResult& result, const std::string& type) {
  const auto found = events(result, type);
  REQUIRE(found.size() == 1);
  return *found.front();
}

const Series& only_series(const ReadResult& result, const std::string& metric) {
  const Series* found = nullptr;
  for (const auto& [key, series] : result.observation.all_series())
    if (key.first == metric) {
      REQUIRE(found == nullptr);
      found = &series;
    }
  REQUIRE(found != nullptr);
  return *found;
}

std::string problem(const ReadResult& result, const std::string& kind) {
  for (const ProblemGroup& group : result.problems.groups())
    if (group.kind == kind)
      return group.to_string();
  return "none of kind " + kind;
}

TimeUs time_us(const std::string& text) {
  TimeUs at_us = 0;
  LogClock clock;
  REQUIRE(clock.read(text, at_us) == text.size());
  return at_us;
}

/// The lines of a public report of a time-out: one slot, one walsender.
const std::string timeout_log =
    "2021-05-23 12:18:46.569 UTC [73] LOG:  starting logical decoding for slot \"slot_a\"\n"
    "2021-05-23 12:18:46.569 UTC [73] DETAIL:  Streaming transactions committing after 0/2C7228C8, reading "
    "WAL from "
    "0/2C7228C8.\n"
    "2021-05-23 12:18:46.569 UTC [73] LOG:  logical decoding found consistent point at 0/2C7228C8\n"
    "2021-05-23 12:18:46.569 UTC [73] DETAIL:  There are no running transactions.\n"
    "2021-05-23 12:19:46.569 UTC [73] LOG:  terminating walsender process due to replication timeout\n"
    "2021-05-23 12:19:46.569 UTC [73] CONTEXT:  slot \"slot_a\", output plugin \"pgoutput\", in the change "
    "callback, "
    "associated LSN 0/5BCA68D8\n";

} // namespace

TEST_CASE("times of logs are read with their zones") {
  CHECK(time_us("1970-01-01 00:00:00 UTC") == 0);
  CHECK(time_us("2021-05-23 12:18:46.569 UTC") == 1'621'772'326'569'000);
  CHECK(time_us("2021-10-21 16:14:22.069 +03") == time_us("2021-10-21 13:14:22.069 UTC"));
  CHECK(time_us("2016-09-08 09:44:11 MSK") == time_us("2016-09-08 06:44:11 UTC"));
  CHECK(time_us("2022-02-22 12:38:02 AEDT") == time_us("2022-02-22 01:38:02 UTC"));
  CHECK(time_us("2022-02-22 12:38:02 -05:30") == time_us("2022-02-22 18:08:02 UTC"));
  CHECK(time_us("2024-02-29 23:59:60 UTC") == time_us("2024-03-01 00:00:00 UTC")); // a leap second
  CHECK(format_time(1'621'772'326'569'000) == "2021-05-23 12:18:46.569 UTC");
  CHECK(format_time(-1'000'001) == "1969-12-31 23:59:58.999999 UTC");
  TimeUs at_us = 0;
  LogClock clock;
  CHECK(clock.read("2023-02-29 12:00:00 UTC", at_us) == 0);
  CHECK(clock.read("2023-02-28 25:00:00 UTC", at_us) == 0);
  CHECK(parse_zone("CST").knowledge == ZoneKnowledge::Ambiguous);
  CHECK(parse_zone("+05:45").offset_s == 20700);
}

TEST_CASE("prefixes that people use are inferred from their lines") {
  struct Sample {
    std::string line;
    std::string format;
    std::int64_t pid;
    std::string user;
    std::string application;
  };
  const std::vector<Sample> samples = {
      {"2021-05-23 12:18:46.569 UTC [73] LOG:  x", "%m [%p] ", 73, "", ""},
      {"< user=u db=db1 host=host pid=16893 time=2021-10-21 16:14:22.069 +03 app=Patroni > LOG:  x",
       "< user=%u db=%d host=%h pid=%p time=%m app=%a > ", 16893, "u", "Patroni"},
      {"2022-03-12 01:49:10.265 UTC [17804] (user=u) (db=db5) (rhost=host) (app=Patroni) [vxid:25/23577 "
       "txid:0] "
       "[SELECT] FATAL:  x",
       "%m [%p] (user=%u) (db=%d) (rhost=%h) (app=%a) [vxid:%v txid:%x] [%i] ", 17804, "u", "Patroni"},
      {"<2022-02-22 12:38:02 AEDT  >ERROR:  x", "<%t  >", 0, "", ""},
      {"2016-09-08 09:44:11 MSK [14934]: [3-1] db=db1,appname=a,user=u,client=host DEBUG:  x",
       "%t [%p]: [%l-1] db=%d,appname=%a,user=%u,client=%h ", 14934, "u", "a"},
      {"2021-09-02 02:28:19 UTC::@:[12358]:DEBUG:  x", "%t:%r:%u@%d:[%p]:", 12358, "", ""},
      {"2021-09-02 02:28:19 UTC:10.0.0.5(5432):u@db:[12358]:LOG:  x", "%t:%r:%u@%d:[%p]:", 12358, "u", ""},
      {"1622222222.123 [55] u@d LOG:  x", "%n [%p] %u@%d ", 55, "u", ""},
  };
  for (const Sample& sample : samples) {
    INFO(sample.line);
    const PrefixGuess guess = guess_prefix({sample.line});
    CHECK(guess.format == sample.format);
    CHECK(guess.matched == 1);
    PrefixFields fields;
    LogClock clock;
    std::string_view text;
    CHECK(LogPrefix(guess.format).match(sample.line, clock, fields, text) != LogLabel::None);
    CHECK(text == "x");
    CHECK(fields.pid == sample.pid);
    CHECK(fields.user == sample.user);
    CHECK(fields.application == sample.application);
    CHECK(fields.at_us.has_value());
  }
}

TEST_CASE("processes without a session stop where the prefix says so") {
  const std::vector<std::string_view> lines = {
      "2026-11-30 09:30:52.042 UTC [3316] startup LOG:  database system was shut down",
      "2026-11-30 09:30:57.132 UTC [3362] logical replication apply worker LOG:  started",
      "2026-11-30 09:30:57.137 UTC [3363] walsender postgres@postgres s LOG:  command",
  };
  const PrefixGuess guess = guess_prefix(lines);
  CHECK(guess.format == "%m [%p] %b %q%u@%d %a ");
  CHECK(guess.matched == 3);
  const LogPrefix prefix(guess.format);
  PrefixFields fields;
  LogClock clock;
  std::string_view text;
  REQUIRE(prefix.match(lines[1], clock, fields, text) == LogLabel::Log);
  CHECK(fields.backend_type == "logical replication apply worker");
  REQUIRE(prefix.match(lines[2], clock, fields, text) == LogLabel::Log);
  CHECK(fields.backend_type == "walsender");
  CHECK(fields.application == "s");
  CHECK(prefix.match("\tcontinued", clock, fields, text) == LogLabel::None);
}

TEST_CASE("padded escapes and percent signs are part of a prefix") {
  PrefixFields fields;
  LogClock clock;
  std::string_view text;
  CHECK(LogPrefix("%m [%5p] 100%% ")
            .match("2021-05-23 12:18:46.569 UTC [   73] 100% LOG:  x", clock, fields, text) == LogLabel::Log);
  CHECK(fields.pid == 73);
  CHECK(LogPrefix("%-8p|").match("73      |LOG:  x", clock, fields, text) == LogLabel::Log);
  CHECK_THROWS_WITH(LogPrefix("%m %y "),
                    Catch::StartsWith("log_line_prefix '%m %y ': '%y' at character 4 is no "
                                      "escape; PostgreSQL knows %a %b"));
}

TEST_CASE("a posted time-out gives the rate at which it decoded") {
  const ReadResult result = read_log(timeout_log);
  CHECK(result.problems.empty());
  const Event& start = only_event(result, "decoding_start");
  CHECK(start.text("slot") == "slot_a");
  CHECK(start.text("restart_lsn") == "0/2C7228C8");
  CHECK(start.number("redecoded_bytes") == 0.0);
  CHECK(only_event(result, "consistent_point").number("waiting_transactions") == 0.0);
  const Event& timeout = only_event(result, "walsender_timeout");
  CHECK(timeout.text("lsn") == "0/5BCA68D8");
  CHECK(timeout.text("callback") == "change");
  CHECK(timeout.number("after_s") == 60.0);
  CHECK(timeout.place.first_line == 5);
  CHECK(timeout.place.last_line == 6);
  const Event& decoding = only_event(result, "decoding");
  REQUIRE(decoding.end_us.has_value());
  CHECK(*decoding.end_us - decoding.begin_us == 60'000'000);
  // 0x5BCA68D8 - 0x2C7228C8 bytes in 60 s: 12.6 MiB/s
  CHECK(decoding.number("decoded_bytes") == 794'312'720.0);
  CHECK(*decoding.number("decode_bytes_per_s") == Approx(12.625 * 1048576).epsilon(1e-4));
  CHECK(result.observation.sources[0].node == "pub");
}

TEST_CASE("posted restarts give the bytes decoded again and that nothing moved on") {
  std::string text;
  const auto start = [&](const std::string& time, const std::string& pid, const std::string& read_from) {
    text += time + " UTC [" + pid + "] LOG:  starting logical decoding for slot \"m\"\n" + time + " UTC [" +
            pid + "] DETAIL:  Streaming transactions committing after 4/7124A9E0, reading WAL from " +
            read_from + ".\n";
  };
  start("2021-05-24 11:05:34.108", "81", "4/66D1A2D0");
  text += "2021-05-24 11:06:34.108 UTC [81] LOG:  terminating walsender process due to replication timeout\n";
  start("2021-05-24 11:06:37.115", "83", "4/70DE1CF8");
  const ReadResult result = read_log(text);
  const auto starts = events(result, "decoding_start");
  REQUIRE(starts.size() == 2);
  CHECK(starts[0]->number("redecoded_bytes") == 173'213'456.0); // 165.2 MiB
  CHECK(starts[1]->number("redecoded_bytes") == 4'623'592.0);   // 4.4 MiB
  CHECK(starts[0]->number("starts_without_progress") == 0.0);
  CHECK(starts[1]->number("starts_without_progress") == 1.0);
  CHECK(only_series(result, "redecoded_bytes").sum() == 177'837'048.0);
  // Without a position there is a span and no rate.
  CHECK(only_event(result, "walsender_timeout").number("after_s") == 60.0);
  CHECK_FALSE(only_event(result, "decoding").number("decode_bytes_per_s").has_value());
}

TEST_CASE("parts of messages are joined by process id") {
  const ReadResult result =
      read_log("2026-01-01 00:00:01.000 UTC [1] LOG:  process 1 still waiting for ShareLock on transaction "
               "731 after 1000.250 "
               "ms\n"
               "2026-01-01 00:00:01.100 UTC [2] LOG:  starting logical decoding for slot \"s\"\n"
               "2026-01-01 00:00:01.000 UTC [1] DETAIL:  Process holding the lock: 9. Wait queue: 1.\n"
               "2026-01-01 00:00:01.100 UTC [2] DETAIL:  Streaming transactions committing after 0/200, "
               "reading WAL from "
               "0/100.\n"
               "2026-01-01 00:00:01.000 UTC [1] STATEMENT:  update t\n"
               "\tset a = 1\n"
               "2026-01-01 00:00:03.500 UTC [1] LOG:  process 1 acquired ShareLock on transaction 731 after "
               "3500.500 ms\n");
  const Event& wait = only_event(result, "lock_wait");
  CHECK(wait.text("mode") == "ShareLock");
  CHECK(wait.text("object") == "transaction 731");
  CHECK(wait.text("holders") == "9");
  CHECK(wait.text("end") == "acquired");
  CHECK(wait.begin_us == time_us("2026-01-01 00:00:00.000 UTC") - 500);
  CHECK(wait.end_us == time_us("2026-01-01 00:00:03.500 UTC"));
  CHECK(wait.place.first_line == 1);
  const Series& blocked = only_series(result, "blocked_s");
  CHECK(blocked.sum() == Approx(3.5005));
  CHECK(blocked.labels().at("object") == "transaction");
  CHECK(only_event(result, "decoding_start").number("redecoded_bytes") == 256.0);
}

TEST_CASE("waits that the log does not end and deadlocks are events of their own") {
  const ReadResult result = read_log(
      "2026-01-01 00:00:01.000 UTC [1] LOG:  process 1 still waiting for AccessShareLock on remote "
      "transaction 757 of subscription 16401 of database 5 after 1000.076 ms\n"
      "2026-01-01 00:00:02.000 UTC [2] ERROR:  deadlock detected\n"
      "2026-01-01 00:00:02.000 UTC [2] DETAIL:  Process 2 waits for ShareLock on transaction 7; blocked by "
      "process 3.\n"
      "\tProcess 3 waits for ShareLock on transaction 8; blocked by process 2.\n");
  CHECK(only_event(result, "lock_wait").text("end") == "not in this log");
  CHECK(only_event(result, "lock_wait").text("object") ==
        "remote transaction 757 of subscription 16401 of database 5");
  CHECK_THAT(only_event(result, "deadlock").text("detail"), Catch::EndsWith("blocked by process 2."));
  CHECK(events(result, "error").empty()); // it is known what it is
}

TEST_CASE("checkpoints tell their parts and their distance") {
  const ReadResult result =
      read_log("2026-11-30 09:30:55.421 UTC [3314] LOG:  checkpoint starting: immediate force wait\n"
               "2026-11-30 09:30:55.498 UTC [3314] LOG:  checkpoint complete: wrote 6593 buffers (2.5%), "
               "wrote 3 SLRU buffers; "
               "0 WAL file(s) added, 0 removed, 5 recycled; write=0.063 s, sync=0.010 s, total=0.078 s; sync "
               "files=50, "
               "longest=0.001 s, average=0.001 s; distance=87836 kB, estimate=87836 kB; lsn=0/6D122F8, redo "
               "lsn=0/6D122A0\n");
  const Event& checkpoint = only_event(result, "checkpoint");
  CHECK(checkpoint.text("reason") == "immediate force wait");
  CHECK(checkpoint.number("buffers") == 6593.0);
  CHECK(checkpoint.number("distance_bytes") == 87836.0 * 1024);
  CHECK(checkpoint.number("sync_files") == 50.0);
  CHECK(checkpoint.text("redo_lsn") == "0/6D122A0");
  CHECK(*checkpoint.end_us - checkpoint.begin_us == 78'000);
  CHECK(only_series(result, "checkpoint_sync_s").last().value == 0.010);
}

TEST_CASE("messages of apply workers tell subscription and kind") {
  const ReadResult result = read_log(
      "2026-01-01 00:00:01 UTC [5] LOG:  logical replication apply worker for subscription \"s\" has "
      "started\n"
      "2026-01-01 00:00:02 UTC [6] LOG:  logical replication parallel apply worker for subscription \"s\" "
      "has "
      "finished\n"
      "2026-01-01 00:00:03 UTC [5] LOG:  logical replication apply worker will serialize the remaining "
      "changes of "
      "remote transaction 740 to a file\n"
      "2026-01-01 00:00:04 UTC [5] ERROR:  duplicate key value violates unique constraint \"t_pkey\"\n"
      "2026-01-01 00:00:04 UTC [5] DETAIL:  Key (a)=(1) already exists.\n"
      "2026-01-01 00:00:04 UTC [5] CONTEXT:  processing remote data for replication origin \"pg_16395\" "
      "during message "
      "type \"INSERT\" for replication target relation \"public.t\" in transaction 740, finished at "
      "0/01D30D48\n"
      "2026-01-01 00:00:05 UTC [1] LOG:  background worker \"logical replication apply worker\" (PID 5) "
      "exited with exit "
      "code 1\n"
      "2026-01-01 00:00:06 UTC [7] LOG:  subscription \"s\" has been disabled because of an error\n"
      "2026-01-01 00:00:07 UTC [8] ERROR:  terminating logical replication worker due to timeout\n");
  CHECK(only_event(result, "apply_start").text("worker") == "apply");
  CHECK(only_event(result, "apply_stop").text("worker") == "parallel");
  CHECK(only_event(result, "changes_to_file").number("remote_xid") == 740.0);
  const Event& error = only_event(result, "apply_error");
  CHECK(error.text("subscription") == "s");
  CHECK(error.text("relation") == "public.t");
  CHECK(error.text("message_type") == "INSERT");
  CHECK(error.text("finished_at_lsn") == "0/1D30D48");
  CHECK(only_event(result, "worker_exit").text("subscription") == "s");
  CHECK(only_event(result, "subscription_disabled").begin_us == time_us("2026-01-01 00:00:06 UTC"));
  CHECK(events(result, "apply_timeout").size() == 1);
  CHECK(result.observation.sources[0].node == "sub");
}

TEST_CASE("messages about slots that fall behind carry their bytes") {
  const ReadResult result = read_log(
      "2026-01-01 00:00:01 UTC [5] LOG:  invalidating obsolete replication slot \"a\"\n"
      "2026-01-01 00:00:01 UTC [5] DETAIL:  The slot's restart_lsn 0/B000 exceeds the limit by 4096 bytes.\n"
      "2026-01-01 00:00:02 UTC [5] LOG:  invalidating slot \"b\" because its restart_lsn 1/A0 exceeds "
      "max_slot_wal_keep_size\n"
      "2026-01-01 00:00:03 UTC [6] DEBUG:  failed to increase restart lsn: proposed 0/100, after 0/200, "
      "current candidate "
      "0/50, current after 0/60, flushed up to 5/10000100\n"
      "2026-01-01 00:00:04 UTC [7] ERROR:  requested WAL segment 0000000100000A0000000012 has already been "
      "removed\n"
      "2026-01-01 00:00:05 UTC [8] ERROR:  replication slot \"a\" is active for PID 77\n"
      "2026-01-01 00:00:06 UTC [9] ERROR:  replication slot \"none\" does not exist\n"
      "2026-01-01 00:00:07 UTC [6] DEBUG:  spill 4096 changes in XID 731 to disk\n"
      "2026-01-01 00:00:08 UTC [6] DEBUG:  UpdateDecodingStats: updating stats 0x55d0 1 3 12345 0 0 0 2 "
      "23456\n"
      "2026-01-01 00:00:09 UTC [6] DEBUG:  UpdateDecodingStats: updating stats 0x55d0 0 1 100 0 0 0 1 "
      "1000\n");
  const auto lost = events(result, "slot_invalidated");
  REQUIRE(lost.size() == 2);
  CHECK(lost[0]->number("exceeds_by_bytes") == 4096.0);
  CHECK(lost[1]->text("restart_lsn") == "1/A0");
  CHECK(only_event(result, "restart_lsn_stuck").number("retained_wal_bytes") ==
        5.0 * 4294967296 + 0x10000000);
  CHECK(only_event(result, "wal_removed").text("segment") == "0000000100000A0000000012");
  CHECK(only_event(result, "slot_busy").number("held_by_pid") == 77.0);
  CHECK_THAT(only_event(result, "error").text("message"), Catch::Contains("does not exist"));
  CHECK(only_event(result, "spill").number("changes") == 4096.0);
  CHECK(only_series(result, "spill_bytes").last().value == 12445.0);
  CHECK(only_series(result, "total_txns").last().value == 3.0);
}

TEST_CASE("START_REPLICATION names the mode in all its spellings") {
  const auto streaming = [](const std::string& options) {
    const ReadResult result = read_log("2026-01-01 00:00:01 UTC [5] LOG:  received replication command: "
                                       "START_REPLICATION SLOT \"s\" LOGICAL 0/0 " +
                                       options + "\n");
    return only_event(result, "start_replication").text("streaming");
  };
  CHECK(streaming("(proto_version '4', streaming 'parallel', origin 'any', publication_names '\"p\"')") ==
        "parallel");
  CHECK(streaming(R"(("proto_version" '2', "publication_names" '"p"', "streaming" 'on'))") == "on");
  CHECK(streaming("(proto_version '4', origin 'any', publication_names '\"streaming\"')") == "off");
}

TEST_CASE("durations, sessions and starts are read") {
  const ReadResult result =
      read_log("2026-01-01 00:00:00 UTC [1] LOG:  starting PostgreSQL 18.4 on x86_64\n"
               "2026-01-01 00:00:01 UTC [2] LOG:  duration: 6036.275 ms  statement: GRANT SELECT ON t TO r\n"
               "2026-01-01 00:00:02 UTC [2] LOG:  duration: 0.500 ms  execute s1: select 1\n"
               "2026-01-01 00:00:02 UTC [2] LOG:  duration: 9.000 ms  bind s1: select 1\n"
               "2026-01-01 00:00:03 UTC [2] LOG:  disconnection: session time: 0:21:19.803 user=u database=d "
               "host=[local]\n"
               "2026-01-01 00:00:04 UTC [1] LOG:  parameter \"wal_sender_timeout\" changed to \"30s\"\n"
               "2026-01-01 00:00:05 UTC [1] LOG:  received fast shutdown request\n"
               "2026-01-01 00:00:06 UTC [1] LOG:  received replication command: IDENTIFY_SYSTEM\n");
  CHECK(only_event(result, "server_start").text("server_version") == "18.4");
  CHECK(only_series(result, "statement_s").count() == 2); // bind is a part
  CHECK(only_series(result, "statement_s").sum() == Approx(6.036775));
  CHECK(only_event(result, "ddl").text("statement") == "GRANT SELECT ON t TO r");
  CHECK(only_series(result, "session_s").last().value == Approx(1279.803));
  CHECK(only_event(result, "parameter_changed").text("value") == "30s");
  CHECK(only_event(result, "server_stop").text("kind") == "fast");
}

TEST_CASE("csvlog is read with the columns of its version and over several lines") {
  const std::string begin =
      "2025-05-01 09:24:59.837 UTC,\"u\",\"db1\",61418,\"[local]\",6812cd65.efea,3,\"DO\","
      "2025-05-01 09:00:00 UTC,3/5,0,LOG,00000,";
  const ReadResult result = read_log(
      begin +
      "\"starting logical decoding for slot \"\"s\"\"\",\"Streaming transactions committing after "
      "0/300, reading WAL from 0/100.\",,,,,\"select\n1, 2\",,,\"app\",\"walsender\",,0\n" +
      begin +
      "\"duration: 5.0 ms  statement: select \"\"a\"\"\n,b\",,,,,,,,,\"app\",\"client backend\",,0\n");
  CHECK(result.problems.empty());
  CHECK(result.observation.sources[0].format == "csvlog, 26 columns");
  CHECK(only_event(result, "decoding_start").number("redecoded_bytes") == 512.0);
  CHECK(only_event(result, "decoding_start").place.last_line == 2);
  CHECK(only_series(result, "statement_s").last().line == 3);
}

TEST_CASE("csvlog of another version, with a lost quote or a foreign row is named") {
  const std::string begin =
      "2025-05-01 09:24:59.837 UTC,\"u\",\"db1\",61418,\"[local]\",6812cd65.efea,3,\"DO\","
      "2025-05-01 09:00:00 UTC,3/5,0,LOG,00000,";
  const std::string good = begin + "\"duration: 5.0 ms\",,,,,,,,,\"app\"\n"; // 23 columns, as up to 12
  CHECK(read_log(good).problems.empty());
  CHECK(problem(read_log(good + "2025-05-01 09:25:00 UTC,\"u\",1,2\n"), "column_count") ==
        "f:2: a csvlog record has 23 columns (up to PostgreSQL 12), 24 (13) or 26 (14 and later); found 4; "
        "left out");
  CHECK_THAT(problem(read_log(begin + "\"x\",,,,,,,,,\"app\",a,b,c,d,e\n"), "column_count"),
             Catch::StartsWith("f:1: 28 columns are of no PostgreSQL release known here"));
  const ReadResult lost = read_log(begin + "\"a quote that is never closed,,,,,,,,,app\n" + good + good);
  CHECK(problem(lost, "open_quote") ==
        "f:2: the record that begins in line 1 never ends: a quote is lost; left out");
  CHECK(only_series(lost, "statement_s").count() == 2);
}

TEST_CASE("jsonlog is read, broken lines are named") {
  const ReadResult result = read_log(
      R"({"timestamp":"2026-01-01 00:00:01.000 UTC","pid":5,"error_severity":"LOG","message":"starting logical )"
      R"(decoding for slot \"s\"","detail":"Streaming transactions committing after 0/300, reading WAL from 0/100.",)"
      R"("backend_type":"walsender","query_id":0})"
      "\n{\"timestamp\":\"2026-01-01 00:00:02.000 UTC\",\"pid\":5,\"error_sev\n"
      R"({"message":"no time"})"
      "\n");
  CHECK(result.observation.sources[0].format == "jsonlog");
  CHECK(only_event(result, "decoding_start").text("slot") == "s");
  CHECK(only_event(result, "decoding_start").number("pid") == 5.0);
  CHECK(problem(result, "broken_json") == "f:2: the line is no whole JSON object; it was left out");
  CHECK(problem(result, "no_log_entry") ==
        "f:3: the object has no timestamp or no error_severity; it was left out");
}

TEST_CASE("zones that are not certain are said, and can be given") {
  const auto first_us = [](const std::string& zone, const std::string& given) {
    ReadOptions options;
    options.time_zone = given;
    return read_log("2026-01-01 00:00:00 " + zone + " [1] LOG:  duration: 1.0 ms\n", options)
        .observation.sources[0]
        .first_us;
  };
  CHECK(first_us("CST", "") == time_us("2026-01-01 06:00:00 UTC"));
  CHECK(first_us("CST", "+08") == time_us("2025-12-31 16:00:00 UTC"));
  CHECK(first_us("CET", "+08") == time_us("2025-12-31 23:00:00 UTC")); // its own zone is certain
  CHECK_THAT(problem(read_log("2026-01-01 00:00:00 CST [1] LOG:  duration: 1.0 ms\n"), "ambiguous_zone"),
             Catch::Contains("the time zone 'CST' has several meanings; read as UTC-360 min"));
  CHECK_THAT(problem(read_log("2026-01-01 00:00:00 XYZ [1] LOG:  duration: 1.0 ms\n"), "unknown_zone"),
             Catch::Contains("the time zone 'XYZ' is not known; read as UTC"));
  CHECK_THROWS_AS(first_us("CST", "Mars"), replisim::UsageError);
}

TEST_CASE("logs that do not fit are named and no silent zero") {
  const std::string line = "2026-01-01 00:00:01.000 UTC [1] LOG:  duration: 1.0 ms\n";
  ReadOptions given;
  given.log_line_prefix = "%p|";
  CHECK_THAT(
      problem(read_log(line, given), "no_prefix"),
      Catch::StartsWith("f: no line begins as log_line_prefix '%p|' says; without --log-line-prefix it is"));
  CHECK_THAT(problem(read_log("LOG:  duration: 1.0 ms\n"), "no_time"),
             Catch::Contains("log_line_prefix has no time"));
  const ReadResult back = read_log(line + "2025-12-31 23:00:01.000 UTC [1] LOG:  duration: 1.0 ms\n" + line);
  CHECK_THAT(problem(back, "clock_back"),
             Catch::StartsWith("f:2: the time goes back by 3600.000 s, from 2026-01-01 00:00:01.000 UTC to "
                               "2025-12-31 23:00:01.000 UTC"));
  CHECK(back.problems.count_of("clock_back") == 1);
  // Small steps back are the race of processes.
  CHECK(read_log(line + "2026-01-01 00:00:00.900 UTC [2] LOG:  duration: 1.0 ms\n").problems.empty());
  const std::string server = "2026-01-01 00:00:01.000 UTC [1] LOG:  starting PostgreSQL ";
  CHECK_THAT(problem(read_log(server + "17.4 on x\n" + server + "18.1 on x\n"), "two_clusters"),
             Catch::StartsWith("f:2: PostgreSQL 18.1 starts in the log of a PostgreSQL 17.4"));
  const std::string listens =
      "2026-01-01 00:00:01.000 UTC [1] LOG:  listening on IPv4 address \"0.0.0.0\", port ";
  CHECK_THAT(problem(read_log(listens + "5432\n" + listens + "5433\n"), "two_clusters"),
             Catch::StartsWith("f:2: a server on port 5433 writes into the log of one on port 5432"));
  // Another prefix from here on.
  const ReadResult other =
      read_log(line + line + "2026-01-01 00:00:02 UTC [9]: user=u,db=d LOG:  duration: 3.0 ms\n");
  CHECK_THAT(problem(other, "other_prefix"),
             Catch::Contains("log_line_prefix changes from '%m [%p] ' to '%t [%p]: "));
  CHECK(only_series(other, "statement_s").count() == 3);
  CHECK_THAT(problem(read_log("2026-01-01 00:00:01.000 UTC [1] LOG:  Datenbanksystem ist bereit\n"),
                     "nothing_known"),
             Catch::Contains("written in another language (lc_messages)"));
}

TEST_CASE("a decoding start without its detail says that it is missing") {
  const ReadResult result =
      read_log("2026-01-01 00:00:01.000 UTC [1] LOG:  starting logical decoding for slot \"s\"\n");
  CHECK_THAT(problem(result, "no_detail"), Catch::Contains("log_error_verbosity = terse?"));
  CHECK(events(result, "decoding_start").size() == 1);
}

TEST_CASE("lines of ten megabytes, broken encodings and CR LF do not hide what stands around them") {
  std::string text = timeout_log.substr(0, timeout_log.find("LOG:  terminating"));
  text = text.substr(0, text.rfind('\n') + 1);
  text += "2021-05-23 12:19:00.000 UTC [74] LOG:  duration: 7.0 ms  statement: select '" +
          std::string(10'000'000, 'x') +
          "'\n2021-05-23 12:19:01.000 UTC [74] LOG:  duration: 8.0 ms  statement: select '\xFC'\r\n";
  text += timeout_log.substr(timeout_log.find("2021-05-23 12:19:46.569"));
  const ReadResult result = read_log(text);
  CHECK(only_series(result, "statement_s").sum() == Approx(0.015));
  CHECK(only_series(result, "decode_bytes_per_s").count() == 1);
  CHECK(result.problems.count_of("line_too_long") == 1);
  CHECK(result.problems.count_of("invalid_utf8") == 1);
  CHECK(result.problems.count_of("crlf") == 1);
}
