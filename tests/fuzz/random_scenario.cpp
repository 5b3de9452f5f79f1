#include "tests/fuzz/random_scenario.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <initializer_list>
#include <vector>

#include <fuzzer/FuzzedDataProvider.h>

namespace replisim::fuzz {

namespace {

struct WrittenTable {
  std::string name;
  std::int64_t rows = 0; ///< left to be updated or deleted by batches
};

class Writer {
public:
  Writer(const std::uint8_t* data, std::size_t size) : bytes_(data, size) {}
  std::string write();

private:
  int between(int low, int high) { return bytes_.ConsumeIntegralInRange<int>(low, high); }
  /// False once the bytes are used up.
  bool chance(int percent) { return between(0, 99) >= 100 - percent; }
  template <class Value>
  Value pick(std::initializer_list<Value> values) {
    return *(values.begin() + between(0, static_cast<int>(values.size()) - 1));
  }
  WrittenTable& table() {
    return tables_[static_cast<std::size_t>(between(0, static_cast<int>(tables_.size()) - 1))];
  }
  std::string subscription() { return two_ and chance(40) ? "s2" : "s"; }
  template <class... Parts>
  void line(fmt::format_string<Parts...> pattern, Parts&&... parts) {
    yaml_ += fmt::format(pattern, std::forward<Parts>(parts)...) + '\n';
  }

  void hosts();
  void publisher();
  void subscriber();
  void tables();
  void receivers();
  void write_subscription(const std::string& name);
  void consumers();
  std::string statement(bool counted);
  std::string steps();
  std::string ddl();
  void load(int number);
  void batch(int number);
  void sessions();
  void events();
  std::string event();

  FuzzedDataProvider bytes_;
  std::string yaml_;
  std::vector<WrittenTable> tables_;
  int pub_ = 17, sub_ = 17;
  bool two_hosts_ = false, two_ = false;
};

void Writer::hosts() {
  two_hosts_ = chance(60);
  const std::string machine = fmt::format(
      "{{machine: lab-2core, cores_per_socket: {}, speed: {}, disks: [{{fsync_latency: {}us, "
      "write_bandwidth: {}MB/s, read_bandwidth: {}MB/s}}]}}",
      between(1, 8), pick({"1", "0.5", "2.5"}), between(1, 20'000), between(1, 2000), between(1, 2000));
  line("hosts:\n  a: {}", machine);
  if (not two_hosts_)
    return;
  line("  b: {}", machine);
  line("links: [{{between: [a, b], bandwidth: {}Mbps, latency: {}us, window: {}kB}}]", between(1, 10'000),
       between(0, 100'000), between(16, 8192));
}

void Writer::publisher() {
  std::string settings = fmt::format("logical_decoding_work_mem: {}kB", between(64, 4096));
  const auto add = [&](const std::string& text) { settings += ", " + text; };
  if (chance(50))
    add(fmt::format("fsync: {}", pick({"on", "off"})));
  if (chance(30))
    add(fmt::format("wal_writer_delay: {}ms", between(1, 1000)));
  if (chance(30))
    add(fmt::format("wal_buffers: {}kB", between(32, 4096)));
  if (chance(30))
    add(fmt::format("max_wal_size: {}MB", between(32, 512)));
  if (chance(30))
    add(fmt::format("max_slot_wal_keep_size: {}MB", between(0, 256)));
  if (chance(30))
    add(fmt::format("checkpoint_timeout: {}s", between(30, 300)));
  if (chance(30))
    add(fmt::format("wal_sender_timeout: {}ms", between(0, 20'000)));
  if (chance(30))
    add(fmt::format("synchronous_standby_names: {}", pick({"s", "'ANY 1 (s)'", "'FIRST 1 (s)'"})));
  if (chance(40))
    add(fmt::format("synchronous_commit: {}", pick({"on", "off", "local", "remote_write", "remote_apply"})));
  add("max_prepared_transactions: 20");
  line("servers:\n  pub: {{host: a, version: {}, checkpoint_before_workload: {}, settings: {{{}}}}}", pub_,
       pick({"off", "on"}), settings);
}

void Writer::subscriber() {
  std::string settings = "max_prepared_transactions: 20";
  const auto add = [&](const std::string& text) { settings += ", " + text; };
  if (sub_ >= 16 and chance(40))
    add(fmt::format("max_parallel_apply_workers_per_subscription: {}", between(0, 4)));
  if (chance(30))
    add(fmt::format("max_logical_replication_workers: {}", between(1, 8)));
  if (chance(30))
    add(fmt::format("max_sync_workers_per_subscription: {}", between(0, 4)));
  if (chance(30))
    add(fmt::format("wal_retrieve_retry_interval: {}ms", between(1, 10'000)));
  if (chance(30))
    add(fmt::format("wal_receiver_timeout: {}ms", between(0, 20'000)));
  if (chance(30))
    add(fmt::format("wal_receiver_status_interval: {}s", between(0, 20)));
  if (chance(30))
    add(fmt::format("lock_timeout: {}ms", between(0, 3000)));
  if (chance(30))
    add(fmt::format("deadlock_timeout: {}ms", between(1, 3000)));
  line("  sub: {{host: {}, version: {}, settings: {{{}}}}}", two_hosts_ ? "b" : "a", sub_, settings);
}

void Writer::tables() {
  line("tables:");
  const int count = between(1, 3);
  for (int i = 1; i <= count; ++i) {
    WrittenTable made{fmt::format("t{}", i), between(0, 20'000)};
    std::string columns = "k: int8";
    for (int c = between(0, 3); c > 0; --c)
      columns +=
          fmt::format(", c{}: {}", c, pick({"int4", "text(10)", "text(700)", "text(9000)", "bytea(100)"}));
    const std::string identity = pick({"default", "default", "full"});
    line("  {}: {{columns: {{{}}}, primary_key: [k], rows: {}, replica_identity: {}, secondary_indexes: {}, "
         "triggers: {}, triggers_enabled: {}, hot_updates: {}%}}",
         made.name, columns, made.rows, identity, between(0, 3), between(0, 2),
         pick({"origin", "replica", "always"}), between(0, 100));
    tables_.push_back(made);
  }
}

void Writer::write_subscription(const std::string& name) {
  std::string fields = "server: sub, publication: p";
  const auto add = [&](const std::string& text) { fields += ", " + text; };
  const int streaming = between(0, 2);
  if (streaming < 2 or (pub_ >= 16 and sub_ >= 16))
    add(fmt::format("streaming: {}", streaming == 0 ? "off" : streaming == 1 ? "on" : "parallel"));
  if (chance(20))
    add("binary: on");
  if (chance(20))
    add("synchronous_commit: on");
  const bool two_phase = pub_ >= 15 and sub_ >= 15 and chance(30);
  if (two_phase)
    add("two_phase: on");
  if (sub_ >= 15 and chance(30))
    add("disable_on_error: on");
  if (pub_ >= 16 and sub_ >= 16 and chance(20))
    add("origin: none");
  if (sub_ >= 19 and pub_ >= 19 and chance(40))
    add(fmt::format("retain_dead_tuples: on, max_retention_duration: {}s", between(0, 10)));
  if (chance(30))
    add(fmt::format("conflicts: [{{table: {}, row: {}, resolved_at: {}s}}]", table().name, between(1, 20'000),
                    between(1, 20)));
  if (not two_phase and chance(30))
    add(fmt::format("initial_sync: {{at: {}ms, copy_data: {}}}", between(0, 5000), pick({"on", "off"})));
  line("  {}: {{{}}}", name, fields);
}

void Writer::receivers() {
  std::string names;
  for (const WrittenTable& made : tables_)
    if (names.empty() or not chance(20))
      names += (names.empty() ? "" : ", ") + made.name;
  std::string more;
  if (pub_ >= 15 and chance(20))
    more += fmt::format(", row_filters: {{t1: {}%}}", between(0, 100));
  if (chance(20))
    more += fmt::format(", publish: \"{}\"", pick({"insert", "insert, delete", "update, truncate"}));
  line("publications: {{p: {{server: pub, tables: [{}]{}}}}}", names, more);
  line("subscriptions:");
  two_ = chance(30);
  write_subscription("s");
  if (two_)
    write_subscription("s2");
  consumers();
}

void Writer::consumers() {
  if (chance(30))
    line("consumers: {{c: {{publication: p, host: {}, cost_per_change: {}us, streaming: {}, confirms: {}, "
         "feedback_in_transaction: {}, confirms_keepalives: {}, reconnect_delay: {}ms}}}}",
         two_hosts_ ? "b" : "a", between(0, 500), pick({"off", "on"}), pick({"each_commit", "never"}),
         pick({"off", "on"}), pick({"off", "on"}), between(1, 3000));
  if (chance(15))
    line("decode: {{d: {{publication: p, function: {}, at: {}s, every: 1s, times: {}}}}}",
         pick({"peek", "get"}), between(0, 10), between(1, 3));
}

/// `counted`: no more rows are updated or deleted than a table holds.
std::string Writer::statement(bool counted) {
  WrittenTable& changed = table();
  const std::string verb = pick({"insert", "update", "delete"});
  const int most = counted ? (chance(20) ? 1500 : 100) : 4;
  int rows = between(1, most);
  if (counted and verb != "insert") {
    rows = static_cast<int>(std::min<std::int64_t>(rows, changed.rows));
    if (rows == 0)
      return fmt::format("{{insert: {}, rows: 1}}", changed.name);
    if (verb == "delete")
      changed.rows -= rows;
  }
  return fmt::format("{{{}: {}, rows: {}}}", verb, changed.name, rows);
}

std::string Writer::steps() {
  std::string text;
  std::vector<std::string> open;
  for (int left = between(1, 8); left > 0; --left) {
    const int kind = between(0, 9);
    if (kind == 6) {
      open.push_back(fmt::format("x{}", open.size()));
      text += fmt::format("{{savepoint: {}}}, ", open.back());
    } else if ((kind == 7 or kind == 8) and not open.empty()) {
      text += fmt::format("{{{}: {}}}, ", kind == 7 ? "rollback_to" : "release", open.back());
      if (kind == 8)
        open.pop_back();
    } else if (kind == 9) {
      text += fmt::format("{{pause: {}ms}}, ", between(0, 3000));
    } else {
      text += statement(true) + ", ";
    }
  }
  return text + statement(true);
}

std::string Writer::ddl() {
  const std::string kind = pick({"analyze", "vacuum", "add_column", "create_index", "grant",
                                 "alter_publication_add_table", "alter_publication_set"});
  return fmt::format("ddl: {}{}", kind,
                     kind.starts_with("alter_publication") ? ", publication: p" : ", table: " + table().name);
}

void Writer::batch(int number) {
  std::string end;
  if (chance(15))
    end = ", ends: rollback";
  if (chance(15))
    end += fmt::format(", prepared_for: {}ms", between(0, 5000));
  line("  w{}: {{server: pub, at: {}ms{}, transaction: [{}]}}", number, between(0, 10'000), end, steps());
}

void Writer::load(int number) {
  const std::string range = fmt::format("from: {}ms, until: {}ms", between(0, 3000), between(3001, 20'000));
  switch (between(0, 6)) {
  case 3:
    line("  w{}: {{server: pub, rate: {}/s, arrivals: {}, {}, transaction: [{}, {}]}}", number,
         between(1, 200), pick({"fixed", "poisson"}), range, statement(false), statement(false));
    return;
  case 4:
    line("  w{}: {{server: {}, clients: {}, mix: {}, scale: 1, think_time: {}ms, {}}}", number,
         pick({"pub", "pub", "sub"}), between(1, 6), pick({"tpcb-like", "simple-update", "select-only"}),
         between(1, 500), range);
    return;
  case 5:
    line("  w{}: {{server: pub, other_wal: {}kB/s, {}}}", number, between(1, 20'000), range);
    return;
  case 6:
    line("  w{}: {{server: pub, {}, at: {}ms, every: {}ms, times: {}, open: {}ms}}", number, ddl(),
         between(0, 5000), between(1, 3000), between(2, 5), between(0, 2000));
    return;
  default:
    batch(number);
  }
}

void Writer::sessions() {
  if (not chance(30))
    return;
  const std::string kind = pick({"select", "update", "delete", "vacuum", "analyze", "alter_table", "lock"});
  std::string step = fmt::format("{{{}: {}}}", kind, table().name);
  if (kind == "update" and chance(50))
    step = fmt::format("{{update: {}, row: {}}}", table().name, between(1, 20'000));
  line("sessions: {{q: {{server: sub, clients: {}, every: {}ms, times: {}, max_tries: {}, transaction: [{}, "
       "{{pause: "
       "{}ms}}]}}}}",
       between(1, 4), between(1, 3000), between(1, 30), between(1, 3), step, between(0, 2000));
}

std::string Writer::event() {
  const std::string when = fmt::format("at: {}ms, for: {}ms", between(0, 15'000), between(1, 10'000));
  switch (between(0, 8)) {
  case 0:
    return fmt::format("{{at: {}ms, crash: {}, subscription: {}}}", between(0, 15'000),
                       pick({"walsender", "apply_worker", "table_sync_worker"}), subscription());
  case 1:
    return fmt::format("{{{}, subscriber_down: sub}}", when);
  case 2:
    if (two_hosts_)
      return fmt::format("{{{}, partition: [a, b]}}", when);
    [[fallthrough]];
  case 3:
    if (two_hosts_)
      return fmt::format("{{{}, link: [a, b], bandwidth: {}kbps, latency: {}ms}}", when,
                         between(10, 1'000'000), between(0, 1000));
    [[fallthrough]];
  case 4:
    return fmt::format("{{{}, slow_disk: {}, factor: {}}}", when, pick({"pub", "sub"}), between(1, 100));
  case 5:
    return fmt::format("{{{}, cpu_taken: a, cores: {}}}", when, between(1, 8));
  case 6:
    return fmt::format("{{at: {}ms, set: {}, server: pub, to: {}MB}}", between(0, 15'000),
                       pick({"logical_decoding_work_mem", "max_slot_wal_keep_size", "max_wal_size"}),
                       between(32, 256));
  case 7:
    return fmt::format("{{at: {}ms, server: pub, {}}}", between(0, 15'000), ddl());
  default:
    return fmt::format("{{at: {}ms, cut_over: pub}}", between(0, 15'000));
  }
}

void Writer::events() {
  std::string list;
  for (int left = between(0, 3); left > 0; --left)
    list += (list.empty() ? "" : ", ") + event();
  if (not list.empty())
    line("events: [{}]", list);
}

std::string Writer::write() {
  pub_ = between(14, 19);
  sub_ = chance(30) ? between(14, 19) : pub_;
  line("replisim: 1\nname: written by fuzz_simulate\nprofile: lab-2core");
  hosts();
  publisher();
  subscriber();
  tables();
  receivers();
  line("workload:");
  batch(0);
  for (int number = between(0, 3); number > 0; --number)
    load(number);
  sessions();
  events();
  line("observe: {{until: {}ms, interval: 500ms}}", between(1, 40'000));
  return yaml_;
}

} // namespace

std::string random_scenario(const std::uint8_t* data, std::size_t size) { return Writer(data, size).write(); }

} // namespace replisim::fuzz
