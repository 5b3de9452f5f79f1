// replisim init: a commented scenario to start from, by asking or from a preset.
#include "cli/commands.hpp"
#include "cli/output.hpp"
#include "models/base/suggest.hpp"
#include "sim/report/files.hpp"
#include "sim/scenario/loader.hpp"

#include <fmt/format.h>

#include <array>
#include <filesystem>
#include <iostream>
#include <memory>
#include <string>
#include <vector>

namespace replisim::cli {

namespace {

struct Preset {
  std::string_view name;
  std::string_view about;
  std::string_view workload; ///< YAML of the workload block
  std::string_view observe;
};

constexpr std::array presets = {
    Preset{"large-transaction", "one large transaction, and nothing beside it",
           "  batch:            # one transaction; the run ends when the subscriber has applied it\n"
           "    server: pub\n"
           "    transaction:\n"
           "      - {insert: orders, rows: 1_000_000}\n",
           ""},
    Preset{"oltp", "small transactions at a rate",
           "  clients:          # open loop: they come at this rate whether or not the server keeps up\n"
           "    server: pub\n"
           "    rate: 1000/s\n"
           "    transaction:\n"
           "      - {insert: orders, rows: 1}\n"
           "      - {update: orders, rows: 2}\n",
           "observe: {until: 5min, interval: 1s}\n"},
    Preset{"batch-and-oltp", "an hourly batch while small transactions run",
           "  clients:\n"
           "    server: pub\n"
           "    rate: 1000/s\n"
           "    transaction: [{insert: orders, rows: 1}]\n"
           "  batch:            # again and again; each run after the one before it\n"
           "    server: pub\n"
           "    at: 1min\n"
           "    every: 1h\n"
           "    transaction: [{update: orders, rows: 2_000_000}]\n",
           "observe: {until: 30min, interval: 1s}\n"}};

/// What one can be asked for. `field` goes into the file as it was typed.
struct Question {
  std::string_view key;
  std::string_view text;
  std::string_view otherwise;
};

constexpr std::array questions = {
    Question{"version", "PostgreSQL version of publisher and subscriber", "17"},
    Question{"cpus", "CPU cores of each of the two hosts", "4"},
    Question{"bandwidth", "network bandwidth between them", "1Gbps"},
    Question{"latency", "network latency, one way", "0.5ms"},
    Question{"work_mem", "logical_decoding_work_mem of the publisher", "64MB"},
    Question{"streaming", "streaming of the subscription (off, on, parallel)", "parallel"}};

using Answers = std::vector<std::string>;

Answers ask() {
  Answers answers;
  for (const Question& question : questions) {
    std::cerr << fmt::format("{} [{}]: ", question.text, question.otherwise);
    std::string line;
    std::getline(std::cin, line);
    answers.push_back(line.empty() ? std::string(question.otherwise) : line);
  }
  return answers;
}

std::string scenario_text(const Preset& preset, const Answers& answers) {
  return fmt::format(
      R"(# yaml-language-server: $schema=scenario.schema.json   (made by `replisim schema > scenario.schema.json`)
# A starter: {about}.
#   replisim check THIS_FILE              what is wrong or suspicious
#   replisim explain-key hosts.a.machine  what a field means
#   replisim run THIS_FILE                the answer
replisim: 1
name: {about}
profile: lab-2core          # costs of each act: calibration/profiles; `replisim calibrate` makes your own
hosts:                      # machines: scenarios/hardware, or every field by itself
  a: {{machine: lab-2core, cores_per_socket: {cpus}}}
  b: {{machine: lab-2core, cores_per_socket: {cpus}}}
servers:                    # settings as in postgresql.conf
  pub: {{host: a, version: {version}, settings: {{logical_decoding_work_mem: {work_mem}}}}}
  sub: {{host: b, version: {version}}}
links:
  - {{between: [a, b], bandwidth: {bandwidth}, latency: {latency}}}
tables:                     # sizes follow from the columns
  orders:
    columns: {{id: {{type: int8, value: sequence}}, customer: int4, note: text(60), at: timestamptz}}
    primary_key: [id]
    secondary_indexes: 1
    rows: 10_000_000
publications:
  p: {{server: pub, tables: [orders]}}
subscriptions:
  s: {{server: sub, publication: p, streaming: {streaming}}}
workload:
{workload}{observe}guessed:                    # what nobody has measured yet; printed with each answer
  hosts: the lab's cores, as many as were asked for
  tables.orders: an example; put your own columns here
)",
      fmt::arg("about", preset.about), fmt::arg("version", answers[0]), fmt::arg("cpus", answers[1]),
      fmt::arg("bandwidth", answers[2]), fmt::arg("latency", answers[3]), fmt::arg("work_mem", answers[4]),
      fmt::arg("streaming", answers[5]), fmt::arg("workload", preset.workload),
      fmt::arg("observe", preset.observe));
}

const Preset& preset_named(const std::string& name) {
  std::vector<std::string> names;
  for (const Preset& preset : presets) {
    if (preset.name == name)
      return preset;
    names.emplace_back(preset.name);
  }
  throw UsageError(fmt::format("unknown preset '{}'{}", name, suggestion(name, names)));
}

/// The file is complete, loads, and replaces nothing.
void write_scenario(const std::string& file, const std::string& text) {
  if (std::filesystem::exists(file))
    throw UsageError(fmt::format("{}: is there already; name another file", file));
  write_file(file, text);
  try {
    load_scenario(file, {}, find_library());
  } catch (const ScenarioError&) {
    std::filesystem::remove(file); // an answer was no value of its field
    throw;
  }
}

} // namespace

void add_init(CLI::App& app, Session& session) {
  struct Options {
    std::string file;
    std::string preset = "large-transaction";
    bool asks = false;
  };
  auto* command = app.add_subcommand("init", "Write a commented scenario to start from");
  const auto options = std::make_shared<Options>();
  std::string list;
  for (const Preset& preset : presets)
    list += fmt::format("\n  {:<18} {}", preset.name, preset.about);
  command->add_option("FILE", options->file, "The scenario file to write")->required();
  command->add_option("--preset", options->preset, "The workload to begin with")->capture_default_str();
  command->add_flag("--ask", options->asks,
                    "Ask for versions, hosts and settings instead of taking the usual ones");
  command->footer(fmt::format(
      "\nPresets:{}\n\nExample:\n  replisim init mine.yaml --preset oltp && replisim run mine.yaml\n", list));
  command->callback([options, &session] {
    Answers answers;
    for (const Question& question : questions)
      answers.emplace_back(question.otherwise);
    const Preset& preset = preset_named(options->preset);
    if (options->asks)
      answers = ask();
    write_scenario(options->file, scenario_text(preset, answers));
    write_stdout(fmt::format("{} is written; next: replisim run {}\n", options->file, options->file));
    session.exit_code = ExitCode::Ok;
  });
}

} // namespace replisim::cli
