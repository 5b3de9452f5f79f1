#include "sim/run/sweep.hpp"

#include "sim/run/break_even.hpp"
#include "sim/run/replications.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <set>

namespace replisim {

namespace {

bool is_fixed(const std::vector<Override>& fixed, const std::string& path) {
  return std::any_of(fixed.begin(), fixed.end(), [&](const auto& entry) { return entry.path == path; });
}

void check_vary(const std::vector<SweepAxis>& vary, const std::vector<Override>& fixed) {
  std::set<std::string> seen;
  for (const auto& axis : vary)
    for (const auto& path : axis_paths(axis)) {
      if (not seen.insert(path).second)
        throw UsageError(fmt::format("--vary names '{}' twice; give all its values in one --vary", path));
      if (is_fixed(fixed, path))
        throw UsageError(fmt::format("'{}' is both varied and set; keep one of --vary and --set", path));
    }
}

bool share_a_path(const SweepAxis& a, const SweepAxis& b) {
  const auto of_a = axis_paths(a);
  const auto of_b = axis_paths(b);
  return std::find_first_of(of_a.begin(), of_a.end(), of_b.begin(), of_b.end()) != of_a.end();
}

/// A point's row from its replications, in order; absent ones were interrupted.
void fill_row(SweepRow& row, const std::vector<std::optional<PointOutcome>>& outcomes,
              const SweepRequest& request) {
  std::vector<RunResult> runs;
  for (std::size_t r = 0; r < outcomes.size(); ++r) {
    if (not outcomes[r] or not outcomes[r]->result) {
      row.outcome = outcomes[r] ? *outcomes[r] : PointOutcome{{}, "interrupted", ExitCode::Interrupted};
      if (outcomes.size() > 1 and outcomes[r])
        row.outcome.error =
            fmt::format("replication {}, seed {}: {}", r + 1,
                        replication_seed(request.seed, static_cast<int>(r) + 1), row.outcome.error);
      return;
    }
    runs.push_back(*outcomes[r]->result);
  }
  if (runs.size() == 1) {
    row.outcome = *outcomes.front();
    return;
  }
  row.outcome.result = runs.front();
  for (const auto& [name, interval] : summarise_replications(std::move(runs)).metrics) {
    row.outcome.result->metrics[name] = interval.mean;
    row.half_width[name] = interval.half_width;
  }
}

std::vector<Override> all_overrides(const SweepRequest& request, const SweepPoint& point) {
  auto all = request.overrides;
  all.insert(all.end(), point.overrides.begin(), point.overrides.end());
  return all;
}

void run_rows(Sweep& sweep, const SweepRequest& request, const SweepEngine& engine,
              const PoolOptions& options) {
  const auto count = static_cast<std::size_t>(request.replications);
  const std::size_t runs = sweep.rows.size() * count;
  std::vector<std::optional<PointOutcome>> outcomes(runs);
  std::size_t next = 0;
  std::size_t done = 0;
  const auto take = [&]() -> std::optional<Job> {
    if (next == runs)
      return std::nullopt;
    const int replication = static_cast<int>(next % count) + 1;
    return point_job(engine, all_overrides(request, sweep.rows[next++ / count].point),
                     replication_seed(request.seed, replication));
  };
  const auto finished = [&](std::size_t index, const JobOutcome& outcome) {
    outcomes[index] = point_outcome(outcome);
    if (++done; options.progress)
      options.progress(done, runs);
  };
  run_stream({take, finished}, options);
  for (std::size_t i = 0; i < sweep.rows.size(); ++i) {
    const auto from = outcomes.begin() + static_cast<std::ptrdiff_t>(i * count);
    fill_row(sweep.rows[i], {from, from + request.replications}, request);
  }
}

} // namespace

SweepPlan plan_sweep(const std::vector<SweepAxis>& scenario_axes, const std::vector<SweepAxis>& vary,
                     const std::vector<Override>& fixed, const std::optional<SamplePlan>& sample,
                     std::uint64_t points_max) {
  check_vary(vary, fixed);
  SweepPlan plan{vary, sample, {}};
  for (const auto& axis : scenario_axes) {
    if (std::any_of(vary.begin(), vary.end(), [&](const auto& other) { return share_a_path(axis, other); }))
      continue;
    const auto paths = axis_paths(axis);
    const auto set =
        std::find_if(paths.begin(), paths.end(), [&](const auto& path) { return is_fixed(fixed, path); });
    if (set != paths.end())
      plan.notes.push_back(
          fmt::format("--set fixes '{}', so the scenario's sweep does not vary '{}'", *set, axis.path));
    else
      plan.axes.push_back(axis);
  }
  if (plan.axes.empty())
    throw UsageError(
        "there is nothing to vary: the scenario has no `sweep:` block left; add --vary path=v1,v2");
  std::sort(plan.axes.begin(), plan.axes.end(),
            [](const SweepAxis& a, const SweepAxis& b) { return a.path < b.path; });
  const PointSpace space(plan.axes, plan.sample);
  plan.sample = space.sample();
  if (space.count() == 0 or space.count() > points_max)
    throw UsageError(
        fmt::format("the axes make more than {} points; take some values or axes away{}", points_max,
                    points_max <= sweep_points_max ? ", or collect them in a file with --db" : ""));
  return plan;
}

std::vector<PointOutcome> run_points(const std::vector<std::vector<Override>>& points,
                                     const SweepEngine& engine, std::uint64_t seed,
                                     const PoolOptions& options) {
  std::vector<Job> jobs;
  for (const auto& overrides : points)
    jobs.push_back(point_job(engine, overrides, seed));
  std::vector<PointOutcome> out;
  for (const auto& job : run_forked(jobs, options))
    out.push_back(point_outcome(job));
  return out;
}

ExitCode sweep_exit_code(const Sweep& sweep) {
  if (sweep.interrupted)
    return ExitCode::Interrupted;
  const bool failed = std::any_of(sweep.rows.begin(), sweep.rows.end(),
                                  [](const auto& row) { return row.outcome.exit_code != ExitCode::Ok; });
  const bool unanswered = std::any_of(sweep.break_even.begin(), sweep.break_even.end(),
                                      [](const auto& row) { return not row.error.empty(); });
  return failed or unanswered ? ExitCode::No : ExitCode::Ok;
}

Sweep run_sweep(const Scenario& base, const SweepRequest& request, const SweepEngine& engine,
                const PoolOptions& options) {
  const InterruptScope scope;
  const auto replications = static_cast<std::uint64_t>(request.replications);
  SweepPlan plan = plan_sweep(base.sweep, request.vary, request.overrides,
                              request.sample ? request.sample : base.sample, sweep_points_max / replications);
  Sweep sweep;
  sweep.scenario = base.name;
  sweep.seed = request.seed;
  sweep.replications = request.replications;
  sweep.axes = plan.axes;
  sweep.sample = plan.sample;
  sweep.notes = std::move(plan.notes);
  sweep.guesses = base.guesses;
  const PointSpace space(plan.axes, plan.sample);
  for (std::uint64_t i = 0; i < space.count(); ++i)
    sweep.rows.push_back({space.at(i), {}, {}});
  run_rows(sweep, request, engine, options);
  std::erase_if(plan.axes, [](const SweepAxis& axis) { return axis.range.has_value(); });
  for (const auto& question : base.break_even)
    if (not InterruptScope::interrupted())
      for (auto& row : find_break_even(question, plan.axes, request.overrides, request.seed, engine, options))
        sweep.break_even.push_back(std::move(row));
  sweep.interrupted = InterruptScope::interrupted();
  return sweep;
}

} // namespace replisim
