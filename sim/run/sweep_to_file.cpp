#include "sim/run/sweep_to_file.hpp"

#include "sim/run/replications.hpp"
#include "sim/run/result_json.hpp"
#include "sim/version.hpp"

#include <fmt/format.h>

#include <chrono>
#include <map>
#include <optional>
#include <utility>

namespace replisim {

namespace {

using Clock = std::chrono::steady_clock;

/// How much a power cut may take away: runs that ended within this time are simulated again.
constexpr auto sync_interval = std::chrono::seconds(1);

SweepIdentity identity_of(const Scenario& base, const SweepRequest& request, const PointSpace& space) {
  SweepIdentity out;
  out.scenario = base.name;
  out.scenario_hash = base.hash;
  out.program = fmt::format("replisim {} (commit {})", program_version(), build_commit());
  out.seed = request.seed;
  out.replications = request.replications;
  out.points = space.count();
  out.overrides = nlohmann::json::array();
  for (const auto& o : request.overrides)
    out.overrides.push_back(o.path + "=" + o.value);
  out.axes = axes_json(space.axes());
  out.sample = sample_json(space.sample());
  out.guesses = guesses_json(base.guesses);
  out.columns = space.columns();
  return out;
}

class Runner {
public:
  Runner(const SweepRequest& request, const SweepTarget& target, const PointSpace& space, ResultsFile& file,
         const SweepEngine& engine, const PoolOptions& options)
      : request_(request), target_(target), space_(space), file_(file), engine_(engine), options_(options),
        finished_(file.finished_runs()) {
    for (std::uint64_t run = first_run(); run < finished_.size(); run += target_.shard.of) {
      ++progress_.total;
      progress_.found += finished_[run] ? 1 : 0;
    }
    next_ = first_run();
  }

  SweepProgress run() {
    run_stream({[this] { return next_job(); },
                [this](std::size_t index, const JobOutcome& outcome) { record(index, outcome); }},
               options_);
    file_.sync();
    progress_.interrupted = InterruptScope::interrupted();
    progress_.failed = file_.count(true);
    progress_.done = progress_.found + recorded_;
    return progress_;
  }

private:
  std::uint64_t first_run() const { return target_.shard.number - 1; }

  std::optional<Job> next_job() {
    while (next_ < finished_.size() and finished_[next_])
      next_ += target_.shard.of;
    if (next_ >= finished_.size())
      return std::nullopt;
    const auto replications = static_cast<std::uint64_t>(request_.replications);
    RunRow row;
    row.run = next_;
    row.point = space_.at(next_ / replications);
    auto all = request_.overrides;
    all.insert(all.end(), row.point.overrides.begin(), row.point.overrides.end());
    const int replication = static_cast<int>(next_ % replications) + 1;
    next_ += target_.shard.of;
    running_.emplace(started_++, std::move(row));
    return point_job(engine_, std::move(all), replication_seed(request_.seed, replication));
  }

  void record(std::size_t index, const JobOutcome& job) {
    auto node = running_.extract(index);
    RunRow& row = node.mapped();
    row.outcome = point_outcome(job);
    if (row.outcome.exit_code == ExitCode::Interrupted)
      return; // no result: it runs again
    row.wall_s = job.wall_s;
    row.cpu_s = job.cpu_s;
    row.peak_memory_bytes = job.peak_memory_bytes;
    file_.record({std::move(row)});
    ++recorded_;
    if (const auto now = Clock::now(); now - synced_ >= sync_interval) {
      file_.sync();
      synced_ = now;
    }
    if (options_.progress)
      options_.progress(recorded_, progress_.total - progress_.found);
  }

  const SweepRequest& request_;
  const SweepTarget& target_;
  const PointSpace& space_;
  ResultsFile& file_;
  const SweepEngine& engine_;
  const PoolOptions& options_;
  std::vector<bool> finished_;
  std::map<std::size_t, RunRow> running_;
  std::uint64_t next_ = 0;
  std::size_t started_ = 0;
  std::uint64_t recorded_ = 0;
  Clock::time_point synced_ = Clock::now();
  SweepProgress progress_;
};

} // namespace

SweepProgress run_sweep_to_file(const Scenario& base, const SweepRequest& request, const SweepTarget& target,
                                const SweepEngine& engine, const PoolOptions& options) {
  const InterruptScope scope;
  const auto replications = static_cast<std::uint64_t>(request.replications);
  SweepPlan plan = plan_sweep(base.sweep, request.vary, request.overrides,
                              request.sample ? request.sample : base.sample, sweep_runs_max / replications);
  const PointSpace space(std::move(plan.axes), plan.sample);
  ResultsFile file =
      ResultsFile::create_or_resume(target.file, identity_of(base, request, space), target.shard);
  if (target.retry_failed)
    file.drop_failed();
  SweepProgress progress = Runner(request, target, space, file, engine, options).run();
  progress.notes = std::move(plan.notes);
  if (not base.break_even.empty())
    progress.notes.emplace_back("break_even questions are answered by a sweep without --db");
  return progress;
}

} // namespace replisim
