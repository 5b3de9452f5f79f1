#include "sim/run/point_job.hpp"

#include "sim/run/result_json.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <utility>

namespace replisim {

namespace {

std::string point_name(const std::vector<Override>& overrides) {
  std::vector<std::string> parts;
  for (const auto& o : overrides)
    parts.push_back(o.path + "=" + o.value);
  return fmt::format("{}", fmt::join(parts, " "));
}

ExitCode exit_code_of(const JobOutcome& outcome, std::string& text) {
  try {
    outcome.get();
    return ExitCode::Ok;
  } catch (const Interrupted&) {
    text = "interrupted";
    return ExitCode::Interrupted;
  } catch (const LimitExceeded& e) {
    text = e.what();
    return ExitCode::Usage;
  } catch (const UsageError& e) {
    text = e.what();
    return ExitCode::Usage;
  } catch (const std::exception& e) {
    text = e.what();
    return ExitCode::Internal;
  }
}

} // namespace

Job point_job(const SweepEngine& engine, std::vector<Override> overrides, std::uint64_t seed) {
  std::string name = point_name(overrides);
  return {std::move(name), [&engine, overrides = std::move(overrides), seed] {
            RunResult result = engine.run(engine.load(overrides), seed);
            // What no row shows: sent, it would cost the parent time.
            result.timeline = {};
            result.transactions.clear();
            result.stages.clear();
            result.statistics = {};
            result.analytic = {};
            result.guesses.clear();
            result.engine_options.clear();
            return encode_result(result);
          }};
}

PointOutcome point_outcome(const JobOutcome& outcome) {
  PointOutcome out;
  out.exit_code = exit_code_of(outcome, out.error);
  if (out.exit_code == ExitCode::Ok)
    out.result = decode_result(outcome.value);
  return out;
}

} // namespace replisim
