#include "cli/slurm.hpp"

#include "cli/output.hpp"
#include "sim/report/files.hpp"
#include "sim/report/results_report.hpp"
#include "sim/scenario/loader.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <array>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <memory>
#include <system_error>
#include <vector>

#include <sys/wait.h>

namespace replisim::cli {

namespace fs = std::filesystem;

namespace {

std::string own_path() {
  std::error_code error;
  return fs::read_symlink("/proc/self/exe", error).string();
}

/// What every shard shares, as words of the command line.
std::vector<std::string> sweep_words(const SweepOptions& options) {
  std::vector<std::string> words = {"sweep", fs::absolute(options.scenario).string()};
  const auto add = [&](const char* name, const std::string& value) {
    if (not value.empty()) {
      words.emplace_back(name);
      words.push_back(value);
    }
  };
  for (const auto& text : options.vary)
    add("--vary", text);
  for (const auto& text : options.set)
    add("--set", text);
  add("--sample", options.sample);
  add("--sample-seed", std::to_string(options.sample_seed));
  add("--seed", std::to_string(options.seed));
  add("--replications", std::to_string(options.replications));
  add("--jobs", options.jobs > 0 ? std::to_string(options.jobs) : "");
  add("--time-limit", options.time_limit);
  add("--memory-limit", options.memory_limit);
  if (options.retry_failed)
    words.emplace_back("--retry-failed");
  return words;
}

/// Runs a shell command; what it wrote to standard output and its exit code.
std::pair<std::string, int> output_of(const std::string& command) {
  std::unique_ptr<std::FILE, int (*)(std::FILE*)> pipe(::popen(command.c_str(), "r"), ::pclose);
  if (pipe == nullptr)
    throw UsageError(fmt::format("cannot start a shell: {}", std::strerror(errno)));
  std::string text;
  std::array<char, 4096> block;
  while (const std::size_t n = std::fread(block.data(), 1, block.size(), pipe.get()))
    text.append(block.data(), n);
  const int status = ::pclose(pipe.release());
  return {text, WIFEXITED(status) ? WEXITSTATUS(status) : 128};
}

std::string last_line(std::string text) {
  while (not text.empty() and text.back() == '\n')
    text.pop_back();
  return text.substr(text.find_last_of('\n') + 1);
}

std::vector<std::string> shard_files(const SweepOptions& options, const fs::path& folder) {
  std::vector<std::string> out;
  for (int k = 1; k <= options.shards; ++k)
    out.push_back((folder / fmt::format("shard-{}.db", k)).string());
  return out;
}

/// After the array has ended: one file, unless a task left none.
ExitCode merge_shards(const SweepOptions& options, const fs::path& folder) {
  const auto files = shard_files(options, folder);
  for (const auto& file : files)
    if (not fs::exists(file))
      throw UsageError(
          fmt::format("a task of the job array left no '{}'; its log is in '{}'", file, folder.string()));
  const auto missing = merge_results(options.db, files);
  ResultsFile merged = ResultsFile::open(options.db);
  write_stdout(results_heading(merged));
  return missing > 0 or merged.count(true) > 0 ? ExitCode::No : ExitCode::Ok;
}

} // namespace

std::string shell_quoted(std::string_view text) {
  std::string out = "'";
  for (const char c : text)
    out += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return out + "'";
}

std::string slurm_script(const SweepOptions& options, const std::string& program, const std::string& library,
                         const std::string& folder) {
  std::vector<std::string> words;
  for (const auto& word : sweep_words(options))
    words.push_back(shell_quoted(word));
  std::string out = "#!/bin/bash\n";
  out += fmt::format("#SBATCH --job-name=\"{}\"\n", fs::path(options.db).stem().string());
  out += fmt::format("#SBATCH --array=1-{}\n", options.shards);
  out += fmt::format("#SBATCH --output=\"{}/shard-%a.log\"\n", folder);
  out += "# A task that is started again goes on where it ended.\n";
  out += "#SBATCH --requeue --open-mode=append\n";
  out += fmt::format("export REPLISIM_HOME={}\n", shell_quoted(library));
  // Exit code 1 says that points failed; their rows say why, and Slurm need not call it a failed job.
  const char* jobs = options.jobs > 0 ? "" : " ${SLURM_CPUS_PER_TASK:+--jobs $SLURM_CPUS_PER_TASK}";
  out += fmt::format(
      "{} {}{} \\\n  --shard \"$SLURM_ARRAY_TASK_ID/{}\" --db {}\"/shard-$SLURM_ARRAY_TASK_ID.db\"\n",
      shell_quoted(program), fmt::join(words, " "), jobs, options.shards, shell_quoted(folder));
  out += "code=$?\n[ $code -eq 1 ] && exit 0\nexit $code\n";
  return out;
}

ExitCode submit_to_slurm(const SweepOptions& options) {
  if (fs::exists(options.db))
    throw UsageError(fmt::format("'{}' exists already; --slurm merges into a new file", options.db));
  if (output_of("command -v sbatch").second != 0)
    throw UsageError(
        "there is no sbatch on this machine; install Slurm's commands (Debian: slurm-client), or "
        "run the shards another way: docs/sweeps.md shows GNU parallel");
  const fs::path folder = fs::absolute(options.db + ".slurm");
  require_folder(folder);
  const fs::path script = folder / "job.sh";
  write_file(script, slurm_script(options, own_path(), find_library().root.string(), folder.string()));
  const std::string command = fmt::format("sbatch --parsable {}{} {} 2>&1", options.wait ? "--wait " : "",
                                          options.slurm_options, shell_quoted(script.string()));
  // With --wait the exit code is that of the tasks: what they left says more than it.
  const std::string answer = output_of(command).first;
  const std::string job = answer.substr(0, answer.find_first_of("\n;"));
  if (job.empty() or job.find_first_not_of("0123456789") != std::string::npos)
    throw UsageError(
        fmt::format("sbatch refuses the job ('{}' is the script): {}", script.string(), last_line(answer)));
  if (options.wait)
    return merge_shards(options, folder);
  write_stdout(fmt::format("submitted job array {} with {} tasks; script and logs are in {}\n"
                           "follow:  squeue --job {}\n"
                           "when done:  replisim results merge {} {}/shard-*.db\n",
                           job, options.shards, folder.string(), job, shell_quoted(options.db),
                           shell_quoted(folder.string())));
  return ExitCode::Ok;
}

} // namespace replisim::cli
