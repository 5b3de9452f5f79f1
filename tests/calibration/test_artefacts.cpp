// Fitting to what servers left behind: figures of the lab's files, mistakes, and costs planted in files of
// our own.
#include "calibration/fit/artefact_figures.hpp"
#include "calibration/fit/figures.hpp"
#include "calibration/observe/observe.hpp"
#include "calibration/suites/streaming_cells.hpp"
#include "planted.hpp"

#include "sim/run/run_simulation.hpp"
#include "sim/scenario/library_files.hpp"

#include <catch2/catch.hpp>

#include <algorithm>
#include <cmath>

using namespace replisim;
using namespace replisim::planted;

namespace {

const std::string artefacts = "calibration/data/lab/artefacts";

ArtefactRun lab_run(const std::string& scenario, const std::string& streaming) {
  return {.files = {"streaming18-" + scenario + "-64kB-" + streaming + "-r1"},
          .scenario = "scenarios/lab/streaming_" + scenario + ".yaml",
          .overrides = streaming_overrides("64", streaming)};
}

CalibrationData lab_data(std::vector<ArtefactRun> runs) {
  return {.suite = {}, .metrics = {}, .artefacts = artefacts, .runs = std::move(runs)};
}

Suite suite_of(const ArtefactRun& run) { return artefact_suite(lab_data({run}), {}, library); }

const Cell& cell_of(const Suite& suite, const std::string& id) {
  const auto found =
      std::find_if(suite.cells.begin(), suite.cells.end(), [&](const Cell& one) { return one.id == id; });
  INFO(id);
  REQUIRE(found != suite.cells.end());
  return *found;
}

const std::string artefact_head = "replisim_calibration: 1\nname: here\nextends: lab-2core\nmachine: "
                                  "lab-2core\nserver_version: 18\nabout: x\n"
                                  "parameters: {apply: {insert_row: {}}}\n";

/// A stderr log line of a server whose clock is `ahead_s` before the right one.
std::string log_line(double at_s, double ahead_s, const std::string& rest) {
  const auto ms = static_cast<long>(std::lround((at_s + ahead_s) * 1000));
  return fmt::format("2026-11-30 09:{:02}:{:02}.{:03} UTC {}\n", 30 + ms / 60000, ms / 1000 % 60, ms % 1000,
                     rest);
}

/// Both servers' logs of a run; the subscriber's clock is 7.5 s ahead.
void write_logs(const Folder& folder, const std::string& run, const std::string& streaming) {
  const std::string banner =
      "LOG:  starting PostgreSQL 18.4 on x86_64-pc-linux-gnu, compiled by gcc 12, 64-bit";
  const std::string start = fmt::format(
      "START_REPLICATION SLOT \"s\" LOGICAL 0/0 (proto_version '4', streaming '{}', origin 'any', "
      "publication_names '\"p\"')",
      streaming);
  folder.write(
      run + ".pub.log",
      log_line(1, 0, "[10] postmaster " + banner) +
          log_line(2.01, 0,
                   "[20] walsender postgres@postgres s LOG:  received replication command: " + start));
  const std::string started = "LOG:  logical replication apply worker for subscription \"s\" has started";
  folder.write(run + ".sub.log",
               log_line(1, 7.5, "[11] postmaster " + banner) +
                   log_line(2, 7.5, "[21] logical replication apply worker " + started) +
                   log_line(2.4, 7.5, "[22] logical replication parallel worker " + started));
}

/// A run's timeline as a sampler writes it: CPU seconds in steps of 10 ms and off by `noise` each, samples
/// missing, a rest at the end.
void write_timeline(const Folder& folder, const std::string& run, const Timeline& timeline,
                    const std::function<double()>& noise) {
  std::string text = fmt::format("{}\n", fmt::join(timeline.columns, ","));
  std::vector<double> factors;
  for (std::size_t i = 0; i < timeline.columns.size(); ++i)
    factors.push_back(noise());
  auto rows = timeline.rows;
  for (int i = 0; i < 4; ++i) {
    rows.push_back(rows.back());
    rows.back()[0] += 0.05;
  }
  for (std::size_t k = 0; k < rows.size(); ++k) {
    const bool is_gap = k % 9 == 5 or (k > 20 and k < 26);
    if (is_gap and k + 4 < rows.size())
      continue;
    for (std::size_t i = 0; i < rows[k].size(); ++i) {
      const bool is_cpu = timeline.columns[i].starts_with("cpu_");
      const double value = is_cpu ? std::floor(rows[k][i] * factors[i] * 100) / 100 : rows[k][i];
      text += fmt::format("{}{:.4f}", i == 0 ? "" : ",", value);
    }
    text += '\n';
  }
  folder.write(run + ".timeline.csv", text);
}

} // namespace

TEST_CASE("a spec takes its figures from a suite or from artefacts") {
  const std::string runs = "runs: [{files: [r1], scenario: x.yaml, set: [a=1]}]";
  const CalibrationSpec spec =
      read_spec(artefact_head + "data: [{artefacts: over/there, metrics: [total_s], " + runs + "}]\n");
  CHECK(spec.data[0].name() == "over/there");
  CHECK(spec.data[0].runs[0].files == std::vector<std::string>{"r1"});
  CHECK(spec.data[0].runs[0].overrides == std::vector<std::string>{"a=1"});
  const auto mistake = [&](const std::string& data) {
    return error_of([&] { read_spec(artefact_head + "data: [{metrics: [total_s], " + data + "}]\n"); });
  };
  CHECK_THAT(mistake("suite: a, artefacts: b, " + runs), Catch::Contains("from a `suite` or from a folder"));
  CHECK_THAT(mistake("only: [x]"), Catch::Contains("from a `suite` or from a folder"));
  CHECK_THAT(mistake("artefacts: b"), Catch::Contains("data.runs: is missing"));
  CHECK_THAT(mistake("suite: a, " + runs), Catch::Contains("belong to `artefacts`"));
}

TEST_CASE("the lab's files give the figures of its table") {
  const ArtefactRun run = lab_run("delete", "parallel");
  const Suite suite = suite_of(run);
  const CsvTable table = read_lab_streaming(library, "lab/streaming_pg18_500k.csv");
  const auto runs = group_repeats(table);
  const auto row = std::find_if(runs.begin(), runs.end(),
                                [](const RepeatedRun& one) { return one.key() == "delete/64/parallel"; });
  REQUIRE(row != runs.end());
  for (const std::string metric :
       {"cpu_pub.walsender_s", "cpu_sub.apply_worker_s", "cpu_sub.parallel_apply_worker_s"}) {
    const Cell& cell = cell_of(suite, run.files[0] + "/" + metric);
    CHECK(cell.measured == Approx(repeats_of(table, *row, metric).front()).margin(0.02));
    CHECK(cell.uncertainty == Approx(0.01));
    CHECK(cell.repeats.size() == 1);
  }
  const Cell& total = cell_of(suite, run.files[0] + "/total_s");
  CHECK(std::abs(total.measured - repeats_of(table, *row, "total_s").front()) <= total.uncertainty + 0.05);
  CHECK(total.uncertainty > 0.02);
}

TEST_CASE("files that are not there or contradict the scenario are no figures") {
  ArtefactRun run = lab_run("insert", "off");
  run.files = {"streaming18-insert-64kB-of-r1"};
  CHECK_THAT(error_of([&] { suite_of(run); }),
             Catch::Contains("did you mean 'streaming18-insert-64kB-off-r1'?"));
  run = lab_run("insert", "off");
  run.overrides = streaming_overrides("64", "parallel");
  CHECK_THAT(error_of([&] { suite_of(run); }),
             Catch::Contains("its log shows streaming off") && Catch::Contains("says parallel"));
  run = lab_run("insert", "off");
  run.overrides.emplace_back("servers.pub.version=17");
  CHECK_THAT(error_of([&] { suite_of(run); }), Catch::Contains("the log of 'pub' is of version 18.4"));
}

TEST_CASE("repeats join to their median") {
  ArtefactRun run = lab_run("insert", "off");
  const std::string other = lab_run("delete", "off").files[0];
  const std::string metric = "/cpu_pub.walsender_s";
  const double one = cell_of(suite_of(run), run.files[0] + metric).measured;
  const double another = cell_of(suite_of(lab_run("delete", "off")), other + metric).measured;
  run.files.push_back(other);
  const Suite suite = suite_of(run);
  const Cell& both = cell_of(suite, run.files[0] + metric);
  CHECK(both.measured == Approx((one + another) / 2));
  CHECK(both.repeats.size() == 2);
  CHECK(both.measured_low == std::min(one, another));
}

TEST_CASE("a sampled figure is known to what its sampling leaves open") {
  Suite suite;
  suite.name = "planted";
  suite.cells = {cell("insert/off", "insert", 2)};
  suite.cells[0].uncertainty = 0.3;
  const CalibrationData data{.suite = "planted", .metrics = {"total_s"}, .error = 0.05};
  const Figures figures = select_figures(data, suite, "");
  CHECK(figures.observations[0].relative_error == Approx(std::sqrt(0.05 * 0.05 + 0.15 * 0.15 / 3)));
}

TEST_CASE("planted costs come back from files with noise, gaps and a clock that is wrong") {
  CostProfile wanted = load_profile("lab-2core", library);
  wanted.costs.apply_insert_row_s *= 1.4;
  wanted.costs.backend_insert_row_s *= 0.7;
  wanted.costs.send_change_s *= 1.25;
  const Folder folder;
  std::uint64_t counter = 0;
  const auto noise = [&] { return std::exp(0.02 * deviate(++counter)); };
  std::string spec = artefact_head + "data:\n  - artefacts: " + folder.path().string() +
                     "\n    metrics: [cpu_pub.backend_s, cpu_pub.walsender_s, "
                     "cpu_sub.apply_worker_s, cpu_sub.parallel_apply_worker_s]\n    error: 3%\n    runs:\n";
  spec.replace(spec.find("{insert_row: {}}"), 16,
               "{insert_row: {}}, backend: {insert_row: {}}, walsender: {send_change: {}}");
  for (const std::string streaming : {"off", "parallel"}) {
    Cell one = cell("x", "insert", 1);
    one.overrides = {"workload.batch.at=300ms", "workload.batch.transaction[0].rows=200000",
                     "subscriptions.s.streaming=" + streaming};
    Scenario scenario = load_cell(one, library);
    scenario.profile = wanted;
    write_timeline(folder, streaming, run_simulation(scenario, 1).timeline, noise);
    write_logs(folder, streaming, streaming);
    spec +=
        fmt::format("      - {{files: [{}], scenario: scenarios/lab/streaming_insert.yaml, set: [\"{}\"]}}\n",
                    streaming, fmt::join(one.overrides, "\", \""));
  }
  const auto report = readers::make_report(readers::read_paths({folder.path()}, {}));
  REQUIRE(report.groups.at(0).clock_offset);
  CHECK(report.groups[0].clock_offset->estimate_s().value() == Approx(-7.5).margin(0.3));
  const std::filesystem::path file = folder.write("here.yaml", spec);
  const Calibration calibration(read_calibration_spec(file, library), library,
                                forked_simulator({.jobs = 2, .progress = {}}));
  const CalibrationResult result = calibration.fit(calibration.options());
  REQUIRE(result.costs.size() == 3);
  for (const FittedCost& cost : result.costs) {
    const double value = effective_cost_s(wanted, *find_cost_parameter(cost.name));
    INFO(cost.name << " " << cost.value << " for " << value);
    CHECK(cost.low() <= value);
    CHECK(cost.high() >= value);
    CHECK(std::abs(std::log(cost.value / value)) < 0.1);
  }
}

TEST_CASE("costs fitted to files alone are those fitted to the table, within 15 %") {
  const CostProfile table = load_profile("lab-2core-64kb", library);
  const CostProfile files = load_profile("lab-2core-artefacts", library);
  REQUIRE(files.fitted.size() >= 8);
  for (const CostParameter& parameter : cost_parameters()) {
    INFO(parameter.name);
    CHECK(effective_cost_s(files, parameter) == Approx(effective_cost_s(table, parameter)).epsilon(0.15));
  }
}
