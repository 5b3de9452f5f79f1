// replisim explore: a local page whose settings can be moved and whose answers are simulated.
#include "cli/commands.hpp"
#include "cli/explore_server.hpp"
#include "cli/output.hpp"
#include "cli/report/assets.hpp"

#include <fmt/format.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <memory>
#include <string>
#include <vector>

#include <sys/random.h>

namespace replisim::cli {

namespace {

struct ExploreCommand {
  std::string scenario;
  std::vector<std::string> set;
  std::uint64_t seed = 1;
  int port = 0;
  int jobs = 0;
};

/// 128 bits that nobody can guess, as hex. It has no part in any result.
std::string new_token() {
  std::array<unsigned char, 16> bytes{};
  if (::getrandom(bytes.data(), bytes.size(), 0) != static_cast<ssize_t>(bytes.size()))
    throw UsageError(fmt::format("the system gives no random bytes: {}", std::strerror(errno)));
  std::string out;
  for (const unsigned char byte : bytes)
    out += fmt::format("{:02x}", byte);
  return out;
}

ExitCode explore(const ExploreCommand& command) {
  require_readable_file(command.scenario);
  ExploreOptions options;
  options.file = command.scenario;
  for (const auto& text : command.set)
    options.overrides.push_back(parse_override(text));
  options.seed = command.seed;
  options.jobs = command.jobs;
  options.port = command.port;
  options.token = new_token();
  options.assets = explore_assets();
  options.ready = [](const std::string& url) {
    write_stdout(fmt::format("{}\n", url));
    write_stdout("Open this address in a browser on this computer; Ctrl-C ends it.\n");
  };
  serve_explorer(options, find_library());
  return ExitCode::Ok;
}

} // namespace

void add_explore(CLI::App& app, Session& session) {
  auto* command = app.add_subcommand(
      "explore", "Serve a page, to this computer alone, on which a scenario can be changed");
  const auto options = std::make_shared<ExploreCommand>();
  command->add_option("SCENARIO", options->scenario, "Scenario file (YAML)")->required();
  add_set_option(*command, options->set, "path=value: change a field of the scenario; repeatable");
  add_seed_option(*command, options->seed);
  command->add_option("--port", options->port, "Port on 127.0.0.1 (default: a free one)")
      ->check(CLI::Range(1, 65'535))
      ->type_name("PORT");
  add_jobs_option(*command, options->jobs);
  command->footer(
      R"(Sliders and menus change settings; each change is simulated, and what a newer one has made useless is
ended. The page can give the settings as YAML or as a command, and compare answers with a pinned one (docs/pictures.md).

Example:
  replisim explore scenarios/published/streaming_insert.yaml
)");
  command->callback([options, &session] { session.exit_code = explore(*options); });
}

} // namespace replisim::cli
