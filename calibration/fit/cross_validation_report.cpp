// A cross-validation for people and programs.
#include "calibration/fit/cross_validation.hpp"

#include "calibration/repeats.hpp"
#include "sim/run/result_json.hpp"

#include <algorithm>
#include <cmath>
#include <fmt/format.h>

namespace replisim {

namespace {

using Json = nlohmann::ordered_json;

std::string fold_lines(const CrossValidation& result) {
  std::size_t width = 8;
  for (const FoldResult& fold : result.folds)
    width = std::max(width, fold.name.size());
  std::string out = fmt::format("{:<{}} {:>6} {:>11} {:>11} {:>11} {:>16}\n", "left out", width, "cells",
                                "in sample", "left out", "largest", "in 90 % interval");
  for (const FoldResult& fold : result.folds)
    out += fmt::format("{:<{}} {:>6} {:>9.2f} % {:>9.2f} % {:>9.2f} % {:>13} of {}\n", fold.name, width,
                       fold.cells.size(), fold.in_sample_mape_pct, fold.mape_pct, fold.max_error_pct,
                       fold.covered, fold.cells.size());
  return out;
}

std::string cell_lines(const CrossValidation& result) {
  std::size_t width = 20;
  for (const FoldResult& fold : result.folds)
    for (const HeldOutCell& cell : fold.cells)
      width = std::max(width, cell.id.size());
  std::string out;
  for (const FoldResult& fold : result.folds) {
    out += fmt::format("\n{:<{}} {:>12} {:>12} {:>9} {:>25}\n", fold.name, width, "measured", "predicted",
                       "error", "90 % interval");
    for (const HeldOutCell& cell : fold.cells)
      out += fmt::format("{:<{}} {:>12.3f} {:>12.3f} {:>+7.2f} % {:>11.3f} to {:>10.3f}{}\n", cell.id, width,
                         cell.measured, cell.predicted, error_pct(cell.measured, cell.predicted), cell.low,
                         cell.high, cell.covered() ? "" : "  outside");
  }
  return out;
}

} // namespace

std::string cross_validation_table(const CrossValidation& result) {
  std::string out =
      fmt::format("{}: profile {} fitted again without what is predicted\n\n", result.suite, result.profile);
  out += fold_lines(result);
  out += cell_lines(result);
  out += fmt::format("\nNothing left out: mean absolute error {:.2f} %, largest {:.2f} %\n",
                     result.in_sample_mape_pct, result.in_sample_max_pct);
  out += fmt::format("90 % intervals hold {:.1f} % of what was left out\n\n", result.coverage_pct);
  for (const FoldBar& bar : result.bars)
    out += fmt::format("{:<5} {:<21} {}\n", bar.ok ? "ok" : "short",
                       fmt::format("{:.4g} of at most {:g}", bar.value, bar.at_most), bar.sentence);
  if (result.bars.empty())
    return out + "This suite sets no bars for what is left out.\n";
  return out + fmt::format("{}: {}\n", result.suite, result.pass() ? "pass" : "short of its bars");
}

nlohmann::ordered_json cross_validation_json(const CrossValidation& result) {
  Json object = {{"suite", result.suite}, {"profile", result.profile}};
  object["in_sample"] = {{"mape_pct", number_json(result.in_sample_mape_pct)},
                         {"max_error_pct", number_json(result.in_sample_max_pct)}};
  object["folds"] = Json::array();
  for (const FoldResult& fold : result.folds) {
    Json one = {{"name", fold.name}, {"cells", Json::array()}};
    for (const HeldOutCell& cell : fold.cells)
      one["cells"].push_back({{"id", cell.id},
                              {"measured", number_json(cell.measured)},
                              {"predicted", number_json(cell.predicted)},
                              {"low", number_json(cell.low)},
                              {"high", number_json(cell.high)},
                              {"unit", cell.unit},
                              {"error_pct", number_json(error_pct(cell.measured, cell.predicted))},
                              {"covered", cell.covered()}});
    one["in_sample_mape_pct"] = number_json(fold.in_sample_mape_pct);
    one["mape_pct"] = number_json(fold.mape_pct);
    one["max_error_pct"] = number_json(fold.max_error_pct);
    one["covered"] = fold.covered;
    object["folds"].push_back(std::move(one));
  }
  object["coverage_pct"] = number_json(result.coverage_pct);
  object["bars"] = Json::array();
  for (const FoldBar& bar : result.bars)
    object["bars"].push_back({{"rule", bar.sentence},
                              {"value", number_json(bar.value)},
                              {"limit", number_json(bar.at_most)},
                              {"ok", bar.ok}});
  object["pass"] = result.bars.empty() ? Json() : Json(result.pass());
  return object;
}

std::string cross_validation_csv(const CrossValidation& result) {
  std::string out = "fold,id,measured,predicted,low,high,unit,error_pct\n";
  for (const FoldResult& fold : result.folds)
    for (const HeldOutCell& cell : fold.cells)
      out += fmt::format("{},{},{},{},{},{},{},{}\n", fold.name, cell.id, number_json(cell.measured).dump(),
                         number_json(cell.predicted).dump(), number_json(cell.low).dump(),
                         number_json(cell.high).dump(), cell.unit,
                         number_json(error_pct(cell.measured, cell.predicted)).dump());
  return out;
}

} // namespace replisim
