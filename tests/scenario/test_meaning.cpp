// What the loader makes of a scenario without mistakes.
#include "tests/scenario/scenario_files.hpp"

#include "sim/scenario/descriptors.hpp"
#include "sim/scenario/field_value.hpp"

#include <catch2/catch.hpp>

#include <set>

using namespace replisim;
using namespace replisim::test;

TEST_CASE("a small scenario, field by field") {
  const Scenario s = load_text(replaced(sound, "rows: 100}", "rows: 1_000_000, secondary_indexes: 2}") +
                               "links: []\n"
                               "background: {sampler: {host: db, cores: 0.25}}\n"
                               "simulation: {time_resolution: 20ms}\n");
  CHECK(s.name == "a test");
  CHECK(s.profile.name == "lab-2core");
  CHECK(s.time_resolution_s == 0.02);
  CHECK(s.hosts.at("db").cpus() == 2);
  CHECK(s.hosts.at("db").memory_bytes == 24LL * 1024 * 1024 * 1024);
  REQUIRE(s.hosts.at("db").disks.size() == 1);
  CHECK(s.hosts.at("db").disks[0].fsync_latency_s == Approx(0.46e-3));
  CHECK(s.hosts.at("db").disks[0].write_bandwidth_bytes_per_s == Approx(300.0 * 1024 * 1024));
  CHECK(s.servers.at("pub").version.major == 17);
  CHECK(s.servers.at("pub").version.minor == latest_minor(17));
  CHECK_FALSE(s.servers.at("pub").checkpoint_before_workload);
  const Table& t = s.tables.at("t");
  CHECK(t.schema == "public");
  CHECK(t.initial_rows == 1'000'000);
  CHECK(t.secondary_indexes == 2);
  REQUIRE(t.columns.size() == 2);
  CHECK(t.columns[1].name == "b");
  CHECK(t.columns[1].type == ColumnType::Text);
  CHECK(t.columns[1].width_bytes == 32);
  CHECK(t.primary_key == std::vector<int>{0});
  CHECK(s.publications.at("p").tables == Lines{"t"});
  CHECK(s.subscriptions.at("s").server == "sub");
  CHECK_FALSE(s.subscriptions.at("s").binary);
  REQUIRE(s.batches.size() == 1);
  CHECK(s.batches[0].at_s == 0);
  REQUIRE(s.background.size() == 1);
  CHECK(s.background[0].cores == 0.25);
  CHECK(s.observe.interval_s == Approx(0.05));
}

TEST_CASE("a limit is allowed in every unit it can be written in") {
  for (const char* limit : {"60us", "60000ns", "0.06ms", "0.00006s"}) {
    const Scenario s = load_text(replaced(
        sound, "profile: lab-2core",
        std::string("profile: {name: lab-2core, parameters: {apply: {insert_row: ") + limit + "}}}"));
    CHECK(s.profile.costs.apply_insert_row_s == Approx(60e-6).epsilon(1e-12));
  }
}

TEST_CASE("the key of one integer column is a sequence unless the file says otherwise") {
  const auto key_value = [](const std::string& columns, const std::string& key) {
    return load_text(replaced(sound, "columns: {a: int4, b: text(32)}, primary_key: [a]",
                              "columns: {" + columns + "}, primary_key: [" + key + "]"))
        .tables.at("t")
        .columns[0]
        .value;
  };
  CHECK(key_value("a: int4", "a").kind == ColumnValue::Kind::Sequence);
  CHECK(key_value("a: {type: int8, value: typical}", "a").kind == ColumnValue::Kind::Typical);
  CHECK(key_value("a: int4, b: int4", "a, b").kind == ColumnValue::Kind::Typical);
  CHECK(key_value("a: uuid", "a").kind == ColumnValue::Kind::Typical);
  CHECK(key_value("a: {type: bigint, value: -7}", "a").constant == -7);
}

TEST_CASE("columns keep the order of the file") {
  const Scenario s = load_text(replaced(sound, "{a: int4, b: text(32)}", "{z: int8, a: int4, m: bool}"));
  const Table& t = s.tables.at("t");
  CHECK(t.columns[0].name == "z");
  CHECK(t.columns[1].name == "a");
  CHECK(t.columns[2].name == "m");
  CHECK(t.primary_key == std::vector<int>{1});
}

TEST_CASE("a leading zero is no octal number") {
  CHECK(load_text(replaced(sound, "rows: 100}", "rows: 010}")).tables.at("t").initial_rows == 10);
  CHECK(errors_of(replaced(sound, "rows: 100}", "rows: 0x10}")).size() == 1);
  CHECK(errors_of(replaced(sound, "rows: 100}", "rows: 1e3}")).size() == 1);
  CHECK(errors_of(replaced(sound, "rows: 100}", "rows: 5M}")).size() == 1);
  CHECK(errors_of(replaced(sound, "rows: 100}", "rows: _5}")).size() == 1);
  CHECK(errors_of(replaced(sound, "rows: 100}", "rows: 5_}")).size() == 1);
  CHECK(errors_of(replaced(sound, "rows: 100}", "rows: -1}")).size() == 1);
  CHECK(errors_of(replaced(sound, "rows: 100}", "rows: 99999999999999999999}")).size() == 1);
}

TEST_CASE("streaming is what was written, or the default of the subscriber's version") {
  const auto streaming = [](const std::string& pub, const std::string& sub, const std::string& option) {
    std::string text =
        replaced(sound, "pub: {host: db, version: 17}", "pub: {host: db, version: " + pub + "}");
    text = replaced(text, "sub: {host: db, version: 17}", "sub: {host: db, version: " + sub + "}");
    text = replaced(text, "publication: p}", "publication: p" + option + "}");
    return to_string(load_text(text).subscriptions.at("s").streaming);
  };
  CHECK(streaming("17", "17", "") == "off");
  CHECK(streaming("18", "18", "") == "parallel");
  CHECK(streaming("15", "18", "") == "on");
  CHECK(streaming("13", "18", "") == "off");
  CHECK(streaming("17", "17", ", streaming: on") == "on");
  CHECK(streaming("17", "17", ", streaming: true") == "on");
  CHECK(streaming("18", "18", ", streaming: off") == "off");
  CHECK(streaming("18", "18", ", streaming: false") == "off");
}

TEST_CASE("rolled_back is a savepoint before the last rows and the way back to it") {
  const auto steps = [](const std::string& step) {
    return load_text(replaced(sound, "{insert: t, rows: 10}", step)).batches.at(0).transaction;
  };
  const auto rows = [](const TransactionStep& step) { return std::get<StatementStep>(step).rows; };

  const auto fifth = steps("{insert: t, rows: 10, rolled_back: 20%}");
  REQUIRE(fifth.size() == 4);
  CHECK(rows(fifth[0]) == 8);
  CHECK(rows(fifth[2]) == 2);
  CHECK(std::get<SavepointStep>(fifth[1]).name == std::get<RollbackToStep>(fifth[3]).savepoint);

  CHECK(steps("{insert: t, rows: 10, rolled_back: 0%}").size() == 1);
  const auto all = steps("{insert: t, rows: 10, rolled_back: 100%}");
  REQUIRE(all.size() == 3);
  CHECK(rows(all[1]) == 10);
  const auto rounded = steps("{delete: t, rows: 3, rolled_back: 50%}");
  CHECK(rows(rounded[0]) == 1);
  CHECK(rows(rounded[2]) == 2);
  CHECK(std::get<StatementStep>(rounded[2]).operation == Operation::Delete);
}

TEST_CASE("an update's assignments are columns and values") {
  const Scenario s =
      load_text(replaced(replaced(sound, "b: text(32)", "b: text(32), d: {type: int8, value: 999}"),
                         "{insert: t, rows: 10}", "{update: t, rows: 10, set: {d: 1000}}"));
  CHECK(s.tables.at("t").columns[2].value.constant == 999);
  const auto& step = std::get<StatementStep>(s.batches[0].transaction[0]);
  CHECK(step.operation == Operation::Update);
  REQUIRE(step.assignments.size() == 1);
  CHECK(step.assignments[0].column == 2);
  CHECK(step.assignments[0].value.constant == 1000);
}

TEST_CASE("a host is a machine with what the scenario overrides") {
  const std::string text =
      replaced(sound, "{db: lab-2core}", "{db: {machine: lab-2core, cores_per_socket: 8, speed: 1.5}}");
  const Machine machine = load_text(text).hosts.at("db");
  CHECK(machine.name == "lab-2core");
  CHECK(machine.cpus() == 8);
  CHECK(machine.speed == 1.5);
  CHECK(machine.disks.size() == 1);
  CHECK(load_text(sound).hosts.at("db").speed == 1.0);
  CHECK(errors_of(replaced(text, "cores_per_socket: 8", "threads_per_core: 2, smt_gain: 3")).size() == 1);
}

TEST_CASE("units written differently mean the same") {
  const auto bytes = [](const std::string& value) {
    return load_text(replaced(sound, "version: 17}",
                              "version: 17, settings: {logical_decoding_work_mem: " + value + "}}"))
        .servers.at("pub")
        .settings.bytes("logical_decoding_work_mem");
  };
  CHECK(bytes("64kB") == 65536);
  CHECK(bytes("65536B") == 65536);
  CHECK(bytes("64") == 65536);
  CHECK(bytes("64MB") == 64 * 1024 * 1024);
}

TEST_CASE("a link's rate counts bits in thousands, its window has a guessed default") {
  const std::string link = "links: [{between: [db, far], bandwidth: 10Gbps, latency: 0.1ms}]\n";
  const Scenario s = load_text(replaced(sound, "{db: lab-2core}", "{db: lab-2core, far: lab-2core}") + link);
  REQUIRE(s.links.size() == 1);
  CHECK(s.links[0].bandwidth_bytes_per_s == Approx(1.25e9));
  CHECK(s.links[0].latency_s == Approx(1e-4));
  CHECK(s.links[0].window_bytes == 6 * 1024 * 1024);
  const auto is_window = [](const Guess& g) { return g.path == "links[0].window" and g.value == "6MB"; };
  CHECK(std::count_if(s.guesses.begin(), s.guesses.end(), is_window) == 1);
}

TEST_CASE("the hash follows the meaning of a scenario, not its layout") {
  const std::string hash = load_text(sound).hash;
  CHECK(hash.size() == 16);
  CHECK(load_text(sound).hash == hash);
  CHECK(load_text("# a remark\n" + sound + "sweep: {observe.interval: [1s, 2s]}\n").hash == hash);
  CHECK(load_text(replaced(sound, "{host: db, version: 17}", "{version: 17, host: db}")).hash == hash);
  CHECK(load_text(replaced(sound, "{db: lab-2core}", "{db: {machine: lab-2core}}")).hash == hash);
  CHECK(load_text(replaced(sound, "rows: 10}", "rows: 11}")).hash != hash);
  CHECK(load_text(replaced(sound, "a test", "another test")).hash != hash);
  CHECK(load_text(sound, {{"servers.pub.settings.logical_decoding_work_mem", "1MB"}}).hash != hash);
  CHECK(load_text(sound, {{"profile.parameters.apply.insert_row", "5us"}}).hash != hash);
  // The order of columns is the order in the table.
  CHECK(load_text(replaced(sound, "{a: int4, b: text(32)}", "{b: text(32), a: int4}")).hash != hash);
}

TEST_CASE("every descriptor is complete") {
  std::set<std::string_view> names;
  for (const ObjectDescriptor& object : scenario_objects()) {
    CHECK(names.insert(object.name).second);
    std::set<std::string_view> fields;
    CHECK((object.shorthand.empty() or object.find(object.shorthand) != nullptr));
    for (const FieldDescriptor& field : object.fields) {
      INFO(object.name << "." << field.name);
      CHECK(fields.insert(field.name).second);
      CHECK(not field.sentence.empty());
      CHECK(field.minimum <= field.maximum);
      const bool has_words = field.type == FieldType::Choice or field.type == FieldType::WordOrDuration;
      CHECK(has_words == not field.allowed.empty());
      std::string problem;
      if (not field.default_value.empty())
        CHECK(read_scalar(field, field.default_value, problem).has_value());
      if (not field.object.empty())
        CHECK(object_of(field.object).name == field.object);
    }
  }
}
