// Running and judging user reports, and printing what came out.
#include "calibration/suites/reports.hpp"

#include "calibration/suites/reports_catalogue.hpp"
#include "sim/run/result_json.hpp"
#include "sim/run/simulate.hpp"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

namespace replisim {

namespace {

using Json = nlohmann::ordered_json;

constexpr std::uint64_t run_seed = 1;

/// A result and its outcomes: the latter are no part of an encoded RunResult.
std::string encode(const RunResult& result) {
  nlohmann::json outcomes = nlohmann::json::array();
  for (const Outcome& outcome : result.outcomes)
    outcomes.push_back({outcome.t_s, outcome.kind, outcome.subject, outcome.text});
  const std::string whole = encode_result(result);
  const nlohmann::json both = {{"outcomes", outcomes},
                               {"result", nlohmann::json::binary({whole.begin(), whole.end()})}};
  std::string bytes;
  nlohmann::json::to_cbor(both, bytes);
  return bytes;
}

RunResult decode(const std::string& bytes) {
  const auto both = nlohmann::json::from_cbor(bytes);
  const auto& whole = both.at("result").get_binary();
  RunResult result = decode_result(std::string(whole.begin(), whole.end()));
  result.outcomes.clear();
  for (const auto& entry : both.at("outcomes"))
    result.outcomes.push_back({entry.at(0).get<double>(), entry.at(1).get<std::string>(),
                               entry.at(2).get<std::string>(), entry.at(3).get<std::string>()});
  return result;
}

Scenario load_run(const Report& report, const ReportRun& run, const std::vector<std::string>& extra,
                  const Library& library) {
  std::vector<Override> overrides;
  for (const auto* texts : {&run.overrides, &extra})
    for (const std::string& text : *texts)
      overrides.push_back(parse_override(text));
  Scenario scenario = load_scenario(library.root / report.scenario, overrides, library);
  scenario.name = report.id + ", run '" + run.name + "'"; // for messages
  return scenario;
}

ReportResult judge(const Report& report, const std::vector<ReportRunOutcome>& outcomes) {
  ReportResult judged{report.id, report.sentence, report.scenario, {}, {}};
  ReportResults results;
  for (std::size_t i = 0; i < report.runs.size(); ++i) {
    if (judged.error.empty() and not outcomes[i].error.empty())
      judged.error = fmt::format("run '{}': {}", report.runs[i].name, outcomes[i].error);
    results[report.runs[i].name] = outcomes[i].result;
  }
  judged.checks = report.checks(results);
  return judged;
}

/// Four digits are enough; large numbers are written out.
std::string figure(double value) {
  if (std::isnan(value))
    return "-";
  return std::abs(value) >= 10000 ? format_count(std::llround(value)) : fmt::format("{:.4g}", value);
}

std::string with_unit(double value, const std::string& unit) {
  return unit == "count" or unit == "ratio" ? figure(value) : figure(value) + " " + unit;
}

} // namespace

bool ReportResult::ok() const {
  return error.empty() and std::all_of(checks.begin(), checks.end(), [](const auto& c) { return c.ok(); });
}

std::vector<Report> report_catalogue() {
  return {report_u01(), report_u03(), report_u05(), report_u06(), report_u07(), report_u08(),
          report_u09(), report_u11(), report_u12(), report_u13(), report_u14(), report_u15(),
          report_u18(), report_u20(), report_u21(), report_u22(), report_u23(), report_u24(),
          report_u27(), report_u29(), report_u31(), report_u33(), report_u34()};
}

ReportSimulator forked_report_simulator(PoolOptions options) {
  return [options = std::move(options)](const std::vector<Scenario>& scenarios) {
    std::vector<Job> jobs;
    for (const Scenario& scenario : scenarios)
      jobs.push_back({scenario.name, [&scenario] { return encode(simulate(scenario, run_seed)); }});
    std::vector<ReportRunOutcome> out;
    for (const JobOutcome& outcome : run_forked(jobs, options)) {
      ReportRunOutcome run;
      try {
        run.result = decode(outcome.get());
      } catch (const Interrupted&) {
        throw;
      } catch (const std::exception& e) {
        run.error = e.what();
      }
      out.push_back(std::move(run));
    }
    return out;
  };
}

std::vector<ReportResult> judge_reports(const std::vector<Report>& reports, const Library& library,
                                        const std::vector<std::string>& extra,
                                        const ReportSimulator& simulator) {
  std::vector<Scenario> scenarios;
  for (const Report& report : reports)
    for (const ReportRun& run : report.runs)
      scenarios.push_back(load_run(report, run, extra, library));
  const auto outcomes = simulator(scenarios);
  std::vector<ReportResult> judged;
  auto next = outcomes.begin();
  for (const Report& report : reports) {
    const auto end = next + static_cast<std::ptrdiff_t>(report.runs.size());
    judged.push_back(judge(report, {next, end}));
    next = end;
  }
  return judged;
}

bool all_ok(const std::vector<ReportResult>& results) {
  return std::all_of(results.begin(), results.end(), [](const auto& result) { return result.ok(); });
}

nlohmann::ordered_json reports_json(const std::vector<ReportResult>& results) {
  Json object;
  object["reports"] = Json::array();
  for (const ReportResult& result : results) {
    Json report = {{"id", result.id}, {"scenario", result.scenario}, {"checks", Json::array()}};
    for (const ReportCheck& check : result.checks)
      report["checks"].push_back({{"quantity", check.quantity},
                                  {"value", Json(number_json(check.value))},
                                  {"unit", check.unit},
                                  {"low", Json(number_json(check.low))},
                                  {"high", Json(number_json(check.high))},
                                  {"ok", check.ok()}});
    if (not result.error.empty())
      report["error"] = result.error;
    object["reports"].push_back(std::move(report));
  }
  object["pass"] = all_ok(results);
  return object;
}

std::string reports_table(const std::vector<ReportResult>& results) {
  std::string out;
  std::size_t kept = 0;
  for (const ReportResult& result : results) {
    kept += result.ok() ? 1 : 0;
    std::vector<std::string> figures;
    for (const ReportCheck& check : result.checks)
      figures.push_back(fmt::format("{} {}", check.quantity, with_unit(check.value, check.unit)));
    out += fmt::format("{:<5} {}  {}: {}\n", result.ok() ? "ok" : "WRONG", result.id, result.sentence,
                       fmt::join(figures, "; "));
    if (not result.error.empty())
      out += fmt::format("           {}\n", result.error);
    for (const ReportCheck& check : result.checks)
      if (not check.ok())
        out += fmt::format("           {}: {}, allowed {} to {}\n", check.quantity,
                           with_unit(check.value, check.unit), figure(check.low),
                           with_unit(check.high, check.unit));
  }
  return out + fmt::format("\nreports: {} of {} answered rightly\n", kept, results.size());
}

std::string reports_csv(const std::vector<ReportResult>& results) {
  std::string out = "id,quantity,value,unit,low,high,ok\n";
  for (const ReportResult& result : results)
    for (const ReportCheck& check : result.checks)
      out +=
          fmt::format("{},\"{}\",{},{},{},{},{}\n", result.id, check.quantity,
                      std::isnan(check.value) ? std::string() : number_json(check.value).dump(), check.unit,
                      number_json(check.low).dump(), number_json(check.high).dump(), check.ok());
  return out;
}

} // namespace replisim
