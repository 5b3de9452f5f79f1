// Consumers, row filters, and publishers without readers.
#include "tests/scenario/scenario_files.hpp"

#include <catch2/catch.hpp>

#include <algorithm>

using namespace replisim;
using namespace replisim::test;

namespace {

std::string with_consumer(const std::string& fields) {
  return sound + "consumers: {c: {publication: p, host: db" + (fields.empty() ? "" : ", " + fields) + "}}\n";
}

Consumer consumer(const std::string& fields) { return load_text(with_consumer(fields)).consumers.at("c"); }

Lines errors(const std::string& fields) { return errors_of(with_consumer(fields)); }

bool guesses(const Scenario& scenario, const std::string& path, const std::string& value) {
  return std::any_of(scenario.guesses.begin(), scenario.guesses.end(),
                     [&](const Guess& guess) { return guess.path == path and guess.value == value; });
}

} // namespace

TEST_CASE("a consumer, field by field") {
  const Consumer plain = consumer("");
  CHECK(plain.name == "c");
  CHECK(plain.publication == "p");
  CHECK(plain.host == "db");
  CHECK(plain.cost_per_change_s == Approx(20e-6));
  CHECK(plain.buffer_bytes == 1024 * 1024);
  CHECK(plain.streaming == Streaming::Off);
  CHECK(plain.confirms == Consumer::Confirms::EachCommit);
  CHECK_FALSE(plain.feedback_in_transaction);
  CHECK(plain.confirms_keepalives);
  CHECK(plain.reconnect_delay_s == 1);
  CHECK(plain.connected_from_s == 0);
  CHECK(plain.connected_until_s == 0);
  CHECK(plain.connects_every_s == 0);

  const Consumer full = consumer("cost_per_change: 5us, buffer: 64kB, streaming: on, confirms: interval, "
                                 "confirm_interval: 10s, feedback_in_transaction: true, confirms_keepalives: "
                                 "false, reconnect_delay: 3s, connects_every: 10min");
  CHECK(full.cost_per_change_s == Approx(5e-6));
  CHECK(full.buffer_bytes == 65536);
  CHECK(full.streaming == Streaming::On);
  CHECK(full.confirms == Consumer::Confirms::Interval);
  CHECK(full.confirm_interval_s == 10);
  CHECK(full.feedback_in_transaction);
  CHECK_FALSE(full.confirms_keepalives);
  CHECK(full.reconnect_delay_s == 3);
  CHECK(full.connects_every_s == 600);
  CHECK(consumer("confirms: never").confirms == Consumer::Confirms::Never);
}

TEST_CASE("defaults of a consumer that are guesses are listed with the others") {
  const Scenario plain = load_text(with_consumer(""));
  CHECK(guesses(plain, "consumers.c.cost_per_change", "20us"));
  CHECK(guesses(plain, "consumers.c.buffer", "1MB"));
  const Scenario stated = load_text(with_consumer("cost_per_change: 20us, buffer: 1MB"));
  CHECK_FALSE(guesses(stated, "consumers.c.cost_per_change", "20us"));
  CHECK_FALSE(guesses(stated, "consumers.c.buffer", "1MB"));
}

TEST_CASE("a consumer confirms by an interval or does not name one") {
  CHECK(
      errors("confirms: interval") ==
      Lines{"12:53 consumers.c.confirm_interval: `confirm_interval` is missing: how often it confirms, with "
            "`confirms: interval`"});
  CHECK(errors("confirm_interval: 10s") ==
        Lines{"12:61 consumers.c.confirm_interval: goes with `confirms: interval` only; here `confirms` is "
              "each_commit"});
  CHECK(errors("confirms: sometimes") ==
        Lines{"12:53 consumers.c.confirms: 'sometimes' is none of each_commit, interval, never"});
  CHECK(errors("streaming: parallel") == Lines{"12:54 consumers.c.streaming: 'parallel' is none of off, on"});
}

TEST_CASE("a consumer is connected for one span or by a timetable") {
  const std::string ends = "observe: {until: 2h}\n";
  const Consumer span =
      load_text(with_consumer("connected_from: 1min, connected_until: 1h") + ends).consumers.at("c");
  CHECK(span.connected_from_s == 60);
  CHECK(span.connected_until_s == 3600);
  CHECK(errors("connected_until: 1h") == Lines{"12:60 consumers.c.connected_until: c may never catch up once "
                                               "it reads no more, so the run would not "
                                               "end; give `observe.until` a duration"});
  CHECK(errors_of(with_consumer("connected_from: 1h, connected_until: 1h") + ends) ==
        Lines{"12:80 consumers.c.connected_until: 1h is not after `connected_from`, 1h"});
  CHECK(errors("connects_every: 10min, connected_from: 1h") ==
        Lines{"12:82 consumers.c.connected_from: `connected_from` does not go with `connects_every`: a "
              "consumer is "
              "connected for one span of time or by a timetable"});
}

TEST_CASE("a consumer's slot has a name of its own, its host a link") {
  CHECK(errors_of(sound + "consumers: {s: {publication: p, host: db}}\n") ==
        Lines{"12:16 consumers.s: a subscription is named s too; each has a slot of that name"});
  CHECK(errors_of(sound + "consumers: {c: {publication: p, host: dc}}\n") ==
        Lines{"12:39 consumers.c.host: unknown host 'dc' (did you mean 'db'?)"});
  const std::string far = replaced(sound, "{db: lab-2core}", "{db: lab-2core, far: lab-2core}") +
                          "consumers: {c: {publication: p, host: far}}\n";
  CHECK(errors_of(far) ==
        Lines{"12:16 consumers.c: pub on host db and c on host far replicate, but no link joins "
              "the hosts; add one to `links`"});
  CHECK(errors_of(far + "links: [{between: [far, db], bandwidth: 1Gbps, latency: 1ms}]\n").empty());
}

TEST_CASE("streaming to a consumer needs version 14") {
  const auto with = [](const std::string& version) {
    return errors_of(replaced(with_consumer("streaming: on"), "pub: {host: db, version: 17}",
                              "pub: {host: db, version: " + version + "}"));
  };
  CHECK(with("14").empty());
  CHECK(with("13.2") ==
        Lines{"12:54 consumers.c.streaming: on needs a publisher of PostgreSQL 14 or later; pub is "
              "version 13.2"});
}

TEST_CASE("a scenario needs no subscription, but somebody should read") {
  const std::string none = replaced(sound, "subscriptions: {s: {server: sub, publication: p}}\n", "");
  const Lines nobody = {
      "nobody reads: there are neither subscriptions nor consumers, so nothing is decoded and "
      "nothing is sent"};
  CHECK(load_text(none).warnings == nobody);
  CHECK(load_text(none + "subscriptions: {}\n").warnings == nobody);
  const Scenario read = load_text(none + "consumers: {c: {publication: p, host: db}}\n");
  CHECK(read.warnings.empty());
  CHECK(read.subscriptions.empty());
  CHECK(read.consumers.size() == 1);
  CHECK(errors_of(none + "subscription: {s: {server: sub, publication: p}}\n") ==
        Lines{"11:1 subscription: unknown key 'subscription' (did you mean 'subscriptions'?)"});
}

TEST_CASE("row filters are of tables that the publication holds") {
  const auto with = [](const std::string& filters) {
    return replaced(sound, "tables: [t]}", "tables: [t], row_filters: {" + filters + "}}");
  };
  const Scenario full = load_text(with("t: {passes: 10%, cost: 5us}"));
  REQUIRE(full.publications.at("p").row_filters.size() == 1);
  CHECK(full.publications.at("p").row_filters.at("t").passes == 0.1);
  CHECK(full.publications.at("p").row_filters.at("t").cost_s == Approx(5e-6));
  CHECK_FALSE(guesses(full, "publications.p.row_filters.t.cost", "1us"));
  const Scenario brief = load_text(with("t: 25%"));
  CHECK(brief.publications.at("p").row_filters.at("t").passes == 0.25);
  CHECK(brief.publications.at("p").row_filters.at("t").cost_s == Approx(1e-6));
  CHECK(guesses(brief, "publications.p.row_filters.t.cost", "1us"));
  CHECK(load_text(with("t: {cost: 2us}")).publications.at("p").row_filters.at("t").passes == 1);
  CHECK(load_text(sound).publications.at("p").row_filters.empty());

  CHECK(errors_of(with("u: 10%")) ==
        Lines{"9:60 publications.p.row_filters.u: the publication does not hold table "
              "'u' (allowed: t)"});
  CHECK(errors_of(with("t: 110%")) ==
        Lines{"9:63 publications.p.row_filters.t.passes: 110% is out of range; allowed: 0% to 100%"});
  CHECK(
      errors_of(replaced(with("t: 10%"), "pub: {host: db, version: 17}", "pub: {host: db, version: 14.2}")) ==
      Lines{"9:59 publications.p.row_filters: row filters exist from PostgreSQL 15 on; pub is version 14.2"});
}
