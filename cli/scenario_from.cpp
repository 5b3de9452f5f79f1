// replisim scenario --from: what was collected of a cluster becomes a scenario.
#include "calibration/live/cluster_scenario.hpp"
#include "cli/commands.hpp"
#include "cli/output.hpp"
#include "sim/report/files.hpp"
#include "sim/report/unfinished_files.hpp"
#include "sim/run/run_simulation.hpp"
#include "sim/scenario/loader.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <memory>

#include <unistd.h>

namespace replisim::cli {

namespace {

/// Cores of this decade and the last are within these, relative to those of the profile.
constexpr double slowest = 0.1, fastest = 10;

struct ScenarioCommand {
  live::ClusterOptions options;
  std::string from, out;
  bool force = false;
  bool finds_speed = true;
};

/// A path seen from the working directory as the scenario's file has to name it.
std::string seen_from(const std::string& name, const std::filesystem::path& folder) {
  if (not name.ends_with(".yaml"))
    return name;
  return std::filesystem::relative(name, folder.empty() ? "." : folder).string();
}

/// The scenario until it is known to run: beside the file it will be, so that paths in it lead where they
/// will.
class TrialFile {
public:
  explicit TrialFile(const std::filesystem::path& file)
      : path_(file.parent_path() / fmt::format(".{}.{}.yaml", file.stem().string(), ::getpid())),
        unfinished_(path_) {}
  ~TrialFile() {
    std::error_code error;
    std::filesystem::remove(path_, error);
  }
  TrialFile(const TrialFile&) = delete;
  TrialFile& operator=(const TrialFile&) = delete;

  const std::filesystem::path& path() const { return path_; }

private:
  std::filesystem::path path_;
  UnfinishedFile unfinished_;
};

ExitCode scenario(ScenarioCommand& command) {
  live::ClusterOptions& options = command.options;
  options.folder = command.from;
  const std::filesystem::path out = command.out;
  if (out.extension() != ".yaml" and out.extension() != ".yml")
    throw UsageError(fmt::format("--out: found '{}'; a scenario's file ends in .yaml", command.out));
  if (std::filesystem::exists(out) and not command.force)
    throw UsageError(
        fmt::format("{} is there already; choose another name, or --force to replace it", out.string()));
  command.finds_speed = options.machine.empty() and options.profile == live::ClusterOptions().profile;
  options.profile = seen_from(options.profile, out.parent_path());
  options.machine = seen_from(options.machine, out.parent_path());
  const Library library = find_library();
  const TrialFile trial(out);
  live::ClusterScenario written;
  const auto try_out = [&] { // what cannot be run is said now
    written = live::scenario_of_cluster(options);
    write_file(trial.path(), written.yaml);
    return load_scenario(trial.path(), {}, library);
  };
  Scenario twin = try_out();
  if (options.machine.empty()) {
    options.disk = twin.hosts.begin()->second.disks.front();
    twin = try_out();
  }
  // A profile and a machine that were named are taken as they are.
  constexpr int rounds = 2; // a process that is waited for less often is woken less often
  for (int round = 0; round < rounds and command.finds_speed and not written.cpu_a_transaction_s.empty();
       ++round) {
    const auto more = live::speed_beyond(written, run_simulation(twin, 1));
    if (not more)
      break;
    options.speed = std::clamp(options.speed * *more, slowest, fastest);
    twin = try_out();
  }
  write_file(out, written.yaml);
  std::string text;
  for (const std::string& sentence : written.notes)
    text += fmt::format("{}\n", sentence);
  write_stdout(fmt::format("{}\nwritten: {}\nnext:    replisim run {}\n", text, out.string(), out.string()));
  return ExitCode::Ok;
}

constexpr const char* notes =
    R"(The scenario describes the cluster: hosts, settings, subscriptions, tables with the
widths of their columns, and the transactions that ran while it was looked at. What could not be seen is listed under
`guessed` in the file. Where the servers' processes were sampled, the speed of the cores follows from the CPU seconds
of walsender and apply workers. A profile of the machine makes its times worth more: `replisim lab` measures one.

Examples:
  replisim scenario --from sampled --out twin.yaml
  replisim scenario --from sampled --profile lab/profiles/this-machine.yaml \
      --machine lab/hardware/this-machine.yaml --out twin.yaml
  replisim run twin.yaml --set servers.pub.settings.logical_decoding_work_mem=256MB
)";

} // namespace

void add_scenario(CLI::App& app, Session& session) {
  auto* command = app.add_subcommand("scenario", "Write a scenario that describes a collected cluster");
  const auto options = std::make_shared<ScenarioCommand>();
  command->add_option("--from", options->from, "Folder that `replisim collect` wrote")
      ->required()
      ->type_name("DIR");
  command->add_option("--out", options->out, "The scenario to write (.yaml)")->required()->type_name("FILE");
  command->add_option("--profile", options->options.profile, "Cost profile: a name, or a file")
      ->capture_default_str();
  command->add_option("--machine", options->options.machine,
                      "Machine: a name, or a file (default: the cores that were found)");
  command->add_flag("--force", options->force, "Replace the file if it is there");
  command->footer(notes);
  command->callback([options, &session] { session.exit_code = scenario(*options); });
}

} // namespace replisim::cli
