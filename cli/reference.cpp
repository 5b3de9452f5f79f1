// replisim reference: the tables of docs/ that are generated, in Markdown.
#include "sim/report/reference.hpp"
#include "cli/commands.hpp"
#include "cli/output.hpp"

#include <memory>

namespace replisim::cli {

void add_reference(CLI::App& app, Session& session) {
  auto* command =
      app.add_subcommand("reference", "Print the reference of scenario files or cost profiles, in Markdown");
  const auto what = std::make_shared<std::string>();
  command->add_option("WHAT", *what, "The reference to print")
      ->required()
      ->check(CLI::IsMember({"scenarios", "profiles"}));
  command->footer(R"(Examples:
  replisim reference scenarios > docs/scenario-reference.md
  replisim reference profiles > docs/cost-profiles.md
)");
  command->callback([what, &session] {
    write_stdout(*what == "scenarios" ? scenario_reference() : profile_reference(find_library()));
    session.exit_code = ExitCode::Ok;
  });
}

} // namespace replisim::cli
