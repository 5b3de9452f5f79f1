// Ten pipelines with a planted bottleneck: the verdict names it, and no longer once it is widened.
#include "sim/run/run_simulation.hpp"
#include "sim/scenario/loader.hpp"
#include "test_paths.hpp"

#include <catch2/catch.hpp>

using namespace replisim;

namespace {

struct Planted {
  std::string file;
  std::string slot;
  std::string stage, activity; ///< the verdict's
  std::string state;           ///< how the slot stands
  std::string wider;           ///< override that takes the bottleneck away
};

const std::vector<Planted>& planted() {
  static const std::vector<Planted> all = {
      {"01_backend", "s", "pub.backend", "", "keeping up", "profile.parameters.backend.insert_row=2.7us"},
      {"02_wal_disk", "s", "pub.wal_disk", "", "caught up in the end",
       "hosts.a.disks=[{name: wal, fsync_latency: 2ms, write_bandwidth: 500MB/s, read_bandwidth: 500MB/s}]"},
      {"03_decoding", "s", "pub.walsender", "decoding", "falling behind",
       "workload.neighbours.other_wal=30MB/s"},
      {"04_spill_files", "s", "pub.walsender", "spill files", "falling behind",
       "servers.pub.settings.logical_decoding_work_mem=1GB"},
      {"05_bandwidth", "s", "network", "bandwidth", "falling behind", "links[0].bandwidth=1Gbps"},
      {"06_window", "s", "network", "window", "falling behind", "links[0].window=6MB"},
      {"07_apply_worker", "s", "sub.apply_worker", "", "falling behind",
       "profile.parameters.apply.insert_row=4.42us"},
      {"08_parallel_apply_worker", "s", "sub.parallel_apply_worker", "", "caught up in the end",
       "profile.parameters.apply.insert_row=1us"},
      {"09_consumer", "cdc", "cdc.consumer", "", "falling behind", "consumers.cdc.cost_per_change=5us"},
      {"10_row_filter", "s", "pub.walsender", "row filters", "falling behind",
       "publications.p.row_filters.test_tab.cost=0.5us"}};
  return all;
}

Verdict verdict_of(const Planted& bottleneck, const std::vector<Override>& overrides) {
  Library library;
  library.root = REPLISIM_SOURCE_DIR;
  const auto file = library.root / "scenarios/bottlenecks" / (bottleneck.file + ".yaml");
  return run_simulation(load_scenario(file, overrides, library), 1).verdicts.at(bottleneck.slot);
}

} // namespace

TEST_CASE("a planted bottleneck is named by the verdict") {
  for (const Planted& bottleneck : planted()) {
    const Verdict verdict = verdict_of(bottleneck, {});
    INFO(bottleneck.file << ": " << verdict.text);
    CHECK(verdict.state == bottleneck.state);
    CHECK(verdict.stage == bottleneck.stage);
    CHECK(verdict.activity == bottleneck.activity);
    CHECK(verdict.busy > 0.8);
    CHECK(verdict.next_stage + verdict.next_activity != verdict.stage + verdict.activity);
    CHECK(verdict.next_busy <= verdict.busy);
    CHECK_THAT(verdict.text, Catch::StartsWith(verdict.state + "; " + verdict.stage));
  }
}

TEST_CASE("a bottleneck that was widened is no longer named") {
  for (const Planted& bottleneck : planted()) {
    const Verdict verdict = verdict_of(bottleneck, {parse_override(bottleneck.wider)});
    INFO(bottleneck.file << ", " << bottleneck.wider << ": " << verdict.text);
    CHECK((verdict.stage != bottleneck.stage or verdict.activity != bottleneck.activity or
           verdict.state == "keeping up"));
    CHECK((verdict.stage != bottleneck.stage or verdict.busy < 0.5));
  }
}
