#include "calibration/fit/profile_check.hpp"

#include "calibration/fit/calibration_report.hpp"
#include "calibration/fit/profile_writer.hpp"
#include "models/base/errors.hpp"
#include "sim/scenario/library_files.hpp"

#include <algorithm>
#include <cmath>
#include <fmt/format.h>

namespace replisim {

namespace {

constexpr double rounding = 0.01;
constexpr double share_of_spread = 0.1;

} // namespace

ProfileCheck check_profile(const Calibration& calibration, const std::string& name, const Library& library,
                           const FitOptions& options) {
  const CostProfile stated = load_profile(name, library);
  const std::vector<double> starts = calibration.values_of(stated);
  const CalibrationResult result = calibration.fit(options, &starts);
  ProfileCheck check{.ok = true, .text = brief_report(result)};
  for (const FittedCost& cost : result.costs) {
    const CostParameter* parameter = find_cost_parameter(cost.name);
    const double value =
        parameter == nullptr ? calibration.cpu_speed_of(stated) : effective_cost_s(stated, *parameter);
    const double distance = std::log(cost.value / value);
    const double allowed =
        std::max(rounding, std::isfinite(cost.spread) ? share_of_spread * cost.spread : 0.0);
    const bool is_same = std::abs(distance) <= allowed;
    check.ok = check.ok and is_same;
    check.text +=
        fmt::format("{:<6} {:<28} stated {:>9}, fitted {:>9} ({:+.2f} %, allowed {:.2f} %)\n",
                    is_same ? "ok" : "short", cost.name, format_stated(cost.name, value),
                    format_stated(cost.name, cost.value), 100 * std::expm1(distance), 100 * allowed);
  }
  check.text += check.ok ? fmt::format("{} is what the spec gives\n", name)
                         : fmt::format("{} is not what the spec gives; make it again with --out\n", name);
  return check;
}

} // namespace replisim
