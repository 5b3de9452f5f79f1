// The subscriber's processes alone: a leader fed by a simple sender, a parallel apply worker fed by a simple
// leader.
#include "sim/actors/apply_worker.hpp"
#include "tests/support/scenario_builder.hpp"

#include <catch2/catch.hpp>

using namespace replisim;
using namespace replisim::test;

namespace {

const Table table_t = uuid_table("t");
const StatementStep insert_t = insert("t", 0);

RowChanges rows(std::uint32_t top, std::vector<std::pair<std::uint32_t, Rows>> runs, bool streamed) {
  RowChanges batch;
  batch.top = {top};
  batch.streamed = streamed;
  for (const auto& [xid, count] : runs)
    batch.runs.push_back({{xid}, &table_t, &insert_t, {1, count}, 144});
  batch.rows = rows_of(batch.runs);
  batch.body_bytes = body_bytes_of(batch.runs);
  batch.chunks = streamed ? 1 : 0;
  return batch;
}
CommitTransaction commit_of(std::uint32_t top, bool streamed) { return {{top}, {100}, streamed}; }

/// A leader with its pool of workers; the simple sender sends a list of messages, each at its date.
struct Subscriber {
  Subscriber(const CostParameters& with_costs, Streaming streaming, int pool)
      : costs(with_costs), price(costs), host(world.add_host("db", machine_of(8))),
        connection(world, {0, 0, true}, {"connection", 1'000'000'000, 0, 0}, slot) {
    for (int i = 0; i < pool; ++i) {
      workers.push_back(std::make_unique<ParallelApplyWorker>(
          world, fmt::format("worker {}", i),
          ParallelApplyWorker::Shared{price, record, wal, errors, prepared, locks,
                                      [this] { connection.stop(); }}));
      world.spawn(fmt::format("worker {}", i), host,
                  [worker = workers.back().get()](engine::Process& process) { worker->run(process); });
    }
    ApplyWorker::Params params;
    params.costs = &costs;
    params.price = &price;
    params.wal = &wal;
    params.errors = &errors;
    params.streaming = streaming;
    params.batch_rows = 100;
    params.parallel_workers = pool;
    params.locks = &locks;
    params.backend = locks.add_backend("leader", ServerLocks::Kind::Apply);
    params.publication = &publication;
    leader = std::make_unique<ApplyWorker>(world, params, connection, workers, record, [this] {
      if (--commits_left == 0)
        world.finish();
    });
    leader_process = &world.spawn("leader", host, [this](engine::Process& process) { leader->run(process); });
  }

  void send(std::vector<std::pair<double, ReplicationMessage>> messages) {
    for (const auto& [at_s, message] : messages)
      commits_left += std::holds_alternative<CommitTransaction>(message) ? 1 : 0;
    world.spawn("sender", host, [this, messages = std::move(messages)](engine::Process& process) {
      for (const auto& [at_s, message] : messages) {
        process.sleep(std::max(0.0, at_s - process.now()));
        const auto* batch = std::get_if<RowChanges>(&message);
        connection.stream().send(process, message, {batch != nullptr ? batch->rows : 1, 100, 1});
      }
    });
    world.run();
  }

  /// received, applied, undone, date of the first lock, date of the commit
  Numbers delivery(std::uint32_t top) {
    const auto& d = record.deliveries[{top}];
    return {static_cast<double>(d.received), static_cast<double>(d.applied), static_cast<double>(d.undone),
            d.first_lock_s, d.applied_s};
  }

  engine::World world;
  CostParameters costs;
  ApplyCost price;
  engine::HostId host;
  ServerLocks locks{world, 1};
  Publication publication = publication_of("p", {"t"});
  Slot slot{"s", {0}, {0}};
  ReplicationConnection connection; ///< never ended by the server
  SubscriptionRecord record;
  SubscriberWal wal;
  ApplyErrors errors;
  PreparedSlots slots;
  PreparedTransactions prepared{world, "s", locks, wal, record, slots};
  std::vector<std::unique_ptr<ParallelApplyWorker>> workers;
  std::unique_ptr<ApplyWorker> leader;
  engine::Process* leader_process = nullptr;
  int commits_left = 0;
};

CostParameters costs() {
  CostParameters c;
  c.receive_change_s = 1 * ms;
  c.forward_change_s = 2 * ms;
  c.file_write_change_s = 3 * ms;
  c.file_read_change_s = 4 * ms;
  c.ring_read_change_s = 5 * ms;
  c.apply_insert_row_s = 100 * ms;
  return c;
}

Numbers join(std::vector<Numbers> parts) {
  Numbers all;
  for (const auto& part : parts)
    all.insert(all.end(), part.begin(), part.end());
  return all;
}

void check_numbers(const Numbers& found, const Numbers& expected) {
  REQUIRE(found.size() == expected.size());
  for (std::size_t i = 0; i < found.size(); ++i) {
    INFO("number " << i);
    CHECK(found[i] == Approx(expected[i]).epsilon(1e-9));
  }
}

} // namespace

TEST_CASE("the leader applies what is not streamed as it comes") {
  const auto found = in_child([] {
    Subscriber subscriber(costs(), Streaming::Off, 0);
    subscriber.send({{1, BeginTransaction{{1}}}, {1, rows(1, {{1, 10}}, false)}, {1, commit_of(1, false)}});
    return join({subscriber.delivery(1), {static_cast<double>(subscriber.record.replay_lsn.value)}});
  });
  // Begin 1 ms; 10 rows of 101 ms; commit 1 ms. Locks from the first row on.
  check_numbers(found, {10, 10, 0, 1.001, 1 + 0.001 + 1.01 + 0.001, 100});
}

TEST_CASE("with on, chunks go to a file that is applied at commit") {
  const auto found = in_child([] {
    Subscriber subscriber(costs(), Streaming::On, 0);
    subscriber.send({{0, rows(1, {{1, 200}}, true)}, {0, rows(1, {{1, 50}}, true)}, {2, commit_of(1, true)}});
    return join({subscriber.delivery(1),
                 {static_cast<double>(subscriber.record.peak_tmp_file_bytes),
                  static_cast<double>(subscriber.record.tmp_file_bytes)}});
  });
  // 250 rows written in 1 s; from the commit (1 ms) on read and applied, 104 ms a row.
  check_numbers(found, {250, 250, 0, 2.001, 2.001 + 26, 250 * 53, 0});
}

TEST_CASE("with on, a rolled back subtransaction is cut off the file with all that follows it") {
  const auto found = in_child([] {
    Subscriber subscriber(costs(), Streaming::On, 0);
    subscriber.send({{0, rows(1, {{1, 10}, {2, 20}, {3, 30}}, true)},
                     {0, AbortSubtransaction{{1}, {3}}},
                     {0, rows(1, {{4, 40}}, true)}, // inside 2
                     {0, AbortSubtransaction{{1}, {4}}},
                     {0, AbortSubtransaction{{1}, {2}}},
                     {0, AbortSubtransaction{{1}, {9}}}, // never streamed
                     {0, rows(1, {{5, 5}}, true)},
                     {0, commit_of(1, true)}});
    return join({subscriber.delivery(1), {static_cast<double>(subscriber.record.peak_tmp_file_bytes)}});
  });
  // 10 rows of 1 and 5 of 5 are left. At most 10 + 20 + 40 rows lay in the file, with 2 and 4 as
  // subtransactions: 4 + 2 * 16 bytes.
  const double written_s = 105 * 4 * ms + 5 * ms; // and 5 messages
  check_numbers(found, {105, 15, 90, written_s, written_s + 15 * 104 * ms, 70 * 53 + 36});
}

TEST_CASE("with on, a transaction that was rolled back whole applies nothing and locks nothing") {
  const auto found = in_child([] {
    Subscriber subscriber(costs(), Streaming::On, 0);
    subscriber.send(
        {{0, rows(1, {{2, 20}}, true)}, {0, AbortSubtransaction{{1}, {2}}}, {1, commit_of(1, true)}});
    return join({subscriber.delivery(1), {static_cast<double>(subscriber.record.locking_transactions)}});
  });
  check_numbers(found, {20, 0, 20, -1, 1.001, 0});
}

TEST_CASE("with parallel, the worker applies while the leader forwards, and the leader waits at commit") {
  const auto found = in_child([] {
    Subscriber subscriber(costs(), Streaming::Parallel, 2);
    subscriber.send({{0, rows(1, {{1, 10}}, true)},
                     {0.5, commit_of(1, true)},
                     {0.6, BeginTransaction{{2}}},
                     {0.6, rows(2, {{2, 1}}, false)},
                     {0.6, commit_of(2, false)}});
    return join(
        {subscriber.delivery(1), subscriber.delivery(2), {subscriber.leader_process->usage().blocked_s}});
  });
  // The worker: 10 rows of 105 ms. Meanwhile the leader reads nothing, so transaction 2 comes after it.
  check_numbers(found, {10, 10, 0, 0, 1.05, 1, 1, 0, 1.051, 1.051 + 0.101 + 0.001, 1.05 - 0.501});
}

TEST_CASE("with parallel, a rolled back subtransaction has been applied in vain") {
  const auto found = in_child([] {
    Subscriber subscriber(costs(), Streaming::Parallel, 1);
    subscriber.send({{0, rows(1, {{1, 10}, {2, 20}}, true)},
                     {0, AbortSubtransaction{{1}, {2}}},
                     {0, rows(1, {{3, 1}}, true)},
                     {0, commit_of(1, true)}});
    return subscriber.delivery(1);
  });
  check_numbers(found, {31, 11, 20, 0, 31 * 0.105});
}

TEST_CASE("with parallel, a transaction without a free worker goes to a file for good") {
  const auto found = in_child([] {
    Subscriber subscriber(costs(), Streaming::Parallel, 1);
    subscriber.send({{0, rows(1, {{1, 1}}, true)},
                     {0, rows(2, {{2, 1}}, true)},
                     {1, commit_of(1, true)}, // frees the worker
                     {2, rows(2, {{2, 1}}, true)},
                     {3, commit_of(2, true)},
                     {4, rows(3, {{3, 1}}, true)}, // takes the worker
                     {5, commit_of(3, true)}});
    return join({subscriber.delivery(1),
                 subscriber.delivery(2),
                 subscriber.delivery(3),
                 {static_cast<double>(subscriber.record.peak_tmp_file_bytes)}});
  });
  check_numbers(found, {1, 1, 0, 0, 1.001,                 // applied long before its commit came
                        2, 2, 0, 3.001, 3.001 + 2 * 0.104, //
                        1, 1, 0, 4, 5.001, 2 * 53});
}

TEST_CASE("with parallel and no workers, transactions go to files") {
  const auto run_with = [](Streaming streaming) {
    return in_child([=] {
      Subscriber subscriber(costs(), streaming, 0);
      subscriber.send({{0, rows(1, {{1, 10}, {2, 5}}, true)},
                       {0, AbortSubtransaction{{1}, {2}}},
                       {0, commit_of(1, true)}});
      return join({subscriber.delivery(1), {static_cast<double>(subscriber.record.peak_tmp_file_bytes)}});
    });
  };
  CHECK(run_with(Streaming::Parallel) == run_with(Streaming::On));
}

TEST_CASE("starting a worker delays the first chunk, a waiting one is taken at once") {
  auto with_start = costs();
  with_start.worker_start_s = 0.25;
  const auto found = in_child([&] {
    Subscriber subscriber(with_start, Streaming::Parallel, 4);
    subscriber.send({{0, rows(1, {{1, 1}}, true)},
                     {1, commit_of(1, true)},
                     {2, rows(2, {{2, 1}}, true)},
                     {3, commit_of(2, true)}});
    return join({subscriber.delivery(1), subscriber.delivery(2)});
  });
  CHECK(found[3] == Approx(0.25)); // one of four stays in the pool
  CHECK(found[8] == Approx(2));
}

TEST_CASE("a full ring stops the leader until the worker has taken enough") {
  const auto found = in_child([] {
    auto cheap = costs();
    cheap.receive_change_s = 0;
    cheap.forward_change_s = 0;
    cheap.ring_read_change_s = 0;
    cheap.apply_insert_row_s = 0.1 * ms; // a quarter of the ring in 4.8 s
    Subscriber subscriber(cheap, Streaming::Parallel, 1);
    // A message takes 8 + 80 bytes in the ring of 16 MB: 190,650 of them fit, of 381,300.
    subscriber.send({{0, rows(1, {{1, 381'300}}, true)}, {0, commit_of(1, true)}});
    return Numbers{subscriber.leader_process->usage().blocked_s, subscriber.delivery(1)[4]};
  });
  CHECK(found[1] == Approx(38.13));
  CHECK(found[0] == Approx(38.13)); // first for the ring, then for the commit
}

TEST_CASE("a parallel apply worker alone: rows, an abort, the commit; then it is idle again") {
  const auto found = in_child([] {
    engine::World world;
    const auto host = world.add_host("db", machine_of(2));
    SubscriptionRecord record;
    const CostParameters prices = costs();
    ServerLocks locks(world, 1);
    const ApplyCost price(prices);
    SubscriberWal wal;
    ApplyErrors errors;
    PreparedSlots slots;
    PreparedTransactions prepared(world, "s", locks, wal, record, slots);
    ParallelApplyWorker worker(world, "worker", {price, record, wal, errors, prepared, locks, [] {}});
    world.spawn("worker", host, [&](engine::Process& process) { worker.run(process); });
    Numbers out;
    world.spawn("leader", host, [&](engine::Process& process) {
      worker.assign({LockTag::Kind::ApplyStream, "s", 7});
      out.push_back(worker.idle() ? 1 : 0);
      process.sleep(1);
      worker.ring().send(process, rows(7, {{7, 2}, {8, 3}, {7, 1}}, true), {6, 600, 1});
      worker.ring().send(process, AbortSubtransaction{{7}, {8}}, {1, 25, 1});
      worker.ring().send(process, commit_of(7, true), {1, 30, 1});
      while (not worker.idle())
        process.wait(worker.finished(), engine::Activity::Blocked);
      out.push_back(process.now());
      world.finish();
    });
    world.run();
    const auto& delivery = record.deliveries[{7}];
    return join(
        {out,
         {static_cast<double>(delivery.applied), static_cast<double>(delivery.undone), delivery.first_lock_s,
          delivery.applied_s, static_cast<double>(record.locking_transactions)}});
  });
  check_numbers(found, {0, 1.63, 3, 3, 1, 1.63, 0});
}
