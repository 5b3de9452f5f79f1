// replisim check, explain-key, schema and init as a user runs them.
#include "tests/cli/program.hpp"

#include <catch2/catch.hpp>

using namespace replisim::test;

TEST_CASE("check lists every mistake of a file, and ends with 2") {
  const ScratchFolder folder;
  const std::string good = (folder / "good.yaml").string();
  REQUIRE(program("init " + good).exit_code == 0);
  const auto bad = folder.write("bad.yaml", read_file(good) + "observe: {intervall: 1s, until: soon}\n");
  const Outcome outcome = program("check " + bad);
  CHECK(outcome.exit_code == 2);
  CHECK_THAT(outcome.out, Catch::Contains("did you mean 'interval'?") and Catch::Contains("observe.until"));
  CHECK_THAT(outcome.out, Catch::Contains("1 file: ") and Catch::Contains(" errors, no warnings"));
}

TEST_CASE("check warns about what is allowed and hardly meant, and ends with 0") {
  const auto warned = [](const std::string& more) {
    const Outcome outcome = program("check scenarios/published/streaming_insert.yaml " + more);
    CHECK(outcome.exit_code == 0);
    return outcome.out;
  };
  CHECK(warned("") == "1 file: no errors, no warnings\n");
  CHECK_THAT(warned("--set subscriptions.s.streaming=parallel "
                    "--set servers.sub.settings.max_parallel_apply_workers_per_subscription=0"),
             Catch::Contains("no parallel apply worker can start"));
  CHECK_THAT(warned("--set servers.pub.settings.max_slot_wal_keep_size=100MB"),
             Catch::Contains("less than the") and Catch::Contains("a checkpoint loses them"));
  CHECK_THAT(warned("--set servers.pub.settings.logical_decoding_work_mem=2000GB"),
             Catch::Contains("together more than the"));
  CHECK_THAT(warned("--set servers.pub.settings.wal_sender_timeout=5s"),
             Catch::Contains("only the keepalives"));
  CHECK_THAT(warned("--guesses"), Catch::Contains("guess: "));
}

TEST_CASE("explain-key knows fields, settings and costs, and the nearest name") {
  CHECK_THAT(program("explain-key subscriptions.*.streaming").out,
             Catch::Contains("one of off, on, parallel") and Catch::Contains("CREATE SUBSCRIPTION"));
  CHECK_THAT(program("explain-key servers.pub.settings.logical_decoding_work_mem").out,
             Catch::Contains("a bare number counts kB") and Catch::Contains("64MB"));
  CHECK_THAT(program("explain-key 'workload.batch.transaction[0].rows'").out,
             Catch::Contains("1 to 1,000,000,000,000"));
  CHECK_THAT(program("explain-key profile.parameters.apply.insert_row").out, Catch::Contains("s per row"));
  const Outcome wrong = program("explain-key servers.pub.setings.max_wal_size");
  CHECK(wrong.exit_code == 2);
  CHECK(wrong.err == "servers.pub.setings.max_wal_size: unknown key 'setings' (did you mean 'settings'?)\n");
  for (const std::string path : {"servers.pub.settings.max_wal_size.foo", "subscriptions.s.streaming.foo",
                                 "profile.parameters.apply.insert_row.x.y"}) {
    const Outcome longer = program("explain-key " + path);
    CHECK(longer.exit_code == 2);
    CHECK_THAT(longer.err, Catch::Contains("nothing lies below"));
  }
  CHECK_THAT(program("explain-key subscriptions..streaming").err, Catch::Contains("is no field path"));
  CHECK(program("explain-key servers.pub.settings.max_wal_sise").exit_code == 2);
  CHECK(program("explain-key profile.parameters.apply.insert_rows").exit_code == 2);
}

TEST_CASE("init writes a scenario that loads, and never over another file") {
  const ScratchFolder folder;
  for (const std::string preset : {"large-transaction", "oltp", "batch-and-oltp"}) {
    const std::string file = (folder / (preset + ".yaml")).string();
    CHECK(program("init " + file + " --preset " + preset).exit_code == 0);
    CHECK(program("check " + file).exit_code == 0);
    const Outcome again = program("init " + file);
    CHECK(again.exit_code == 2);
    CHECK_THAT(again.err, Catch::Contains("is there already"));
  }
  const std::string asked = (folder / "asked.yaml").string();
  CHECK(shell("printf '16\n8\n\n\n\non\n' | \"$REPLISIM\" init " + asked + " --ask").exit_code == 0);
  CHECK_THAT(read_file(asked), Catch::Contains("version: 16") and Catch::Contains("streaming: on"));
  const std::string refused = (folder / "refused.yaml").string();
  const Outcome no = shell("printf '16\n8\n\n\n\nsideways\n' | \"$REPLISIM\" init " + refused + " --ask");
  CHECK(no.exit_code == 2);
  CHECK_THAT(no.err, Catch::Contains("sideways"));
  CHECK_FALSE(std::filesystem::exists(refused));
  CHECK_THAT(program("init x.yaml --preset olpt").err, Catch::Contains("did you mean 'oltp'?"));
}
