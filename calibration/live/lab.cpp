#include "calibration/live/lab.hpp"

#include "calibration/fit/profile_writer.hpp"
#include "calibration/live/clock.hpp"
#include "calibration/live/twin.hpp"
#include "calibration/repeats.hpp"
#include "models/base/errors.hpp"
#include "sim/report/files.hpp"

#include <algorithm>
#include <set>

#include <fmt/format.h>

namespace replisim::live {

namespace fs = std::filesystem;

namespace {

/// Whether the counters of a scenario's slots do not depend on timing.
bool has_exact_counters(const Scenario& scenario) {
  if (scenario.batches.size() != 1 or not scenario.clients.empty() or not scenario.ddl.empty() or
      scenario.subscriptions.size() != 1)
    return false;
  const BatchLoad& load = scenario.batches.front();
  return load.times == 1 and load.sessions == 1 and not load.rolls_back and
         std::none_of(load.transaction.begin(), load.transaction.end(), [](const TransactionStep& step) {
           return std::holds_alternative<RollbackToStep>(step);
         });
}

/// What a scenario writes at most: its rows, twice on the publisher (heap and WAL) and twice on the
/// subscriber.
double needed_bytes(const Scenario& scenario) {
  double bytes = 0;
  const auto add = [&](const std::string& name, double rows) {
    const auto table = scenario.tables.find(name);
    constexpr double overhead = 130; // index entry, WAL record headers
    constexpr double writings = 5;   // heap and WAL on both sides, spill or stream file
    if (table != scenario.tables.end())
      bytes += writings * rows * (static_cast<double>(tuple_len(table->second)) + overhead);
  };
  for (const auto& [name, table] : scenario.tables)
    add(name, static_cast<double>(table.initial_rows));
  for (const BatchLoad& load : scenario.batches)
    for (const TransactionStep& step : load.transaction)
      if (const auto* statement = std::get_if<StatementStep>(&step))
        add(statement->table,
            static_cast<double>(statement->rows) * static_cast<double>(load.times) * load.sessions);
  return bytes;
}

class Lab {
public:
  Lab(const LabOptions& options, const Library& library, const Simulator& simulator)
      : options_(options), library_(library), simulator_(simulator), started_s_(now_s()) {}

  LabResult run() {
    check_name();
    const Binaries found = find_binaries(options_.binaries);
    result_.server_version = to_string(found.version);
    result_.plan = read_plan(options_.plan, library_, found.version);
    if (options_.repeats > 0)
      result_.plan.repeats = options_.repeats;
    result_.notes = result_.plan.skipped;
    make_folders();
    load_scenarios();
    if (options_.port != 0)
      for (const int port : {options_.port, options_.port + 1})
        require_free_port(port);
    measure_all(found);
    if (options_.fits)
      fit_and_predict();
    write("report.txt", lab_table(result_));
    return std::move(result_);
  }

private:
  void say(const std::string& sentence) const {
    if (options_.say)
      options_.say(sentence);
  }

  void check_name() const {
    for (const char c : options_.name)
      if (std::isalnum(static_cast<unsigned char>(c)) == 0 and c != '-' and c != '_')
        throw UsageError(fmt::format(
            "--name {}: letters, digits, - and _ are allowed, as files are named after it", options_.name));
  }

  /// The twin, for now on a machine of the library: what runs is what is simulated.
  Scenario load(const Experiment& experiment) {
    const std::string file = fmt::format("scenarios/{}.yaml", experiment.name);
    write(file, twin_text(experiment, {"lab-2core", "lab-2core", result_.server_version}));
    return load_scenario(options_.out / file, {}, library_);
  }

  void load_scenarios() {
    double needed = 0;
    for (const Experiment& experiment : result_.plan.experiments) {
      scenarios_.push_back(load(experiment));
      require_loads(scenarios_.back());
      needed = std::max(needed, needed_bytes(scenarios_.back()));
      result_.measured.emplace_back();
      result_.measured.back().experiment = experiment;
      result_.measured.back().exact_counters = has_exact_counters(scenarios_.back());
    }
    constexpr double servers = 200e6; // two empty clusters and their first WAL
    needed += servers;
    std::error_code error;
    const fs::space_info space = fs::space(options_.work, error);
    if (not error and static_cast<double>(space.available) < needed)
      throw UsageError(fmt::format(
          "the plan needs about {} below {}, and {} are free; free some, choose another place "
          "with --work, or a plan with fewer rows",
          format_bytes(needed), options_.work.string(), format_bytes(static_cast<double>(space.available))));
  }

  void make_folders() const {
    for (const char* folder : {"artefacts", "scenarios", "specs", "profiles", "hardware"})
      require_folder(options_.out / folder);
  }

  void write(const std::string& file, const std::string& text) {
    write_file(options_.out / file, text);
    const fs::path path = options_.out / file;
    if (std::find(result_.files.begin(), result_.files.end(), path) == result_.files.end())
      result_.files.push_back(path);
  }

  void measure_all(const Binaries& found) {
    Workspace workspace(options_.work, server_user(options_.user));
    for (const std::string& sentence : workspace.cleaned()) {
      result_.notes.push_back(sentence);
      say(sentence);
    }
    const Binaries binaries = executable_binaries(found, workspace);
    const fs::path disk = workspace.path();
    write(fmt::format("hardware/{}.yaml", options_.name), machine_text(probe_machine(disk), options_.name));
    // Until the fit replaces it, so that the twins can be loaded.
    write(fmt::format("profiles/{}.yaml", options_.name),
          fmt::format("# What lab-2core knows, until `replisim lab` has fitted this machine's "
                      "costs.\nreplisim_profile: 1\n"
                      "name: {0}\nextends: lab-2core\nmachine: ../hardware/{0}.yaml\nserver_version: {1}\n",
                      options_.name, found.version.major));
    say(fmt::format("PostgreSQL {} as {} in {}", result_.server_version, workspace.user().name,
                    disk.string()));
    Pair pair(workspace, binaries, options_.port);
    try {
      for (int round = 0; round < result_.plan.repeats; ++round)
        if (not measure_round(round, pair))
          break;
    } catch (const ConnectionLost& error) {
      throw UsageError(why_lost(pair, error.what()));
    } catch (const StatementFailed& error) {
      throw UsageError(why_lost(pair, error.what()));
    }
  }

  /// A server that died says why in its log; a full disk is the reason most people meet.
  std::string why_lost(Pair& pair, const std::string& what) const {
    for (ThrowawayServer* server : {&pair.pub(), &pair.sub()})
      if (const std::string words = server->last_words(); words.find("No space left") != std::string::npos)
        return fmt::format(
            "the disk below {} is full: the lab's {} says: {}; free some of it, choose another place with "
            "--work, or a plan with fewer rows",
            options_.work.string(), server->name(), words);
    if (what.find("No space left") != std::string::npos)
      return fmt::format(
          "the disk below {} is full: {}; free some of it, choose another place with --work, or a plan "
          "with fewer rows",
          options_.work.string(), what);
    return what;
  }

  bool measure_round(int round, Pair& pair) {
    const double begin_s = now_s();
    // What a round took, the next one will take; the fit comes behind.
    if (round > 0 and result_.plan.most_s > 0 and now_s() - started_s_ + round_s_ > result_.plan.most_s) {
      result_.notes.push_back(fmt::format(
          "{} of {} rounds were run: another one of {} would have ended later than {} "
          "after the start",
          round, result_.plan.repeats, format_duration(round_s_), format_duration(result_.plan.most_s)));
      return false;
    }
    for (std::size_t i = 0; i < scenarios_.size(); ++i) {
      ExperimentFigures& figures = result_.measured[i];
      const double run_begin_s = now_s();
      const Measured run = live::measure(scenarios_[i], pair);
      keep(figures, run, round);
      say(fmt::format("round {} of {}, {} of {}: {} ({:.1f} s)", round + 1, result_.plan.repeats, i + 1,
                      scenarios_.size(), figures.experiment.name, now_s() - run_begin_s));
    }
    round_s_ = now_s() - begin_s;
    result_.rounds = round + 1;
    return true;
  }

  void keep(ExperimentFigures& figures, const Measured& run, int round) {
    for (const auto& [metric, value] : run.figures) {
      auto& values = figures.repeats[metric];
      values.resize(static_cast<std::size_t>(round), 0); // a process that took no part so far
      values.push_back(value);
    }
    const double n = round + 1;
    figures.sampler_cores += (run.sampler_cores - figures.sampler_cores) / n;
    figures.session_cores += (run.session_cores - figures.session_cores) / n;
    figures.rows_differ += run.rows_match ? 0 : 1;
    const std::string stem = fmt::format("artefacts/{}-r{}", figures.experiment.name, round + 1);
    write(fmt::format("{}.timeline.csv", stem), run.timeline);
    write(fmt::format("{}.pub.log", stem), run.pub_log);
    write(fmt::format("{}.sub.log", stem), run.sub_log);
    if (not run.pgbench.empty())
      write(fmt::format("{}.pgbench.txt", stem), run.pgbench);
    write_twin(figures);
    write("measurements.csv", lab_csv(result_));
  }

  void write_twin(const ExperimentFigures& figures) {
    write(fmt::format("scenarios/{}.yaml", figures.experiment.name),
          twin_text(figures.experiment, {.machine = fmt::format("../hardware/{}.yaml", options_.name),
                                         .profile = fmt::format("../profiles/{}.yaml", options_.name),
                                         .version = result_.server_version,
                                         .sampler_cores = figures.sampler_cores,
                                         .session_cores = figures.session_cores}));
  }

  void fit_and_predict() {
    const bool any = std::any_of(result_.measured.begin(), result_.measured.end(),
                                 [](const ExperimentFigures& one) { return one.experiment.is_fitted; });
    if (not any) {
      result_.notes.emplace_back("no experiment of the plan says `use: fit`: nothing was fitted");
      return;
    }
    const std::string spec = fmt::format("specs/{}.yaml", options_.name);
    write(spec, lab_spec_text(options_, result_.measured, result_.rounds, result_.server_version));
    say("fitting the profile");
    const fs::path folder = fs::absolute(options_.out);
    const Calibration calibration(read_calibration_spec(folder / spec, library_), library_, simulator_);
    result_.fit = calibration.fit(calibration.options());
    write(fmt::format("profiles/{}.yaml", options_.name), profile_text(*result_.fit));
    say("predicting");
    result_.report = run_suite(lab_suite(result_.measured, folder / "scenarios"), library_, {}, simulator_);
    write("predictions.csv", lab_csv(result_));
  }

  const LabOptions& options_;
  const Library& library_;
  const Simulator& simulator_;
  double started_s_;
  double round_s_ = 0;
  std::vector<Scenario> scenarios_;
  LabResult result_;
};

} // namespace

LabResult run_lab(const LabOptions& options, const Library& library, const Simulator& simulator) {
  return Lab(options, library, simulator).run();
}

} // namespace replisim::live
