// Suite seed-transfer: the posted table predicted from the lab's costs and one ratio of speeds, and how far
// the costs fitted to the table are from that ratio.
#include "calibration/suites/streaming_cells.hpp"
#include "sim/scenario/library_files.hpp"

namespace replisim {

Suite make_seed_transfer(const Library& library) {
  Suite suite = make_seed_streaming(library);
  for (Cell& cell : suite.cells)
    cell.overrides.emplace_back("profile=seed1-transfer");
  suite.folds.clear();
  suite.fold_limits.clear();
  suite.limits = {{LimitKind::MapePct, 20}, {LimitKind::FittedParameters, 1}};
  const CostProfile lab = load_profile("lab-2core", library);
  const CostProfile fitted = load_profile("seed1-host", library);
  for (const std::string& name : fitted.fitted)
    if (const CostParameter* cost = find_cost_parameter(name))
      suite.cost_ratios.push_back({name, fitted.costs.*cost->field / (lab.costs.*cost->field)});
  return suite;
}

} // namespace replisim
