// Options that several subcommands share.
#include "cli/commands.hpp"

#include <charconv>
#include <system_error>

namespace replisim::cli {

namespace {

/// CLI11 would take "-1" for a very large number, and a number that is too large for the largest.
std::string seed_problem(const std::string& text) {
  std::uint64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  const bool whole = error == std::errc() and end == text.data() + text.size();
  return whole ? "" : "'" + text + "' is no seed; allowed are whole numbers from 0 to 18446744073709551615";
}

} // namespace

void add_set_option(CLI::App& command, std::vector<std::string>& overrides, const std::string& help) {
  command.add_option("--set", overrides, help)->allow_extra_args(false)->type_name("PATH=VALUE");
}

void add_seed_option(CLI::App& command, std::uint64_t& seed) {
  command.add_option("--seed", seed, "Seed of all random choices")
      ->check(CLI::Validator(seed_problem, ""))
      ->capture_default_str();
}

void add_jobs_option(CLI::App& command, int& jobs) {
  command.add_option("--jobs", jobs, "Simulations at a time (default: the CPUs this process may use)")
      ->check(CLI::Range(1, 1024));
}

} // namespace replisim::cli
