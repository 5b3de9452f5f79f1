#include "sim/scenario/descriptors.hpp"

#include "models/base/check.hpp"
#include "sim/scenario/descriptor_field.hpp"

#include <algorithm>

namespace replisim {

namespace {

using T = FieldType;
using Objects = std::vector<ObjectDescriptor>;

constexpr double most_rows = 1e12;
constexpr double most_runs = 1e6;
constexpr double longest_s = 366.0 * 86400;
constexpr double kilobyte = 1024.0;
constexpr double megabyte = kilobyte * 1024;
constexpr double gigabyte = megabyte * 1024;
constexpr double terabyte = gigabyte * 1024;

ObjectDescriptor scenario_root() {
  return {
      "scenario",
      "",
      {Field("replisim", T::Integer, "version of the file format; this one is 1").needed().between(1, 1),
       Field("name", T::Text, "what the scenario shows").needed(),
       Field("extends", T::Path, "another scenario file whose contents this one is laid over"),
       Field("profile", T::Object, "what each act of the pipeline costs: a file of calibration/profiles")
           .of("profile")
           .needed(),
       Field("simulation", T::Object, "how finely time is resolved").of("simulation"),
       Field("hosts", T::ObjectMap, "the computers, by name").of("host").needed(),
       Field("servers", T::ObjectMap, "the PostgreSQL servers, by name").of("server").needed(),
       Field("links", T::ObjectList, "the network between hosts; servers on one host need none").of("link"),
       Field("tables", T::ObjectMap, "the tables, the same on publisher and subscriber").of("table").needed(),
       Field("publications", T::ObjectMap, "what is published").of("publication").needed(),
       Field("subscriptions", T::ObjectMap, "the subscriptions of other servers to it").of("subscription"),
       Field("consumers", T::ObjectMap, "who else receives it: clients that read a slot of their own")
           .of("consumer"),
       Field("decode", T::ObjectMap, "sessions on publishers that decode a slot of their own through SQL")
           .of("decode"),
       Field("workload", T::ObjectMap, "what runs on publishers, by name").of("load").needed(),
       Field("background", T::ObjectMap, "steady load beside the pipeline, by name").of("background"),
       Field("sessions", T::ObjectMap, "client sessions on subscribers, which want locks; by name")
           .of("session"),
       Field("events", T::ObjectList, "faults and changes during the run").of("event"),
       Field("observe", T::Object, "what is recorded").of("observe"),
       Field("statistics", T::Object, "how precise the answer is to be").of("statistics"),
       Field("sweep", T::Axes,
             "field paths and the values to try, as a list or as a map from label to value"),
       Field("break_even", T::ObjectList,
             "at which value of one field two settings of another come out equal")
           .of("break_even"),
       Field("plan", T::Object, "what `replisim plan` is to find: promises, knobs, and what is looked for")
           .of("plan"),
       Field("guessed", T::Reasons,
             "field paths whose values nobody stated, each with the reason for the guess")}};
}

/// What a machine's file says and a scenario may override.
std::vector<FieldDescriptor> machine_shape() {
  return {
      Field("sockets", T::Integer, "processor packages").between(1, 64).otherwise("1"),
      Field("cores_per_socket", T::Integer, "physical cores of each package").between(1, 1024).otherwise("1"),
      Field("threads_per_core", T::Integer, "hardware threads of each core").between(1, 8).otherwise("1"),
      Field("smt_gain", T::Number, "throughput of a core with all its threads busy, one busy thread being 1")
          .between(1, 8)
          .otherwise("1.25"),
      Field("speed", T::Number, "speed of a core relative to the one the cost profile was measured on")
          .between(0.01, 100)
          .otherwise("1"),
      Field("baseline", T::Number,
            "of a burstable instance: share of its CPUs that it earns; 1 is a machine without credits")
          .between(0.01, 1)
          .otherwise("1"),
      Field("cpu_credits", T::Duration,
            "of a burstable instance: CPU time in stock when the run begins; a credit is 1min")
          .between(0, 1e9)
          .otherwise("0s"),
      Field("memory", T::Size, "main memory").between(64 * megabyte, 1024 * terabyte).otherwise("16GB"),
      Field("price", T::Number,
            "what a month of it costs, in any one currency; `replisim plan` adds prices up")
          .between(0, 1e9),
      Field("clock", T::Frequency, "clock frequency, for the reader; costs scale with `speed`")
          .between(1e6, 1e11),
      Field("disks", T::ObjectList, "storage devices; the first one holds what a server puts on no other")
          .of("disk")
          .needed()};
}

void add_hosts(Objects& out) {
  const std::vector<FieldDescriptor> shape = machine_shape();
  ObjectDescriptor machine{"machine_file", "", {}};
  machine.fields = {Field("replisim_machine", T::Integer, "version of the machine file format; this one is 1")
                        .needed()
                        .between(1, 1),
                    Field("name", T::Text, "the machine's name, equal to the file's").needed()};
  machine.fields.insert(machine.fields.end(), shape.begin(), shape.end());
  machine.fields.push_back(
      Field("guessed", T::Reasons, "fields of this file nobody stated, each with the reason"));

  // The same fields once more, for a scenario to override: all of them optional there.
  ObjectDescriptor host{"host", "machine", {}};
  host.fields = {
      Field("machine", T::Name, "a machine of scenarios/hardware; the other fields override its own")
          .named_in("machines")
          .needed()};
  for (FieldDescriptor field : shape) {
    field.required = false;
    field.default_value = {};
    host.fields.push_back(field);
  }
  out.push_back(machine);
  out.push_back(host);
  out.push_back(
      {"disk",
       "",
       {Field("name", T::Text, "the name servers and reports call it by").otherwise("data"),
        Field("fsync_latency", T::Duration,
              "one flush of an almost empty write queue; pg_test_fsync measures it")
            .needed()
            .between(0, 10),
        Field("write_bandwidth", T::ByteRate, "sustained sequential writes")
            .needed()
            .between(64 * kilobyte, terabyte),
        Field("read_bandwidth", T::ByteRate, "sustained sequential reads")
            .needed()
            .between(64 * kilobyte, terabyte),
        Field("read_latency", T::Duration,
              "one page picked at random, nothing else under way; the default is a guess for an SSD")
            .between(0, 10)
            .otherwise("0.1ms"),
        Field("capacity", T::Size, "size of the file system on it; 0 never fills")
            .between(0, 1024 * terabyte)
            .otherwise("0"),
        Field("used", T::Size, "what other files take of it when the run begins")
            .between(0, 1024 * terabyte)
            .otherwise("0")}});
}

void add_servers(Objects& out) {
  out.push_back(
      {"server",
       "",
       {Field("host", T::Name, "the host it runs on").named_in("hosts").needed(),
        Field("version", T::Version, "PostgreSQL version, 17 or 17.4; a major means its latest minor")
            .needed(),
        Field("settings", T::Settings,
              "PostgreSQL settings by their own names, over the defaults of the version"),
        Field("include_conf", T::Path,
              "its postgresql.conf, relative to the scenario file; `settings` win over what it says"),
        Field("checkpoint_before_workload", T::Flag,
              "a checkpoint ended after the initial rows were loaded, so that the first change of "
              "each of their pages logs the whole page")
            .otherwise("off")
            .mirrors("full_page_writes"),
        Field("data_disk", T::Text,
              "disk of the host that holds the data directory, spill files included; the first one when "
              "left out"),
        Field("wal_disk", T::Text, "disk of the host that holds pg_wal; the first one when left out"),
        Field("retained_wal", T::Size, "WAL that its slots hold back already when the run begins")
            .between(0, 1024 * terabyte)
            .otherwise("0")}});
  out.push_back({"link",
                 "",
                 {Field("between", T::NameList, "the two hosts it joins").named_in("hosts").needed(),
                  Field("bandwidth", T::ByteRate, "in each direction").needed().between(125, terabyte),
                  Field("latency", T::Duration, "one way, half of a ping").needed().between(0, 60),
                  Field("window", T::Size,
                        "kernel buffers of one TCP connection, sender and receiver together; the "
                        "default is a guess after Linux's autotuning limits")
                      .between(4 * kilobyte, 4 * gigabyte)
                      .otherwise("6MB")}});
}

void add_tables(Objects& out) {
  out.push_back(
      {"table",
       "",
       {Field("schema", T::Text, "schema; its length is part of each Relation message").otherwise("public"),
        Field("columns", T::ObjectMap, "the columns in the order of the table").of("column").needed(),
        Field("primary_key", T::NameList, "columns of the primary key; none when left out"),
        Field("rows", T::Integer, "rows on both sides before the run").between(0, most_rows).otherwise("0"),
        Field("replica_identity", T::Choice, "what an UPDATE or DELETE carries to find the old row")
            .one_of({"default", "full", "nothing"})
            .otherwise("default")
            .mirrors("ALTER TABLE ... REPLICA IDENTITY"),
        Field("secondary_indexes", T::Integer, "btree indexes besides the primary key")
            .between(0, 64)
            .otherwise("0"),
        Field("triggers", T::Integer, "row triggers, each fired by every INSERT, UPDATE and DELETE")
            .between(0, 64)
            .otherwise("0"),
        Field("trigger_cost", T::Duration, "CPU time of one trigger call; the default is a guess")
            .between(0, 1)
            .otherwise("10us"),
        Field("triggers_enabled", T::Choice,
              "for whom triggers fire: origin for clients, replica for apply workers, always for both")
            .one_of({"origin", "replica", "always"})
            .otherwise("origin")
            .mirrors("ALTER TABLE ... ENABLE [REPLICA | ALWAYS] TRIGGER"),
        Field("foreign_keys", T::Integer, "constraints of the table that refer to others")
            .between(0, 64)
            .otherwise("0"),
        Field("foreign_keys_enabled", T::Choice,
              "for whom they are checked: they are triggers, which apply workers skip unless told otherwise")
            .one_of({"origin", "replica", "always"})
            .otherwise("origin")
            .mirrors("ALTER TABLE ... ENABLE [REPLICA | ALWAYS] TRIGGER"),
        Field("copies", T::Integer,
              "stands for so many tables alike; rows of a statement, and statements that change the catalog, "
              "go "
              "over them in turn")
            .between(1, 1e7)
            .otherwise("1"),
        Field("hot_updates", T::Percent,
              "share of its UPDATEs whose new version stays on the page and needs no index entry (HOT)")
            .between(0, 1)
            .otherwise("0%")
            .mirrors("pg_stat_all_tables.n_tup_hot_upd")}});
  out.push_back(
      {"column",
       "type",
       {Field("type", T::ColumnType, "PostgreSQL type; text(32) is a text of 32 bytes on average").needed(),
        Field("value", T::ColumnValue,
              "what the values look like: typical, sequence (1, 2, 3, ... in row order) or "
              "one integer; a primary key of one integer column is a sequence, any other "
              "column is typical")}});
}

void add_replication(Objects& out) {
  out.push_back(
      {"publication",
       "",
       {Field("server", T::Name, "the publisher").named_in("servers").needed(),
        Field("tables", T::NameList, "the published tables").named_in("tables").needed(),
        Field("row_filters", T::ObjectMap, "WHERE clauses, by published table").of("row_filter"),
        Field("column_lists", T::ObjectMap, "the columns that are published, by table; all when left out")
            .of("column_list"),
        Field("publish", T::Text, "which operations are published, separated by commas")
            .otherwise("insert, update, delete, truncate")
            .mirrors("CREATE PUBLICATION ... WITH (publish)")}});
  out.push_back({"column_list",
                 "columns",
                 {Field("columns", T::Text, "names of columns, separated by commas, as in CREATE PUBLICATION")
                      .needed()
                      .mirrors("CREATE PUBLICATION ... TABLE t (a, b)")}});
  out.push_back({"row_filter",
                 "passes",
                 {Field("passes", T::Percent, "share of the rows that are sent")
                      .between(0, 1)
                      .otherwise("100%")
                      .mirrors("CREATE PUBLICATION ... WHERE"),
                  Field("cost", T::Duration,
                        "CPU time of one row's evaluation, sent or not; the default is a guess for a "
                        "comparison with a constant")
                      .between(0, 1)
                      .otherwise("1us")}});
}

void add_subscriptions(Objects& out) {
  out.push_back(
      {"subscription",
       "",
       {Field("server", T::Name, "the subscriber").named_in("servers").needed(),
        Field("publication", T::Name, "the publication it subscribes to").named_in("publications").needed(),
        Field("streaming", T::Choice,
              "whether large transactions are sent before they commit; the default is that "
              "of the subscriber's version")
            .one_of({"off", "on", "parallel"})
            .mirrors("CREATE SUBSCRIPTION ... streaming"),
        Field(
            "created_on", T::Version,
            "the version the subscriber had when the subscription was created, where it was upgraded since: "
            "its defaults hold"),
        Field("origin", T::Choice,
              "whether changes that the publisher has received itself are asked for (16 and later)")
            .one_of({"any", "none"})
            .otherwise("any")
            .mirrors("CREATE SUBSCRIPTION ... origin"),
        Field("synchronous_commit", T::Choice,
              "whether local commits wait for their flush; all but off do, whatever else they say")
            .one_of({"off", "local", "remote_write", "on", "remote_apply"})
            .otherwise("off")
            .mirrors("CREATE SUBSCRIPTION ... synchronous_commit"),
        Field("binary", T::Flag, "values travel in binary form")
            .otherwise("off")
            .mirrors("CREATE SUBSCRIPTION ... binary"),
        Field("retain_dead_tuples", T::Flag,
              "dead rows are kept for conflict detection, as long as the publisher's transactions may need "
              "them "
              "(19 and later)")
            .otherwise("off")
            .mirrors("CREATE SUBSCRIPTION ... retain_dead_tuples"),
        Field("max_retention_duration", T::Duration,
              "retain_dead_tuples is suspended while finding out what may go takes longer; 0: never")
            .between(0, longest_s)
            .otherwise("0s")
            .mirrors("CREATE SUBSCRIPTION ... max_retention_duration"),
        Field("disable_on_error", T::Flag, "an error disables the subscription instead of repeating for ever")
            .otherwise("off")
            .mirrors("CREATE SUBSCRIPTION ... disable_on_error"),
        Field("two_phase", T::Flag,
              "prepared transactions are applied at PREPARE and stay prepared on the subscriber until their "
              "COMMIT "
              "PREPARED (15 and later)")
            .otherwise("off")
            .mirrors("CREATE SUBSCRIPTION ... two_phase"),
        Field(
            "initial_sync", T::Object,
            "the subscription is created during the run and its tables are synchronised; when left out, they "
            "are there already")
            .of("initial_sync"),
        Field("conflicts", T::ObjectList,
              "rows that the subscriber holds already; a batch that inserts or updates one fails there")
            .of("conflict")}});
}

void add_workload(Objects& out) {
  out.push_back(
      {"load",
       "",
       {Field("server", T::Name, "the server it runs on").named_in("servers").needed(),
        Field("transaction", T::ObjectList, "the steps of the transaction").of("step"),
        Field("at", T::Duration, "when the BEGIN of its first run is sent")
            .between(0, longest_s)
            .otherwise("0s"),
        Field("every", T::Duration,
              "distance of the starts of two runs; a run waits for the end of the one before it")
            .between(1e-3, longest_s),
        Field("times", T::Integer,
              "number of runs; 1 when neither it nor `every` is given, with `every` alone as many as begin "
              "before `observe.until`")
            .between(1, most_runs),
        Field("ends", T::Choice, "how the transaction ends")
            .one_of({"commit", "rollback"})
            .otherwise("commit"),
        Field(
            "prepared_for", T::Duration,
            "it ends with PREPARE TRANSACTION, and so much later with COMMIT PREPARED (or ROLLBACK PREPARED)")
            .between(0, longest_s),
        Field("sessions", T::Integer, "so many clients run it at the same time, step by step")
            .between(1, 1e5)
            .otherwise("1"),
        Field("rate", T::EventRate, "how often a transaction begins").between(1e-4, 1e7),
        Field("arrivals", T::Choice, "whether they begin at equal distances or at random")
            .one_of({"fixed", "poisson"})
            .otherwise("fixed"),
        Field("from", T::Duration, "when it begins").between(0, longest_s).otherwise("0s"),
        Field("until", T::Duration, "when it ends; at the end of the run when left out")
            .between(1e-3, longest_s),
        Field("curve", T::ObjectList, "factors on `rate`, in order of time").of("curve_point"),
        Field("curve_period", T::Duration, "the curve starts again after it; left out, the last factor stays")
            .between(1e-3, longest_s),
        Field("other_wal", T::ByteRate, "WAL that other databases of the server write").between(1, terabyte),
        Field("replay", T::Object, "transactions as a server once ran them, from a file").of("replay")}});
  const auto catalog = catalog_load_fields();
  out.back().fields.insert(out.back().fields.end(), catalog.begin(), catalog.end());
  const auto clients = client_load_fields();
  out.back().fields.insert(out.back().fields.end(), clients.begin(), clients.end());
  out.push_back(
      {"replay",
       "file",
       {Field("file", T::Path, "the list of transactions, as `replisim import` writes it").needed(),
        Field("speed", T::Number, "how many times faster than recorded").between(1e-3, 1e3).otherwise("1")}});
  out.push_back(
      {"curve_point",
       "",
       {Field("at", T::Duration, "from this time of the run on").needed().between(0, longest_s),
        Field("factor", T::Number, "`rate` is multiplied by it; 0 is a pause").needed().between(0, 1e4)}});
  out.push_back({"background",
                 "",
                 {Field("host", T::Name, "the host it runs on").named_in("hosts").needed(),
                  Field("cores", T::Number, "share of one core it wants").needed().between(0.001, 1)}});
}

void add_steps(Objects& out) {
  out.push_back(
      {"step",
       "",
       {Field("insert", T::Name, "INSERT of `rows` rows").named_in("tables"),
        Field("update", T::Name, "UPDATE of `rows` rows").named_in("tables"),
        Field("delete", T::Name, "DELETE of `rows` rows").named_in("tables"),
        Field("rows", T::Integer, "rows the statement changes").between(1, most_rows),
        Field(
            "set", T::Assignments,
            "columns an UPDATE assigns and their new values, where they change sizes; a value stored out of "
            "line is written anew only when it is among them"),
        Field("on_conflict", T::Flag,
              "INSERT ... ON CONFLICT: each row is inserted on approval and confirmed")
            .otherwise("off")
            .mirrors("INSERT ... ON CONFLICT"),
        Field("rolled_back", T::Percent,
              "this share of the rows, the last ones, stands after a savepoint that is rolled back; "
              "0% means no savepoint")
            .between(0, 1)
            .otherwise("0%"),
        Field("savepoint", T::Text, "SAVEPOINT of this name"),
        Field("rollback_to", T::Text, "ROLLBACK TO the savepoint of this name"),
        Field("release", T::Text, "RELEASE of the savepoint of this name"),
        Field("pause", T::Duration, "the session does nothing for so long, its transaction open")
            .between(1e-6, longest_s)}});
}

void add_run(Objects& out) {
  out.push_back({"simulation",
                 "",
                 {Field("time_resolution", T::WordOrDuration,
                        "work of one batch of changes; auto is a fixed fraction of the expected run")
                      .one_of({"auto"})
                      .between(1e-6, 3600)
                      .otherwise("auto")}});
  out.push_back({"observe",
                 "",
                 {Field("until", T::WordOrDuration,
                        "when the run ends: caught_up is when every commit has been received and applied "
                        "everywhere")
                      .one_of({"caught_up"})
                      .between(1e-3, longest_s)
                      .otherwise("caught_up"),
                  Field("interval", T::Duration, "distance of timeline samples")
                      .between(1e-3, 3600)
                      .otherwise("50ms")}});
  out.push_back({"break_even",
                 "",
                 {Field("metric", T::Choice, "the metric that is to be equal")
                      .one_of({"total_s", "statement_s", "commit_s", "lock_hold_s", "wal_bytes",
                               "spill_bytes", "peak_spill_file_bytes", "peak_sub_tmp_file_bytes"})
                      .otherwise("total_s"),
                  Field("between", T::Pair,
                        "one field path and its two values, for example "
                        "{subscriptions.s.streaming: [off, parallel]}")
                      .needed(),
                  Field("over", T::Text, "path of the quantity that is searched").needed(),
                  Field("range", T::Range, "lowest and highest value tried, as a list of two").needed()}});
}

Objects build_objects() {
  Objects out;
  out.push_back(scenario_root());
  add_hosts(out);
  add_servers(out);
  add_tables(out);
  add_replication(out);
  add_subscriptions(out);
  add_receiver_objects(out);
  add_event_objects(out);
  add_catalog_objects(out);
  add_client_objects(out);
  add_workload(out);
  add_steps(out);
  add_session_objects(out);
  add_run(out);
  add_statistics_objects(out);
  add_plan_objects(out);
  add_profile_objects(out);
  return out;
}

} // namespace

const FieldDescriptor* ObjectDescriptor::find(std::string_view field) const {
  const auto found = std::find_if(fields.begin(), fields.end(),
                                  [field](const FieldDescriptor& f) { return f.name == field; });
  return found == fields.end() ? nullptr : &*found;
}

const std::vector<ObjectDescriptor>& scenario_objects() {
  static const Objects objects = build_objects();
  return objects;
}

const ObjectDescriptor& object_of(std::string_view name) {
  const auto& objects = scenario_objects();
  const auto found = std::find_if(objects.begin(), objects.end(),
                                  [name](const ObjectDescriptor& object) { return object.name == name; });
  REPLISIM_REQUIRE(found != objects.end(), "no object '{}' in the format", name);
  return *found;
}

} // namespace replisim
