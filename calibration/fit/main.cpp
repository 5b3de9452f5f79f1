// replisim_fit: fits costs to a suite of measurements and prints what a profile should say.
#include "calibration/fit/fit_report.hpp"
#include "models/base/errors.hpp"
#include "models/base/suggest.hpp"

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <sstream>
#include <string>
#include <vector>

#include <unistd.h>

namespace {

using namespace replisim;

struct Arguments {
  std::string suite;
  FitRequest request;
  std::vector<std::string> parameters;
  std::vector<std::string> together;
  std::vector<std::string> fixed;
  std::string derived_spread;
  int iterations = FitOptions().max_iterations;
  int jobs = 0;
};

constexpr const char* notes =
    R"(Costs are given and printed as profile files state them: on the profile's own machine, with units
("7.0us"); cpu_speed is a plain number. SPREAD is the standard deviation of the logarithm around START;
without it nothing but the measurements holds the parameter.

Example:
  replisim_fit seed-streaming --metric total_s --parameter cpu_speed=0.72:0.3 --parameter apply.insert_row=6.9us
)";

CLI::Option* add_list(CLI::App& app, const std::string& name, std::vector<std::string>& values,
                      const std::string& form, const std::string& sentence) {
  return app.add_option(name, values, sentence + "; repeatable")->allow_extra_args(false)->type_name(form);
}

void describe(CLI::App& app, Arguments& arguments) {
  FitRequest& request = arguments.request;
  app.add_option("SUITE", arguments.suite, "Suite of measurements (replisim validate lists them)")
      ->required();
  add_list(app, "--metric", request.metrics, "NAME", "Fit to the cells of this metric")->required();
  add_list(app, "--parameter", arguments.parameters, "NAME=START[:SPREAD]", "Fit this cost");
  add_list(app, "--together", arguments.together, "NAME,NAME=FACTOR[:SPREAD]",
           "Fit one factor on several costs, on what --fix or else the profile says of them");
  add_list(app, "--fix", arguments.fixed, "NAME=VALUE", "Hold this cost, in place of the profile's");
  add_list(app, "--only", request.only, "ID-PREFIX", "Fit to cells whose id begins so, and no others");
  add_list(app, "--exclude", request.exclude, "ID-PREFIX", "Leave out cells whose id begins so");
  app.add_option("--iterations", arguments.iterations, "Largest number of iterations")
      ->check(CLI::Range(1, 1000))
      ->capture_default_str();
  app.add_option("--jobs", arguments.jobs, "Simulations at a time (default: the CPUs this process may use)")
      ->check(CLI::Range(1, 1024));
  app.add_option("--derived", arguments.derived_spread,
                 "Fit to the suite's improvements too, as ratios known to this relative error")
      ->type_name("SPREAD");
  app.footer(notes);
}

int fit(Arguments arguments) {
  FitRequest& request = arguments.request;
  for (const std::string& text : arguments.parameters)
    request.parameters.push_back(parse_parameter(text));
  for (const std::string& text : arguments.together)
    request.parameters.push_back(parse_together(text));
  request.fixed = parse_fixed(arguments.fixed);
  if (not arguments.derived_spread.empty())
    request.derived_spread = parse_spread("--derived", arguments.derived_spread);
  FitOptions options;
  options.max_iterations = arguments.iterations;
  if (::isatty(STDERR_FILENO) != 0)
    options.progress = [](int iteration, double cost) {
      std::fputs(fmt::format("iteration {}, cost {:.2f}\n", iteration, cost).c_str(), stderr);
    };
  const InterruptScope scope;
  const Library library = find_library();
  const Suite suite = make_suite(arguments.suite, library);
  const SuiteFit result =
      fit_suite(suite, request, library, forked_simulator({.jobs = arguments.jobs, .progress = {}}), options);
  const std::string text = fit_table(result) + "\nFor a profile:\n\n" + profile_snippet(result);
  if (std::fputs(text.c_str(), stdout) < 0 or std::fflush(stdout) != 0)
    throw UsageError(fmt::format("cannot write to standard output: {}", std::strerror(errno)));
  return static_cast<int>(ExitCode::Ok);
}

int complain(const std::string& text, ExitCode code) {
  std::fprintf(stderr, "%s\n", text.c_str());
  return static_cast<int>(code);
}

/// A sentence on the first option that does not exist; empty when there is none.
std::string unknown_option(const CLI::App& app) {
  for (const std::string& word : app.remaining()) {
    if (not word.starts_with('-'))
      continue;
    std::vector<std::string> known;
    for (const CLI::Option* option : app.get_options())
      known.push_back(option->get_name());
    return fmt::format("replisim_fit does not know '{}'{}", word, suggestion(word, known));
  }
  return {};
}

int run(int argc, char** argv) {
  Arguments arguments;
  CLI::App app("Fits costs to measurements and prints them as a profile states them", "replisim_fit");
  describe(app, arguments);
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    std::ostringstream out;
    std::ostringstream ignored;
    if (app.exit(error, out, ignored) == 0) {
      std::fputs(out.str().c_str(), stdout);
      return static_cast<int>(ExitCode::Ok);
    }
    const std::string unknown = unknown_option(app);
    return complain((unknown.empty() ? error.what() : unknown) + "\nRun with --help for more information.",
                    ExitCode::Usage);
  }
  return fit(std::move(arguments));
}

} // namespace

int main(int argc, char** argv) {
  try {
    return run(argc, argv);
  } catch (const UsageError& e) {
    return complain(e.what(), ExitCode::Usage);
  } catch (const Interrupted& e) {
    return complain(fmt::format("replisim_fit: {}", e.what()), ExitCode::Interrupted);
  } catch (const std::exception& e) {
    return complain(
        fmt::format("replisim_fit: an error of the program itself, please report it: {}", e.what()),
        ExitCode::Internal);
  }
}
