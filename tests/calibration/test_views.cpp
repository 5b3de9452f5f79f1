// Snapshots of statistics views: every form psql gives them, what a broken one says, and rates.
#include "calibration/readers/views.hpp"

#include <catch2/catch.hpp>

#include <algorithm>

using namespace replisim::readers;

namespace {

ReadResult read_text(const std::string& text) {
  ReadResult result;
  LineInput input = LineInput::over_text("f", text, result.problems);
  read_input(input, {}, result.observation, result.problems);
  return result;
}

double figure(const ReadResult& result, const std::string& metric, const std::string& label = "") {
  for (const Figure& f : result.observation.figures)
    if (f.metric == metric and
        (label.empty() or
         std::any_of(f.labels.begin(), f.labels.end(), [&](const auto& l) { return l.second == label; })))
      return f.value;
  return -1;
}

std::string problems(const ReadResult& result) {
  std::string out;
  for (const auto& group : result.problems.groups())
    out += group.kind + ": " + group.examples.front().message + "\n";
  return out;
}

const std::string header =
    "collected_at,slot_name,spill_txns,spill_count,spill_bytes,stream_txns,stream_count,stream_bytes,"
    "total_txns,total_bytes,stats_reset\n";

} // namespace

TEST_CASE("two snapshots with times make a rate") {
  const ReadResult result = read_text(header + "2026-11-30 15:17:57+00,a,0,0,1000,0,0,0,5,7000,\n"
                                               "2026-11-30 15:18:07+00,a,1,2,6000,0,0,0,25,8000,\n");
  CHECK(problems(result) == "");
  CHECK(figure(result, "spill_bytes_per_s", "a") == 500);
  CHECK(figure(result, "total_txns_per_s", "a") == 2);
  CHECK(result.observation.sources.at(0).reader == "views");
  CHECK(result.observation.sources.at(0).first_us == TimeUs{1796051877} * 1'000'000);
}

TEST_CASE("one snapshot in psql's aligned text, without times, is said to give no rate") {
  const ReadResult result = read_text(" slot_name |  plugin  | slot_type | datoid | database | temporary | "
                                      "active | active_pid | xmin | catalog_xmin | "
                                      "restart_lsn  | confirmed_flush_lsn\n"
                                      "-----------+----------+-----------+--------+----------+-----------+---"
                                      "-----+------------+------+--------------+-"
                                      "-------------+---------------------\n"
                                      " slot_a    | pgoutput | logical   |  16391 | db1      | f         | t "
                                      "     |      15608 |      |    582017878 | "
                                      "9A6/5D479390 | 9A6/5D47F318\n"
                                      " slot_b    | pgoutput | logical   |  16391 | db1      | f         | f "
                                      "     |            |      |    581967024 | "
                                      "9A6/F15CAC0  | 9A6/F55AF98\n"
                                      "(2 rows)\n");
  CHECK(figure(result, "restart_lsn", "slot_b") == 0x9A6 * 4294967296.0 + 0xF15CAC0);
  CHECK(figure(result, "confirmed_flush_lsn", "slot_a") - figure(result, "confirmed_flush_lsn", "slot_b") ==
        Approx(1.22 * 1024 * 1024 * 1024).epsilon(0.01)); // the post says 1.22 GiB
  CHECK(problems(result).find("no_time: no row says when it was taken") == 0);
}

TEST_CASE("expanded text and the times of watch") {
  const ReadResult result =
      read_text("Mon Nov 30 13:56:26 2026 (every 2s)\n\n-[ RECORD 1 ]----+------\nwal_records      | 100\n"
                "wal_fpi          | 1\nwal_bytes        | 5000\nwal_sync_time    | 1500\n\n"
                "Mon Nov 30 13:56:28 2026 (every 2s)\n\n-[ RECORD 1 ]----+------\nwal_records      | 300\n"
                "wal_fpi          | 1\nwal_bytes        | 25000\nwal_sync_time    | 2500\n");
  CHECK(problems(result) == "");
  CHECK(figure(result, "wal_bytes_per_s") == 10'000);
  CHECK(figure(result, "wal_records_per_s") == 100);
  CHECK(figure(result, "wal_sync_time_s_per_s") == 0.5); // milliseconds in the view
}

TEST_CASE("what collect.sql writes") {
  const auto row = [](const std::string& at, const std::string& lsn, int sent) {
    return "{\"collected_at\" : \"2026-11-30T15:17:" + at +
           "+00:00\", \"view\" : \"server\", \"row\" : "
           "{\"server_version_num\" : 180004, \"in_recovery\" : false, \"wal_lsn\" : \"" +
           lsn +
           "\"}}\n"
           "{\"collected_at\" : \"2026-11-30T15:17:" +
           at +
           "+00:00\", \"view\" : \"pg_stat_replication\", \"row\" : "
           "{\"pid\":7,\"application_name\":\"s\",\"sent_lsn\":\"0/0000" +
           std::to_string(sent) + "\",\"replay_lag\":\"00:00:01.5\",\"sync_state\":\"async\"}}\n";
  };
  const ReadResult result = read_text(row("10.5", "0/2000", 1000) + row("12.5", "0/4000", 3000));
  CHECK(problems(result) == "");
  CHECK(figure(result, "wal_lsn_per_s") == 0x1000);
  CHECK(figure(result, "sent_lsn_per_s", "s") == 0x1000);
  const auto& all = result.observation.all_series();
  const auto lag =
      std::find_if(all.begin(), all.end(), [](const auto& s) { return s.first.first == "replay_lag_s"; });
  REQUIRE(lag != all.end());
  CHECK(lag->second.last().value == 1.5);
}

TEST_CASE("broken snapshots say what is wrong with them") {
  const std::string good = "2026-11-30 15:17:57+00,a,0,0,1000,0,0,0,5,7000,\n";
  CHECK(
      problems(read_text(header + good + "2026-11-30 15:18:57+00,a,0,0,10,5,0,0,0,5,7000,\n"))
          .find("cell_count: the row has 12 cells, the header 11 columns; it was left out (decimal commas") ==
      0);
  CHECK(problems(read_text(header + good + "2026-11-30 15:18:57+00,a,0,0,900,0,0,0,5,7000,\n"))
            .find("counter_reset: spill_bytes falls from 1000 to 900") == 0);
  CHECK(problems(read_text(header + good + "2026-11-30 15:16:57+00,a,0,0,2000,0,0,0,5,7000,\n"))
            .find("clock_back: ") == 0);
  CHECK(problems(read_text(header + "yesterday,a,0,0,1000,0,0,0,5,7000,\n"))
            .find("no_time: collected_at: 'yesterday'") == 0);
  CHECK(problems(read_text(header + "2026-11-30 15:17:57+00,a,0,0,x,0,0,0,5,7000,\n"))
            .find("no_number: spill_bytes: 'x' is no number; it was left out") == 0);
  CHECK(problems(read_text(header)).find("no_rows: holds no row of a statistics view") == 0);
  CHECK(problems(read_text("now,wal_records,wal_bytes,wal_bites\n2026-11-30 15:17:57+00,1,2,3\n"))
            .find("unknown_column: pg_stat_wal of 14 to 19 has no column 'wal_bites'; it is left out (did "
                  "you mean") == 0);
  CHECK(problems(read_text("now,wal_records,wal_bytes,wal_bytes\n2026-11-30 15:17:57+00,1,2,3\n"))
            .find("repeated_column: column 'wal_bytes' appears twice") == 0);
  CHECK(problems(read_text(
            " now | wal_records | wal_bytes\n---+---+---\n 2026-11-30 15:17:57+00 | 1,5 | 2\n(2 rows)\n")) ==
        "decimal_comma: wal_records: '1,5' was read as 1.5\nrow_count: psql counted 2 rows, 1 stand above: "
        "some are "
        "missing\n");
  CHECK(problems(read_text("{\"collected_at\" : \"2026-11-30T15:17:57+00:00\", \"view\" : \"pg_stat_wal\", "
                           "\"row\" : {\"wal_"))
            .find("bad_json: the line begins like JSON and is none, or is cut") == 0);
}

TEST_CASE("rows that belong together give lag, retained WAL and waits") {
  const auto row = [](const std::string& view, const std::string& cells) {
    return "{\"collected_at\" : \"2026-11-30T15:00:10+00:00\", \"view\" : \"" + view + "\", \"row\" : {" +
           cells + "}}\n";
  };
  const ReadResult result = read_text(
      row("server", R"("server_version_num":170004,"wal_lsn":"0/5000")") +
      row("pg_stat_replication", R"("application_name":"s","replay_lsn":"0/4000","sync_state":"async")") +
      row("pg_replication_slots", R"("slot_name":"s","restart_lsn":"0/1000","active":true)") +
      row("pg_locks", R"("locktype":"relation","mode":"RowExclusiveLock","granted":true,"pid":7)") +
      row("pg_locks", R"("locktype":"relation","mode":"RowExclusiveLock","granted":true,"pid":8)") +
      row("pg_locks", R"("locktype":"transactionid","mode":"ShareLock","granted":false,"pid":9,)"
                      R"("waitstart":"2026-11-30T15:00:08.5+00:00")"));
  CHECK(problems(result) == "");
  const auto last = [&](const std::string& metric, const std::string& label) {
    for (const auto& [key, series] : result.observation.all_series())
      for (const auto& [name, value] : series.labels())
        if (key.first == metric and value == label)
          return series.last().value;
    return -1.0;
  };
  CHECK(last("lag_bytes", "s") == 0x1000);
  CHECK(last("retained_wal_bytes", "s") == 0x4000);
  CHECK(last("locks", "relation") == 2);
  CHECK(last("blocked_s", "ShareLock") == 1.5);
  REQUIRE(result.observation.event_count("lock_wait") == 1);
  CHECK(result.observation.sources.at(0).format == "statistics views of PostgreSQL 17.4");
}

TEST_CASE("one snapshot of several slots says how far they lie apart") {
  const ReadResult result =
      read_text("slot_name,restart_lsn,confirmed_flush_lsn\na,9A6/5D479390,9A6/5D47F318\n"
                "b,9A6/F15CAC0,9A6/F55AF98\n");
  CHECK(figure(result, "retained_wal_bytes", "a") == 0x5D47F318 - 0x5D479390);
  CHECK(figure(result, "retained_wal_bytes", "b") == Approx(1.22 * 1073741824).epsilon(0.005)); // as posted
}

TEST_CASE("views of 14 to 19 have no column that is not known") {
  // As `select *` of each version prints them.
  for (
      const char* columns :
      {"pid,usesysid,usename,application_name,client_addr,client_hostname,client_port,backend_start,backend_"
       "xmin,"
       "state,sent_lsn,write_lsn,flush_lsn,replay_lsn,write_lag,flush_lag,replay_lag,sync_priority,sync_"
       "state,"
       "reply_time",
       "slot_name,plugin,slot_type,datoid,database,temporary,active,active_pid,xmin,catalog_xmin,restart_lsn,"
       "confirmed_flush_lsn,wal_status,safe_wal_size,two_phase",
       "slot_name,plugin,slot_type,datoid,database,temporary,active,active_pid,xmin,catalog_xmin,restart_lsn,"
       "confirmed_flush_lsn,wal_status,safe_wal_size,two_phase,conflicting",
       "slot_name,plugin,slot_type,datoid,database,temporary,active,active_pid,xmin,catalog_xmin,restart_lsn,"
       "confirmed_flush_lsn,wal_status,safe_wal_size,two_phase,two_phase_at,inactive_since,conflicting,"
       "invalidation_reason,failover,synced,slotsync_skip_reason",
       "slot_name,spill_txns,spill_count,spill_bytes,stream_txns,stream_count,stream_bytes,total_txns,total_"
       "bytes,"
       "stats_reset",
       "slot_name,spill_txns,spill_count,spill_bytes,stream_txns,stream_count,stream_bytes,mem_exceeded_"
       "count,"
       "total_txns,total_bytes,slotsync_skip_count,slotsync_last_skip,stats_reset",
       "subid,subname,pid,relid,received_lsn,last_msg_send_time,last_msg_receipt_time,latest_end_lsn,"
       "latest_end_time",
       "subid,subname,worker_type,pid,leader_pid,relid,received_lsn,last_msg_send_time,last_msg_receipt_time,"
       "latest_end_lsn,latest_end_time",
       "subid,subname,apply_error_count,sync_error_count,stats_reset",
       "subid,subname,apply_error_count,sync_error_count,confl_insert_exists,confl_update_origin_differs,"
       "confl_update_exists,confl_update_missing,confl_delete_origin_differs,confl_delete_missing,"
       "confl_multiple_unique_conflicts,stats_reset",
       "wal_records,wal_fpi,wal_bytes,wal_buffers_full,wal_write,wal_sync,wal_write_time,wal_sync_time,stats_"
       "reset",
       "wal_records,wal_fpi,wal_bytes,wal_fpi_bytes,wal_buffers_full,stats_reset",
       "backend_type,object,context,reads,read_time,writes,write_time,writebacks,writeback_time,extends,"
       "extend_time,op_bytes,hits,evictions,reuses,fsyncs,fsync_time,stats_reset",
       "backend_type,object,context,reads,read_bytes,read_time,writes,write_bytes,write_time,writebacks,"
       "writeback_time,extends,extend_bytes,extend_time,hits,evictions,reuses,fsyncs,fsync_time,stats_reset",
       "locktype,database,relation,page,tuple,virtualxid,transactionid,classid,objid,objsubid,"
       "virtualtransaction,"
       "pid,mode,granted,fastpath,waitstart"}) {
    const std::string header = columns;
    const std::string row(static_cast<std::size_t>(std::count(header.begin(), header.end(), ',')), ',');
    INFO(header);
    CHECK(problems(read_text(header + "\n" + row + "\n")).find("unknown_column") == std::string::npos);
    CHECK(problems(read_text(header + "\n" + row + "\n")).find("no_view") == std::string::npos);
    CHECK_THAT(problems(read_text(header + ",wal_sinc\n" + row + ",\n")), Catch::Contains("unknown_column"));
  }
}

TEST_CASE("operations of 16 and 17 become bytes") {
  const ReadResult result =
      read_text("collected_at,backend_type,object,context,reads,writes,extends,op_bytes\n"
                "2026-11-30 15:00:00+00,client backend,relation,normal,10,0,0,8192\n"
                "2026-11-30 15:00:10+00,client backend,relation,normal,20,0,0,8192\n");
  CHECK(figure(result, "io_read_bytes_per_s", "relation") == 8192);
}

TEST_CASE("9.x calls positions locations") {
  const ReadResult result =
      read_text("now,application_name,sync_state,sent_location\n2016-09-08 09:44:11+03,s,async,0/20\n");
  CHECK(problems(result) == "");
  CHECK(result.observation.all_series().begin()->first.first == "sent_lsn");
}

TEST_CASE("intervals as PostgreSQL prints them") {
  CHECK(parse_interval("00:00:00.001234") == Approx(0.001234));
  CHECK(parse_interval("1 day 02:03:04") == 86400 + 7384);
  CHECK(parse_interval("3 days") == 3 * 86400);
  CHECK(parse_interval("-00:00:01") == -1);
  CHECK_FALSE(parse_interval("soon"));
  CHECK_FALSE(parse_interval("1:2"));
}
