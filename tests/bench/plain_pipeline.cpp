// The pipeline written the plain way, to compare the simulator with: one SimGrid actor per process, one
// mailbox message per so many changes of a large transaction, and per single transaction for clients. No
// pieces, no windows, no batches; the costs come from the command line. WAL is a queue and a semaphore: a
// mailbox that holds a backlog of detached messages costs time that grows with its square, which nobody would
// put up with.
//
// plain_pipeline transaction ROWS ROWS_PER_MESSAGE S_PER_ROW...   (a cost for each process, the backend
// first) plain_pipeline clients CLIENTS UNTIL_S CPU_S WAIT_S WALSENDER_S APPLY_S   (costs of one transaction)
#include <simgrid/s4u.hpp>

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <deque>
#include <exception>
#include <stdexcept>
#include <string>
#include <vector>

namespace sg4 = simgrid::s4u;

namespace {

/// A core does one flop a second, so that flops are seconds; a message costs no time.
sg4::Host* make_host(int cores) {
  auto* zone = sg4::create_full_zone("world");
  auto* host = zone->create_host("db", 1.0)->set_core_count(cores);
  const auto* link = zone->create_link("loopback", 1e15)->set_latency(0);
  zone->add_route(host->get_netpoint(), host->get_netpoint(), nullptr, nullptr, {sg4::LinkInRoute(link)});
  zone->seal();
  return host;
}

/// What backends have written and the walsender has not read: rows of each message.
struct Wal {
  std::deque<std::int64_t> rows = {};
  sg4::SemaphorePtr filled = sg4::Semaphore::create(0);

  void write(std::int64_t count) {
    rows.push_back(count);
    filled->release();
  }
};

/// Reads WAL, decodes and sends.
void decode(Wal& wal, sg4::Mailbox* to, double cost_s) {
  while (true) {
    wal.filled->acquire();
    auto* rows = new std::int64_t(wal.rows.front());
    wal.rows.pop_front();
    sg4::this_actor::execute(cost_s * static_cast<double>(*rows));
    to->put(rows, 1);
  }
}

/// Takes messages from one mailbox, works on each and passes it on; the last process has nowhere to send to.
void relay(sg4::Mailbox* from, sg4::Mailbox* to, double cost_s, std::int64_t& done) {
  while (true) {
    auto* rows = from->get<std::int64_t>();
    sg4::this_actor::execute(cost_s * static_cast<double>(*rows));
    done += *rows;
    if (to != nullptr)
      to->put(rows, 1);
    else
      delete rows;
  }
}

sg4::Mailbox* mailbox(std::size_t number) {
  return sg4::Mailbox::by_name("mailbox " + std::to_string(number));
}

void report(std::int64_t first, std::int64_t last) {
  std::printf("{\"total_s\": %.9f, \"begun\": %lld, \"done\": %lld}\n", sg4::Engine::get_clock(),
              static_cast<long long>(first), static_cast<long long>(last));
}

void run_transaction(sg4::Engine& engine, std::int64_t rows, std::int64_t per_message,
                     const std::vector<double>& cost_s) {
  auto* host = make_host(static_cast<int>(cost_s.size()));
  std::vector<std::int64_t> done(cost_s.size());
  Wal wal;
  sg4::Actor::create("backend", host, [&] {
    for (std::int64_t left = rows; left > 0; left -= per_message) {
      const std::int64_t count = std::min(left, per_message);
      sg4::this_actor::execute(cost_s[0] * static_cast<double>(count));
      done[0] += count;
      wal.write(count);
    }
    while (done.back() < rows) // the other processes never end
      sg4::this_actor::sleep_for(0.001);
  });
  sg4::Actor::create("walsender", host, [&] { decode(wal, mailbox(2), cost_s[1]); })->daemonize();
  for (std::size_t i = 2; i < cost_s.size(); ++i)
    sg4::Actor::create("process " + std::to_string(i), host, [&, i] {
      relay(mailbox(i), i + 1 < cost_s.size() ? mailbox(i + 1) : nullptr, cost_s[i], done[i]);
    })->daemonize();
  engine.run();
  report(done.front(), done.back());
}

struct ClientCosts {
  double cpu_s, wait_s, walsender_s, apply_s;
};

void run_clients(sg4::Engine& engine, int clients, double until_s, const ClientCosts& cost) {
  auto* host = make_host(clients + 2);
  std::int64_t committed = 0, applied = 0;
  Wal wal;
  for (int i = 0; i < clients; ++i)
    sg4::Actor::create("backend", host, [&] {
      while (true) {
        sg4::this_actor::execute(cost.cpu_s);
        sg4::this_actor::sleep_for(cost.wait_s); // round trips, locks, the flush
        if (sg4::Engine::get_clock() > until_s)
          return;
        ++committed;
        wal.write(1);
      }
    });
  sg4::Actor::create("walsender", host, [&] { decode(wal, mailbox(2), cost.walsender_s); })->daemonize();
  sg4::Actor::create("apply worker", host, [&] {
    relay(mailbox(2), nullptr, cost.apply_s, applied);
  })->daemonize();
  engine.run();
  report(committed, applied);
}

int run(int argc, char** argv) {
  sg4::Engine engine(&argc, argv);
  const std::vector<std::string> words(argv + 1, argv + argc);
  if (words.size() >= 6 and words[0] == "transaction") {
    std::vector<double> cost_s;
    for (std::size_t i = 3; i < words.size(); ++i)
      cost_s.push_back(std::stod(words[i]));
    run_transaction(engine, std::stoll(words[1]), std::stoll(words[2]), cost_s);
  } else if (words.size() == 7 and words[0] == "clients") {
    run_clients(engine, std::stoi(words[1]), std::stod(words[2]),
                {std::stod(words[3]), std::stod(words[4]), std::stod(words[5]), std::stod(words[6])});
  } else {
    throw std::invalid_argument(
        "usage: plain_pipeline transaction ROWS ROWS_PER_MESSAGE S_PER_ROW... | clients "
        "CLIENTS UNTIL_S CPU_S WAIT_S WALSENDER_S APPLY_S");
  }
  return EXIT_SUCCESS;
}

} // namespace

int main(int argc, char** argv) {
  try {
    return run(argc, argv);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "plain_pipeline: %s\n", error.what());
    return EXIT_FAILURE;
  }
}
