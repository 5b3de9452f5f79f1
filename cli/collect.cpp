// replisim collect: samples a running publisher and subscriber, read-only.
#include "calibration/live/collector.hpp"
#include "cli/commands.hpp"
#include "cli/output.hpp"
#include "models/base/units.hpp"
#include "sim/run/fork_pool.hpp"

#include <fmt/format.h>

#include <cstdio>
#include <memory>

namespace replisim::cli {

namespace {

struct CollectCommand {
  live::CollectOptions options;
  std::string interval = "1s", duration, out;
};

double duration_of(const std::string& text, const char* option) {
  const ParsedQuantity parsed = parse_quantity(text, Dimension::Duration);
  if (not parsed.ok or parsed.value <= 0)
    throw UsageError(
        fmt::format("{}: found '{}'; write a duration such as 500ms, 10s or 5min", option, text));
  return parsed.value;
}

std::string cores_text(double cores) {
  return cores < 0 ? std::string("on another host, not measured")
                   : fmt::format("{:.2f} % of a core", 100 * cores);
}

ExitCode collect(CollectCommand& command) {
  const InterruptScope scope;
  live::CollectOptions& options = command.options;
  options.out = command.out;
  options.interval_s = duration_of(command.interval, "--interval");
  constexpr double shortest_s = 0.05;
  if (options.interval_s < shortest_s)
    throw UsageError("--interval: not below 50ms: looking costs the servers time, too");
  if (not command.duration.empty())
    options.duration_s = duration_of(command.duration, "--duration");
  options.say = [](const std::string& sentence) {
    std::fputs(fmt::format("{}\n", sentence).c_str(), stderr);
  };
  const live::CollectSummary summary = live::collect(options);
  write_stdout(fmt::format("{} looks in {}, {} written to {}; reconnected {} times\n"
                           "cost: on the publisher {}, on the subscriber {}, here {}\n"
                           "next: replisim observe {}\n      replisim scenario --from {} --out twin.yaml\n",
                           summary.samples, format_duration(summary.seconds),
                           format_bytes(static_cast<double>(summary.bytes)), options.out.string(),
                           summary.reconnects, cores_text(summary.publisher_cores),
                           cores_text(summary.subscriber_cores), cores_text(summary.own_cores),
                           options.out.string(), options.out.string()));
  // Without a duration Ctrl-C is the way to end it.
  return summary.interrupted and options.duration_s > 0 ? ExitCode::Interrupted : ExitCode::Ok;
}

constexpr const char* notes =
    R"(Reads statistics views, locks, catalogs and settings; changes nothing. A role in
pg_monitor is enough; widths of columns are known of tables that it may read. Connection strings are those of libpq;
keep passwords in ~/.pgpass or PGPASSWORD: nothing of them is written. Where a server runs on this host, the CPU seconds
of its processes are sampled, too. Ctrl-C ends it with a complete folder (docs/live.md).

Examples:
  replisim collect --publisher "host=db1 dbname=app user=monitor" \
      --subscriber "host=db2 dbname=app user=monitor" --duration 10min --out sampled
  replisim observe sampled
  replisim scenario --from sampled --out twin.yaml
)";

} // namespace

void add_collect(CLI::App& app, Session& session) {
  auto* command = app.add_subcommand("collect", "Sample a running publisher and subscriber, read-only");
  const auto options = std::make_shared<CollectCommand>();
  command
      ->add_option("--publisher", options->options.publisher, "Connection string of the publisher's database")
      ->required()
      ->type_name("CONNINFO");
  command
      ->add_option("--subscriber", options->options.subscriber,
                   "Connection string of the subscriber's database")
      ->required()
      ->type_name("CONNINFO");
  command->add_option("--out", options->out, "Folder to write; new or empty")->required()->type_name("DIR");
  command->add_option("--interval", options->interval, "From one look to the next")
      ->capture_default_str()
      ->type_name("TIME");
  command->add_option("--duration", options->duration, "How long (default: until Ctrl-C)")->type_name("TIME");
  command->footer(notes);
  command->callback([options, &session] { session.exit_code = collect(*options); });
}

} // namespace replisim::cli
