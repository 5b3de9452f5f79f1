// Specs, and fits of suites against a simulator that knows its own costs.
#include "calibration/fit/calibration_report.hpp"
#include "calibration/fit/figures.hpp"
#include "calibration/fit/profile_check.hpp"
#include "calibration/fit/profile_writer.hpp"
#include "tests/calibration/planted.hpp"

#include "sim/scenario/library_files.hpp"

#include <catch2/catch.hpp>

#include <cmath>
#include <limits>

using namespace replisim;
using namespace replisim::planted;

namespace {

/// What serial() gives for 2 us a decoded change, 5 us an insert, 8 us a delete.
Suite two_runs(const std::string& name) {
  Suite suite;
  suite.name = name;
  suite.cells = {cell("insert/off", "insert", 7), cell("delete/off", "delete", 10)};
  suite.derived = {{.id = "ratio", .measured = 30, .before = 1, .after = 0}};
  return suite;
}

const FittedCost& cost_of(const CalibrationResult& result, const std::string& name) {
  for (const FittedCost& cost : result.costs)
    if (cost.name == name)
      return cost;
  FAIL("no cost " << name);
  throw UsageError(name);
}

CalibrationResult fitted(const std::string& spec_text, const SuiteMaker& suites = two_runs) {
  const Calibration calibration(read_spec(spec_text), library, serial, suites);
  return calibration.fit(calibration.options());
}

const std::string two_applies = head + "stated: {walsender: {decode_change: {value: 2us, provenance: guess, "
                                       "source: as planted}}}\n"
                                       "parameters: {apply: {insert_row: {}, delete_row: {start: 20us}}}\n";

} // namespace

TEST_CASE("a spec is read with its defaults") {
  const CalibrationSpec spec = read_spec(
      head +
      "cpu_speed: {start: 0.7, prior: 30%}\nparameters: {apply: {insert_row: {start: 6us, prior: 20%}}}\n"
      "together: [{costs: [walsender.restore_change, leader.receive_change]}]\n"
      "relations: [{cost: leader.receive_change, to: apply.insert_row, prior: 10%}]\n"
      "derived: [{cost: apply.update_extra, sum_of: [apply.insert_row, apply.delete_row], source: both}]\n");
  CHECK(spec.name == "here");
  CHECK(spec.data[0].error == 0.05);
  CHECK(spec.data[0].ratio_error == 0);
  CHECK(spec.cpu_speed->start_factor == 0.7);
  CHECK(spec.cpu_speed->prior_spread == Approx(0.3));
  REQUIRE(spec.costs.size() == 2);
  CHECK(*spec.costs[0].start_s == Approx(6e-6));
  CHECK(spec.costs[1].names.size() == 2);
  CHECK(spec.costs[1].prior_spread == 0);
  CHECK(spec.relations[0].spread == Approx(0.1));
  CHECK(spec.derived[0].sum_of.size() == 2);
  CHECK(spec.robust_limit == 2);
  CHECK(spec.max_iterations == 30);
}

TEST_CASE("every mistake of a spec is named with its place") {
  const std::string errors = error_of([] {
    read_spec("replisim_calibration: 1\nname: there\nmachine: lab-2cor\nserver_version: 18\nabout: x\n"
              "data: [{suite: lab-streaming, metrics: [total_s], error: 5}]\n"
              "parameters: {apply: {insert_rwo: {start: 5us}}}\n");
  });
  CHECK_THAT(errors, Catch::Contains("here.yaml:2:7: name: 'there' differs from the file's name, 'here'"));
  CHECK_THAT(errors, Catch::Contains("'lab-2cor'") && Catch::Contains("'lab-2core'"));
  CHECK_THAT(errors, Catch::Contains("data[0].error"));
  CHECK_THAT(errors, Catch::Contains("unknown cost 'insert_rwo' of apply (did you mean 'insert_row'?)"));
  CHECK_THAT(error_of([] { read_spec(head); }), Catch::Contains("nothing is fitted"));
  CHECK_THAT(error_of([] {
               read_spec(head + "parameters: {apply: {insert_row: {}}}\n"
                                "together: [{costs: [apply.insert_row, apply.delete_row]}]\n");
             }),
             Catch::Contains("'apply.insert_row' has a place in this spec already"));
  CHECK_THAT(error_of([] {
               read_spec(head + "parameters: {apply: {insert_row: {}}}\n"
                                "relations: [{cost: apply.insert_row, to: apply.delete_row, prior: 10%}]\n");
             }),
             Catch::Contains("'apply.delete_row' is not fitted"));
  CHECK_THAT(error_of([] { read_calibration_spec("/nowhere/spec.yaml", library); }),
             Catch::Contains("there is no file '/nowhere/spec.yaml'"));
}

TEST_CASE("a profile that extends none needs every cost and has no ratio") {
  std::string text =
      head + "cpu_speed: {prior: 10%}\nparameters: {apply: {insert_row: {start: 5us}, delete_row: {}}}\n";
  text.replace(text.find("extends: lab-2core\n"), 19, "");
  const std::string errors = error_of([&] { read_spec(text); });
  CHECK_THAT(errors, Catch::Contains("the profile extends none"));
  CHECK_THAT(errors, Catch::Contains("`start` is missing"));
  CHECK_THAT(errors, Catch::Contains("no value for backend.insert_row"));
}

TEST_CASE("a fit finds the costs its simulator has, as stated") {
  const CalibrationResult result = fitted(two_applies);
  CHECK(cost_of(result, "apply.delete_row").start == Approx(20e-6));
  CHECK(cost_of(result, "apply.insert_row").value == Approx(5e-6).epsilon(1e-3));
  CHECK(cost_of(result, "apply.delete_row").value == Approx(8e-6).epsilon(1e-3));
  CHECK(result.profile.costs.decode_change_s == Approx(2e-6));
  REQUIRE(result.cells.size() == 2);
  CHECK(result.cells[0].id == "planted/insert/off");
  CHECK(result.mape_pct() < 0.1);
  CHECK(result.summary.end != FitEnd::MostIterations);
  // Each total is known to 5 %; 5/7 of it is the insert's.
  CHECK(cost_of(result, "apply.insert_row").spread == Approx(0.05 * 7 / 5).epsilon(0.02));
  CHECK(cost_of(result, "apply.insert_row").determined == "fairly");
}

TEST_CASE("stated costs and sums do not follow cpu_speed, factors do") {
  const Calibration calibration(
      read_spec(
          head +
          "cpu_speed: {}\nparameters: {apply: {insert_row: {}}}\n"
          "stated: {apply: {delete_row: {value: 8us, provenance: guess, source: x}}}\n"
          "derived: [{cost: apply.update_extra, sum_of: [apply.insert_row, apply.delete_row], source: x}]\n"),
      library, serial, two_runs);
  const CostProfile lab = load_profile("lab-2core", library);
  const CostProfile profile = calibration.profile_at({0.5, 1.5});
  const auto cost = [&](const char* name) { return effective_cost_s(profile, *find_cost_parameter(name)); };
  CHECK(cost("apply.insert_row") == Approx(2 * 1.5 * lab.costs.apply_insert_row_s));
  CHECK(cost("apply.delete_row") == Approx(8e-6));
  CHECK(cost("apply.update_extra") == Approx(8e-6 + 3 * lab.costs.apply_insert_row_s));
  CHECK(cost("walsender.decode_change") == Approx(2 * lab.costs.decode_change_s));
  CHECK(cost("latency.wakeup") == Approx(lab.costs.wakeup_latency_s));
  CHECK(calibration.values_of(profile)[0] == Approx(0.5));
  CHECK(calibration.values_of(profile)[1] == Approx(1.5));
}

TEST_CASE("one factor moves several costs, and its interval is theirs") {
  const CalibrationResult result =
      fitted(head + "together: [{costs: [apply.insert_row, apply.delete_row], start: 1.5}]\n");
  const CostProfile lab = load_profile("lab-2core", library);
  CHECK(cost_of(result, "apply.insert_row").start == Approx(1.5 * lab.costs.apply_insert_row_s));
  CHECK(cost_of(result, "apply.insert_row").value / cost_of(result, "apply.delete_row").value ==
        Approx(lab.costs.apply_insert_row_s / lab.costs.apply_delete_row_s));
  CHECK(cost_of(result, "apply.insert_row").together == 1);
  CHECK(cost_of(result, "apply.delete_row").spread == cost_of(result, "apply.insert_row").spread);
}

TEST_CASE("CPU seconds pin costs before wall times are used") {
  // Wall times say twice what the CPU seconds do: something else took the machine's time.
  const auto suites = [](const std::string& name) {
    Suite suite = two_runs(name);
    suite.cells = {cell("insert/total", "insert", 14),
                   cell("insert/decode", "insert", 2, "cpu_pub.walsender_s"),
                   cell("insert/apply", "insert", 5, "cpu_sub.apply_worker_s")};
    return suite;
  };
  std::string text =
      head + "robust_limit: 0\nparameters: {walsender: {decode_change: {}}, apply: {insert_row: {}}}\n";
  text.replace(text.find("[total_s]"), 9, "[total_s, cpu_pub.walsender_s, cpu_sub.apply_worker_s]");
  const CalibrationResult result = fitted(text, suites);
  CHECK(result.pinned_by_cpu);
  // With x and y the logarithms of both costs over 2 and 5 us, the smallest sum of squares of
  // log((2 e^x + 5 e^y) / 14), x and y, all known to 5 % (the clock's step hardly adds), found numerically.
  CHECK(std::log(cost_of(result, "walsender.decode_change").value / 2e-6) == Approx(0.1040).epsilon(0.02));
  CHECK(std::log(cost_of(result, "apply.insert_row").value / 5e-6) == Approx(0.3236).epsilon(0.02));
}

TEST_CASE("improvements count as ratios, whatever cells stand before them") {
  const auto suites = [](const std::string& name) {
    Suite suite = two_runs(name);
    suite.cells.insert(suite.cells.begin(), cell("short", "insert", 0));
    suite.derived = {{.id = "ratio", .measured = 30, .before = 2, .after = 1}};
    return suite;
  };
  std::string text = two_applies;
  text.replace(text.find("[total_s]"), 9, "[total_s], ratios: 2.5%");
  const CalibrationResult result = fitted(text, suites);
  CHECK(result.left_out == 1);
  REQUIRE(result.ratios.size() == 1);
  CHECK(result.ratios[0].measured == Approx(0.7));
  CHECK(result.ratios[0].predicted == Approx(0.7).epsilon(1e-3));
  CHECK_THAT(error_of([&] {
               std::string other = text;
               other.replace(other.find("[total_s]"), 9, "[total_s], exclude: [delete]");
               fitted(other, suites);
             }),
             Catch::Contains("suite 'planted' derives no figure from the cells named"));
}

TEST_CASE("a fit refuses what its suite has not") {
  const auto with = [](const std::string& what) {
    std::string text = two_applies;
    text.replace(text.find("[total_s]"), 9, what);
    return error_of([&] { fitted(text); });
  };
  CHECK(with("[totals_s]") ==
        "suite 'planted' has no cells of the metric 'totals_s' (did you mean 'total_s'?)");
  CHECK(with("[total_s], only: [update/]") ==
        "only 'update/': no cell of suite 'planted' begins so; its first is 'insert/off'");
  CHECK_THAT(with("[total_s], exclude: [insert, delete]"),
             Catch::StartsWith("no cell of suite 'planted' is left to fit to"));
  CHECK_THAT(error_of([&] { fitted(two_applies, {}); }), Catch::Contains("unknown suite 'planted'"));
}

TEST_CASE("a figure's error joins the spec's, the clock's step and the spread of repeats") {
  Suite suite;
  suite.name = "s";
  suite.cells = {cell("a", "insert", 1, "cpu_pub.walsender_s"),
                 cell("b", "insert", 1, "cpu_pub.walsender_s")};
  suite.cells[0].repeats = {std::exp(-0.1), 1, std::exp(0.1)}; // squares 0.02, 2 degrees of freedom
  suite.cells[1].repeats = {std::exp(-0.2), std::exp(0.2)};    // squares 0.08, 1
  CHECK(pooled_spread(suite, "cpu_pub.walsender_s") == Approx(std::sqrt(0.1 / 3)));
  CHECK(pooled_spread(suite, "total_s") == 0);
  const Figures figures =
      select_figures({.suite = "s", .metrics = {"cpu_pub.walsender_s"}, .error = 0.04}, suite, "lab-2core");
  const double clock = 0.01 / std::sqrt(12.0);
  CHECK(figures.observations[0].relative_error ==
        Approx(std::sqrt(0.04 * 0.04 + (0.1 / 3 + clock * clock) / 3)).epsilon(1e-4));
  CHECK(figures.observations[1].relative_error ==
        Approx(std::sqrt(0.04 * 0.04 + (0.1 / 3 + clock * clock) / 2)).epsilon(1e-4));
  CHECK(figures.cells[0].overrides.back() == "profile=lab-2core");
}

TEST_CASE("stated costs print with three digits in the unit that suits") {
  CHECK(format_stated("apply.insert_row", 7e-6) == "7.00us");
  CHECK(format_stated("apply.insert_row", 18.24e-6) == "18.2us");
  CHECK(format_stated("walsender.send_byte", 0.2e-9) == "0.200ns");
  CHECK(format_stated("apply.insert_row", 200e-9) == "200ns");
  CHECK(format_stated("apply.insert_row", 999.7e-9) == "1.00us");
  CHECK(format_stated("latency.worker_start", 10e-3) == "10.0ms");
  CHECK(format_stated("latency.worker_start", 1) == "1.00s");
  CHECK(format_stated("walsender.send_byte", 0) == "0ns");
  CHECK(format_stated("cpu_speed", 0.7334) == "0.733");
}

TEST_CASE("the profile that is written loads as what was fitted") {
  const std::string text =
      head + "cpu_speed: {start: 0.9, prior: 10%}\n"
             "parameters: {apply: {insert_row: {prior: 50%}, update_extra: {prior: 20%}}}\n"
             "stated: {apply: {delete_row: {value: 7us, provenance: measured, source: 'a \"b\": c'}}}\n"
             "derived: [{cost: apply.index_entry, sum_of: [leader.receive_change], source: alike}]\n";
  const CalibrationResult result = fitted(text);
  const Folder folder;
  const std::string written = profile_text(result);
  INFO(written);
  const std::string file = folder.write("here.yaml", written).string();
  const CostProfile loaded = load_profile(file, library);
  CHECK(loaded.name == "here");
  CHECK(loaded.cpu_speed == Approx(result.profile.cpu_speed).epsilon(0.005));
  for (const CostParameter& parameter : cost_parameters())
    CHECK(effective_cost_s(loaded, parameter) ==
          Approx(effective_cost_s(result.profile, parameter)).epsilon(0.01));
  CHECK(loaded.origins.at("apply.insert_row").provenance == Provenance::Fitted);
  CHECK(loaded.origins.at("apply.delete_row").source == "a \"b\": c");
  // No figure of the suite updates: what the prior says is no result of the fit.
  CHECK(loaded.origins.at("apply.update_extra").provenance == Provenance::Guess);
  const Envelope envelope = load_envelope(file, library);
  CHECK(envelope.at("transaction_rows").to == 500000);
  CHECK(envelope.at("row_bytes").from == 80);
  CHECK(envelope.at("server_version").from == 18);
}

TEST_CASE("a profile is checked against what its spec gives") {
  const Calibration calibration(read_spec(two_applies), library, serial, two_runs);
  CalibrationResult result = calibration.fit(calibration.options());
  const Folder folder;
  const auto check = [&](double factor) {
    for (FittedCost& cost : result.costs)
      if (cost.name == "apply.insert_row")
        cost.value *= factor;
    const auto file = folder.write("here.yaml", profile_text(result));
    return check_profile(calibration, file.string(), library, calibration.options());
  };
  const ProfileCheck same = check(1);
  INFO(same.text);
  CHECK(same.ok);
  const ProfileCheck other = check(1.05);
  CHECK_FALSE(other.ok);
  CHECK_THAT(other.text, Catch::Contains("short  apply.insert_row") && Catch::Contains("stated    5.25us") &&
                             Catch::Contains("fitted    5.00us"));
}

TEST_CASE("reports say what was fitted, how well it is known, and what is far off") {
  CalibrationResult result = fitted(two_applies);
  CHECK_THAT(brief_report(result),
             Catch::StartsWith("here: 2 parameters from 2 figures of planted: mean absolute "
                               "error 0.0"));
  result.cells[1].predicted = 12;
  result.costs[0].value = 61e-6;
  result.costs[1].spread = std::numeric_limits<double>::infinity();
  const std::string report = full_report(result);
  CHECK_THAT(report, Catch::Contains("OUTSIDE") && Catch::Contains("undetermined"));
  CHECK_THAT(report, Catch::Contains("+20.00 %") && Catch::Contains("+3.6 times that"));
  CHECK_THAT(report, Catch::Contains("No two parameters are confused."));
  const auto json = report_json(result);
  CHECK(json["converged"] == true);
  CHECK(json["parameters"][1]["high"].is_null());
  CHECK(json["cells"][0]["id"] == "planted/insert/off");
}

TEST_CASE("every spec has its profile: the head and the fitted costs that it names") {
  const auto folder = library.root / "calibration";
  int specs = 0;
  for (const auto& entry : std::filesystem::directory_iterator(folder / "specs")) {
    const std::string name = entry.path().stem().string();
    INFO(name);
    ++specs;
    const CalibrationSpec spec = read_calibration_spec(entry.path(), library);
    std::ifstream file(folder / "profiles" / (name + ".yaml"));
    const std::string text{std::istreambuf_iterator<char>(file), {}};
    CHECK_THAT(text, Catch::Contains("# Made by `replisim calibrate calibration/specs/" + name + ".yaml`"));
    CHECK_THAT(text, Catch::Contains("envelope:"));
    const CostProfile profile = load_profile(name, library);
    CHECK(profile.machine == spec.machine);
    for (const FreeCosts& free : spec.costs)
      for (const std::string& cost : free.names)
        CHECK_THAT(text, Catch::Contains("    " + cost.substr(cost.find('.') + 1) + ": {value: "));
    CHECK((text.find("\ncpu_speed: {value: ") != std::string::npos) == spec.cpu_speed.has_value());
  }
  CHECK(specs >= 4);
}
