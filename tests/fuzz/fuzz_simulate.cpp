// Scenario files that are accepted are simulated, too: by the real program, in a process of its own with
// limits on its time and memory. Whatever was accepted must end with an answer, a refusal, or at a limit.
// Inputs are those of fuzz_scenario. REPLISIM_PROGRAM is the program; without it nothing is simulated.
#include "tests/fuzz/fuzz.hpp"

#include <algorithm>
#include <csignal>
#include <cstdlib>
#include <fstream>
#include <iterator>

#include <fcntl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

using namespace replisim;

namespace {

constexpr rlim_t most_cpu_s = 5;
constexpr int most_wall_ms = 8000, look_every_ms = 5;
constexpr rlim_t most_memory_bytes = rlim_t{3} << 30;

/// What may take long although it is small as a file.
bool is_small(const Scenario& scenario) {
  constexpr double most_rows = 1e6, most_seconds = 3600;
  double rows = 0;
  for (const auto& batch : scenario.batches)
    for (const auto& step : batch.transaction)
      if (const auto* statement = std::get_if<StatementStep>(&step))
        rows += static_cast<double>(statement->rows);
  return rows <= most_rows and scenario.observe.until_s <= most_seconds;
}

[[noreturn]] void become_program(const char* program, const std::string& file, const std::string& errors) {
  const rlimit cpu{most_cpu_s, most_cpu_s + 1}, memory{most_memory_bytes, most_memory_bytes}, core{0, 0};
  ::setrlimit(RLIMIT_CPU, &cpu);
  ::setrlimit(RLIMIT_AS, &memory);
  ::setrlimit(RLIMIT_CORE, &core);
  const int nowhere = ::open("/dev/null", O_RDWR);
  const int sink = ::open(errors.c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0600);
  ::dup2(nowhere, STDIN_FILENO);
  ::dup2(nowhere, STDOUT_FILENO);
  ::dup2(sink, STDERR_FILENO);
  ::execl(program, program, "run", file.c_str(), "--format", "json", "--jobs", "1", nullptr);
  ::_exit(127);
}

void simulate(const char* program, const std::string& file) {
  const std::string errors = (fuzz::scratch_folder() / "errors").string();
  const pid_t child = ::fork();
  if (child == 0)
    become_program(program, file, errors);
  int status = 0;
  for (int waited_ms = 0; ::waitpid(child, &status, WNOHANG) == 0; waited_ms += look_every_ms) {
    if (waited_ms > most_wall_ms) {
      ::kill(child, SIGKILL); // its own children end with it
      ::waitpid(child, &status, 0);
      return;
    }
    ::usleep(look_every_ms * 1000);
  }
  if (WIFEXITED(status) and WEXITSTATUS(status) <= 2)
    return;
  if (WIFSIGNALED(status) and (WTERMSIG(status) == SIGXCPU or WTERMSIG(status) == SIGKILL))
    return; // at a limit of ours
  std::ifstream stream(errors);
  const std::string said((std::istreambuf_iterator<char>(stream)), {});
  for (const char* limit : {"CPU time limit exceeded", "(Killed)", "std::bad_alloc", "memory"})
    if (said.find(limit) != std::string::npos)
      return;
  fuzz::broken("an accepted scenario ends with status " + std::to_string(status) + ": " + said);
}

} // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static const char* program = std::getenv("REPLISIM_PROGRAM");
  std::filesystem::path file;
  for (const auto& part : fuzz::parts_of(fuzz::view_of(data, size))) {
    if (part.name.empty())
      file = fuzz::scratch_file("scenario.yaml", part.text);
    else if (part.name == "base.yaml" or part.name == "postgresql.conf" or part.name == "replay.csv")
      fuzz::scratch_file(part.name, part.text);
  }
  bool simulated = false;
  fuzz::accepted([&] { simulated = is_small(load_scenario(file, {}, fuzz::library())); });
  fuzz::forget_scratch_files();
  if (simulated and program != nullptr)
    simulate(program, file.string());
  return 0;
}
