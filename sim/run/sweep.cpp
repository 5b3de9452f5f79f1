#include "sim/run/sweep.hpp"

#include "sim/run/break_even.hpp"
#include "sim/run/result_json.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <set>

namespace replisim {

namespace {

std::string trimmed(const std::string& text) {
  const auto first = text.find_first_not_of(" \t");
  return first == std::string::npos ? "" : text.substr(first, text.find_last_not_of(" \t") - first + 1);
}

/// Splits at the commas outside of brackets, braces and quotes.
std::vector<std::string> split_values(const std::string& text) {
  std::vector<std::string> out(1);
  int depth = 0;
  char quote = 0;
  for (const char c : text) {
    if (quote != 0)
      quote = c == quote ? '\0' : quote;
    else if (c == '"' or c == '\'')
      quote = c;
    else if (c == '[' or c == '{')
      ++depth;
    else if (c == ']' or c == '}')
      --depth;
    if (c == ',' and depth == 0 and quote == 0)
      out.emplace_back();
    else
      out.back() += c;
  }
  std::transform(out.begin(), out.end(), out.begin(), trimmed);
  return out;
}

template <typename Range>
bool has_path(const Range& range, const std::string& path) {
  return std::any_of(range.begin(), range.end(), [&](const auto& entry) { return entry.path == path; });
}

void check_vary(const std::vector<SweepAxis>& vary, const std::vector<Override>& fixed) {
  std::set<std::string> seen;
  for (const auto& axis : vary) {
    if (not seen.insert(axis.path).second)
      throw UsageError(fmt::format("--vary names '{}' twice; give all its values in one --vary", axis.path));
    if (has_path(fixed, axis.path))
      throw UsageError(fmt::format("'{}' is both varied and set; keep one of --vary and --set", axis.path));
  }
}

void check_size(const std::vector<SweepAxis>& axes) {
  if (axes.empty())
    throw UsageError(
        "there is nothing to vary: the scenario has no `sweep:` block left; add --vary path=v1,v2");
  std::size_t points = 1;
  for (const auto& axis : axes) {
    if (axis.values.empty())
      throw UsageError(fmt::format("the axis '{}' has no values", axis.path));
    points *= axis.values.size();
    if (points > sweep_points_max)
      throw UsageError(
          fmt::format("the axes make more than {} points; take some values or axes away", sweep_points_max));
  }
}

ExitCode exit_code_of(const JobOutcome& outcome, std::string& text) {
  try {
    outcome.get();
    return ExitCode::Ok;
  } catch (const Interrupted&) {
    text = "interrupted";
    return ExitCode::Interrupted;
  } catch (const UsageError& e) {
    text = e.what();
    return ExitCode::Usage;
  } catch (const std::exception& e) {
    text = e.what();
    return ExitCode::Internal;
  }
}

std::string point_name(const std::vector<Override>& overrides) {
  std::vector<std::string> parts;
  for (const auto& o : overrides)
    parts.push_back(o.path + "=" + o.value);
  return fmt::format("{}", fmt::join(parts, " "));
}

} // namespace

SweepAxis parse_vary(const std::string& text) {
  const auto equals = text.find('=');
  if (equals == std::string::npos or trimmed(text.substr(0, equals)).empty())
    throw UsageError(fmt::format("--vary {}: expected path=value1,value2,...", text));
  SweepAxis axis{trimmed(text.substr(0, equals)), {}};
  for (const auto& value : split_values(text.substr(equals + 1))) {
    if (value.empty())
      throw UsageError(fmt::format("--vary {}: a value is empty; write '' for an empty text", text));
    const bool repeated = std::any_of(axis.values.begin(), axis.values.end(),
                                      [&](const auto& known) { return known.first == value; });
    if (repeated)
      throw UsageError(fmt::format("--vary {}: the value '{}' comes twice", text, value));
    axis.values.emplace_back(value, value);
  }
  return axis;
}

SweepPlan plan_sweep(const std::vector<SweepAxis>& scenario_axes, const std::vector<SweepAxis>& vary,
                     const std::vector<Override>& fixed) {
  check_vary(vary, fixed);
  SweepPlan plan{vary, {}};
  for (const auto& axis : scenario_axes) {
    if (has_path(vary, axis.path))
      continue;
    if (has_path(fixed, axis.path))
      plan.notes.push_back(
          fmt::format("--set fixes '{}', so the scenario's sweep does not vary it", axis.path));
    else
      plan.axes.push_back(axis);
  }
  check_size(plan.axes);
  std::sort(plan.axes.begin(), plan.axes.end(),
            [](const SweepAxis& a, const SweepAxis& b) { return a.path < b.path; });
  return plan;
}

std::vector<SweepPoint> sweep_points(const std::vector<SweepAxis>& axes) {
  std::vector<SweepPoint> points(1);
  for (const auto& axis : axes) {
    std::vector<SweepPoint> longer;
    for (const auto& point : points)
      for (const auto& [label, value] : axis.values) {
        auto& next = longer.emplace_back(point);
        next.labels.emplace_back(axis.path, label);
        next.overrides.push_back({axis.path, value});
      }
    points = std::move(longer);
  }
  return points;
}

std::vector<PointOutcome> run_points(const std::vector<std::vector<Override>>& points,
                                     const SweepEngine& engine, std::uint64_t seed,
                                     const PoolOptions& options) {
  std::vector<Job> jobs;
  for (const auto& overrides : points)
    jobs.push_back({point_name(overrides), [&engine, &overrides, seed] {
                      RunResult result = engine.run(engine.load(overrides), seed);
                      result.timeline = {};
                      return encode_result(result);
                    }});
  std::vector<PointOutcome> out;
  for (const auto& job : run_forked(jobs, options)) {
    auto& point = out.emplace_back();
    point.exit_code = exit_code_of(job, point.error);
    if (point.exit_code == ExitCode::Ok)
      point.result = decode_result(job.value);
  }
  return out;
}

ExitCode sweep_exit_code(const Sweep& sweep) {
  if (sweep.interrupted)
    return ExitCode::Interrupted;
  ExitCode worst = ExitCode::Ok;
  for (const auto& row : sweep.rows)
    worst = std::max(worst, row.outcome.exit_code);
  for (const auto& row : sweep.break_even)
    if (not row.error.empty())
      worst = std::max(worst, ExitCode::Usage);
  return worst;
}

Sweep run_sweep(const Scenario& base, const std::vector<Override>& overrides,
                const std::vector<SweepAxis>& vary, std::uint64_t seed, const SweepEngine& engine,
                const PoolOptions& options) {
  const InterruptScope scope;
  SweepPlan plan = plan_sweep(base.sweep, vary, overrides);
  Sweep sweep{base.name, seed, std::move(plan.axes), std::move(plan.notes), {}, {}, base.guesses, false};
  std::vector<std::vector<Override>> points;
  for (auto& point : sweep_points(sweep.axes)) {
    auto all = overrides;
    all.insert(all.end(), point.overrides.begin(), point.overrides.end());
    points.push_back(std::move(all));
    sweep.rows.push_back({std::move(point), {}});
  }
  auto outcomes = run_points(points, engine, seed, options);
  for (std::size_t i = 0; i < outcomes.size(); ++i)
    sweep.rows[i].outcome = std::move(outcomes[i]);
  for (const auto& question : base.break_even)
    if (not InterruptScope::interrupted())
      for (auto& row : find_break_even(question, sweep.axes, overrides, seed, engine, options))
        sweep.break_even.push_back(std::move(row));
  sweep.interrupted = InterruptScope::interrupted();
  return sweep;
}

} // namespace replisim
