// Whole pipelines whose total time is worked out by hand. All of them insert 100,000 rows (unless they
// say otherwise) in batches of 1,000, of which the WAL writer shows the first ones at 4.5 ms.
#include "tests/support/scenario_builder.hpp"

#include <catch2/catch.hpp>

using namespace replisim;
using namespace replisim::test;

namespace {

constexpr Rows all_rows = 100'000;

Scenario inserting(const CostParameters& costs, Streaming streaming, const std::string& work_mem = "64kB",
                   Rows rows = all_rows) {
  Scenario scenario = cluster(costs, streaming, work_mem);
  with_batch(scenario, {insert("t", rows)});
  return with_batches_of(scenario, 1000);
}

double total_s(const Scenario& scenario) { return run(scenario).metrics.at("total_s"); }

CostParameters per_row(double backend, double decode, double send, double receive, double forward,
                       double ring_read, double apply) {
  CostParameters costs;
  costs.backend_insert_row_s = backend;
  costs.decode_change_s = decode;
  costs.send_change_s = send;
  costs.receive_change_s = receive;
  costs.forward_change_s = forward;
  costs.ring_read_change_s = ring_read;
  costs.apply_insert_row_s = apply;
  return costs;
}

Approx seconds(double value) { return Approx(value).epsilon(1e-7); }

} // namespace

TEST_CASE("parallel, the parallel apply worker is slowest: first batch, then its own pace") {
  // Seen at 4.5 ms, 1,000 rows decoded in 0.5 ms, then 4 us per row.
  const auto costs = per_row(1 * us, 0.5 * us, 0.5 * us, 0.25 * us, 0.25 * us, 1 * us, 3 * us);
  const auto result = run(inserting(costs, Streaming::Parallel));
  CHECK(result.metrics.at("total_s") == seconds(0.405));
  CHECK(result.metrics.at("lock_hold_s") == seconds(0.4));
  CHECK(result.metrics.at("statement_s") == seconds(0.1));
  CHECK(result.metrics.at("commit_s") == seconds(0.1));
  CHECK(result.bottleneck == "sub.parallel_apply_worker");
  CHECK(result.metrics.at("cpu_sub.parallel_apply_worker_s") == seconds(0.4));
  CHECK(result.metrics.at("cpu_pub.backend_s") == seconds(0.1));
}

TEST_CASE("parallel, starting the worker comes before its first row") {
  auto costs = per_row(1 * us, 0.5 * us, 0.5 * us, 0.25 * us, 0.25 * us, 1 * us, 3 * us);
  costs.worker_start_s = 20 * ms;
  CHECK(total_s(inserting(costs, Streaming::Parallel)) == seconds(0.425));
}

TEST_CASE("parallel, the walsender is slowest: WAL seen, its rows, and the commit message") {
  // 4.5 ms + 4 us per row; the commit takes 3 us to send and 0.25 us to receive.
  const auto costs = per_row(1 * us, 1 * us, 3 * us, 0.25 * us, 0.25 * us, 0.2 * us, 0.8 * us);
  const auto result = run(inserting(costs, Streaming::Parallel));
  CHECK(result.metrics.at("total_s") == seconds(0.40450325));
  CHECK(result.bottleneck == "pub.walsender");
}

TEST_CASE("parallel, the leader is slowest") {
  // From the first chunk at 5 ms on 4 us per row, and 2 us for the commit.
  const auto costs = per_row(1 * us, 0.5 * us, 0.5 * us, 2 * us, 2 * us, 0.2 * us, 0.8 * us);
  const auto result = run(inserting(costs, Streaming::Parallel));
  CHECK(result.metrics.at("total_s") == seconds(0.405002));
  CHECK(result.bottleneck == "sub.apply_worker");
}

TEST_CASE("parallel, the backend is slowest: what is left to decode and send at commit comes on top") {
  // The WAL writer's last look before the commit is at 391.5 ms: 97 of 100 batches, of which the 212
  // full chunks of 456 rows are sent. At 400 ms 3,000 rows are left to decode, 3,328 to send.
  const auto costs = per_row(4 * us, 0.5 * us, 0.5 * us, 0.2 * us, 0.2 * us, 0.1 * us, 0.3 * us);
  const auto result = run(inserting(costs, Streaming::Parallel));
  CHECK(result.metrics.at("total_s") == seconds(0.4 + 0.0015 + 0.001664 + 0.5 * us + 0.2 * us));
  CHECK(result.bottleneck == "pub.backend");
  CHECK(result.metrics.at("stream_count") == 220);
}

TEST_CASE("off, the receiver is slower: decode until commit, then the receiver's time") {
  // Decoding takes 3 us a row from 4.5 ms on; Begin 1 us to send and 1 us to receive; 4 us per row;
  // Commit 1 us to receive.
  const auto costs = per_row(1 * us, 3 * us, 1 * us, 1 * us, 0, 0, 3 * us);
  CHECK(total_s(inserting(costs, Streaming::Off, "64MB")) == seconds(0.3045 + 0.4 + 3 * us));
}

TEST_CASE("off, the sender is slower: decode until commit, then the sender's time") {
  const auto costs = per_row(1 * us, 3 * us, 4 * us, 0.5 * us, 0, 0, 1 * us);
  CHECK(total_s(inserting(costs, Streaming::Off, "64MB")) == seconds(0.3045 + 0.4 + 8.5 * us));
}

TEST_CASE("off, a backend slower than the decoder: decoding ends with the last WAL") {
  // 97 batches decoded before the commit at 400 ms, three after it; then 1 us, 1 us, 4 us a row, 1 us.
  const auto costs = per_row(4 * us, 2 * us, 1 * us, 1 * us, 0, 0, 3 * us);
  CHECK(total_s(inserting(costs, Streaming::Off, "64MB")) == seconds(0.4 + 0.006 + 0.4 + 3 * us));
}

TEST_CASE("off with a small memory: spilling adds to decoding, restoring takes turns with applying") {
  // 81,920 rows are 20 refills of 4,096. Decoding and spilling: 3 us a row from 4.5 ms on. A refill takes
  // 4.096 ms to restore, 2.048 ms to send, 8.192 ms to apply. A message takes 49 + 30 bytes and 640 of
  // kernel memory: the socket's 212,992 bytes hold 296 of the 4,096 messages, so the next restore starts
  // 3,800 rows (7.6 ms) after the sending did and the receiver starves: 11.696 ms a round. Begin goes out
  // with the first row: sending it and receiving it take 0.5 us each.
  auto costs = per_row(1 * us, 1.5 * us, 0.5 * us, 0.5 * us, 0, 0, 1.5 * us);
  costs.spill_change_s = 1.5 * us;
  costs.restore_change_s = 1 * us;
  Scenario scenario = inserting(costs, Streaming::Off, "64kB", 81'920);
  const auto result = run(scenario);
  const double decoded_s = 0.0045 + 0.24576;
  CHECK(result.metrics.at("total_s") ==
        seconds(decoded_s + 2 * 0.5 * us + 4.096 * ms + 19 * 11.696 * ms + 8.192 * ms + 0.5 * us));
  CHECK(result.metrics.at("spill_count") == 180); // 179 times 456 rows, and 296 at commit
  CHECK(result.metrics.at("spill_bytes") == 81'920 * 144);
  // Behind a time-free link whose window holds it all, the receiver starves only once.
  CHECK(total_s(with_link(scenario)) ==
        seconds(decoded_s + 2 * 0.5 * us + 4.096 * ms + 20 * 8.192 * ms + 0.5 * us));
}

TEST_CASE("off with a small memory: refills taken together take as long, but for one batch") {
  auto costs = per_row(1 * us, 1.5 * us, 0.5 * us, 0.5 * us, 0, 0, 1.5 * us);
  costs.spill_change_s = 1.5 * us;
  costs.restore_change_s = 1 * us;
  Scenario scenario = inserting(costs, Streaming::Off, "64kB", 819'200);
  const double one_by_one_s = total_s(scenario);
  const double together_s = total_s(with_batches_of(scenario, 8192));
  CHECK(together_s != one_by_one_s);
  CHECK(std::abs(together_s - one_by_one_s) < 8192 * 4 * us);
}

TEST_CASE("on: the stream, then the file from its first row to its last") {
  // Streaming at the walsender's 4 us a row from 4.5 ms on, the commit's 3 + 0.25 us, 4 us a row.
  auto costs = per_row(1 * us, 1 * us, 3 * us, 0.25 * us, 0, 0, 3 * us);
  costs.file_write_change_s = 0.25 * us;
  costs.file_read_change_s = 1 * us;
  const auto result = run(inserting(costs, Streaming::On));
  CHECK(result.metrics.at("total_s") == seconds(0.0045 + 0.4 + 3.25 * us + 0.4));
  CHECK(result.metrics.at("lock_hold_s") == seconds(0.4)); // locks from the replay of the file on
  // 100,000 bodies of 49 bytes with their lengths, and the relation: 18 + public, t + a column k
  CHECK(result.metrics.at("peak_sub_tmp_file_bytes") ==
        all_rows * (49 + 4) + 4 + static_cast<double>(relation_message_bytes(uuid_table("t"))));
}

TEST_CASE("on and parallel below the memory limit are what off is") {
  const auto costs = per_row(1 * us, 2 * us, 1 * us, 1 * us, 1 * us, 1 * us, 3 * us);
  const auto off = run(inserting(costs, Streaming::Off, "64MB"));
  for (const Streaming streaming : {Streaming::On, Streaming::Parallel}) {
    const auto other = run(inserting(costs, streaming, "64MB"));
    CHECK(other.metrics.at("total_s") == off.metrics.at("total_s"));
    CHECK(other.metrics.at("sent_bytes") == off.metrics.at("sent_bytes"));
    CHECK(other.metrics.at("stream_count") == 0);
  }
}

TEST_CASE("costs per chunk, column and byte are counted") {
  // The walsender is slowest throughout. 220 chunks; 49 bytes and one column a row.
  const auto base = per_row(0.1 * us, 1 * us, 3 * us, 0.25 * us, 0.25 * us, 0.2 * us, 0.8 * us);
  const double base_s = total_s(inserting(base, Streaming::Parallel));
  auto costs = base;
  costs.stream_chunk_s = 100 * us;
  CHECK(total_s(inserting(costs, Streaming::Parallel)) - base_s == Approx(220 * 100 * us).epsilon(1e-6));
  costs = base;
  costs.send_column_s = 1 * us;
  CHECK(total_s(inserting(costs, Streaming::Parallel)) - base_s == Approx(0.1).epsilon(1e-6));
  costs = base;
  costs.send_byte_s = 0.1 * us;
  CHECK(total_s(inserting(costs, Streaming::Parallel)) - base_s == Approx(0.49).epsilon(1e-6));
  costs = base;
  costs.wal_read_byte_s = 0.01 * us;
  const auto result = run(inserting(costs, Streaming::Parallel));
  CHECK(result.metrics.at("total_s") - base_s ==
        Approx(result.metrics.at("wal_bytes") * 0.01 * us).epsilon(1e-6));
}

TEST_CASE("cpu_speed divides the profile's CPU costs, the machine's speed divides them again") {
  auto costs = per_row(1 * us, 1 * us, 3 * us, 0.25 * us, 0.25 * us, 0.2 * us, 0.8 * us);
  costs.worker_start_s = 0;
  Scenario slow = inserting(costs, Streaming::Parallel);
  slow.profile.cpu_speed = 0.5;
  with_batches_of(slow, 1000);
  CHECK(total_s(slow) == seconds(0.0045 + 0.8 + 6.5 * us));
  Scenario fast = inserting(costs, Streaming::Parallel);
  fast.hosts.at("db").speed = 2;
  CHECK(total_s(fast) == seconds(0.0045 + 0.2 + 1.625 * us));
}

TEST_CASE("on one core everything adds up") {
  // Commit with fsync off; every row costs 1 + 1 + 1 + 1 + 1 + 1 + 1 us, and three stages commit.
  Scenario scenario =
      inserting(per_row(1 * us, 1 * us, 1 * us, 1 * us, 1 * us, 1 * us, 1 * us), Streaming::Parallel);
  scenario.hosts.at("db") = machine_of(1);
  scenario.hosts.at("db").disks = {Disk{"d", 0, 1e9, 1e9}};
  const auto result = run(scenario);
  CHECK(result.metrics.at("total_s") == seconds(0.7 + 2 * us)); // the commit is sent and received
}
