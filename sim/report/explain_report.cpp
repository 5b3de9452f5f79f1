#include "sim/report/explain_report.hpp"

#include "sim/report/compare_report.hpp"
#include "sim/report/text.hpp"
#include "sim/run/result_json.hpp"
#include "sim/scenario/promise.hpp"
#include "sim/version.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>

namespace replisim {

using nlohmann::json;

namespace {

constexpr std::size_t widest_path = 52;

std::string change_text(const Explanation& e, double value) {
  if (e.base == 0)
    return value == 0 ? "none" : "from 0";
  const double share = (value - e.base) / std::abs(e.base);
  if (share == 0)
    return "none";
  if (std::abs(share) >= 10)
    return fmt::format("{:.3g} times", value / e.base);
  return std::abs(share) < 0.0005 ? fmt::format("{:+.2g} %", 100 * share)
                                  : fmt::format("{:+.1f} %", 100 * share);
}

std::string figure(const Explanation& e, double value) { return figure_text(e.metric, value); }

/// Paths are shown by their end: the beginning of a cost's says nothing.
std::string short_path(const std::string& path) {
  constexpr std::string_view parameters = "profile.parameters.";
  const std::string text = path.starts_with(parameters) ? path.substr(parameters.size()) : path;
  return text.size() <= widest_path ? text : "..." + text.substr(text.size() - widest_path + 3);
}

/// The input in one cell.
std::string input_text(const ExplainInput& input) {
  const std::string path = short_path(input.path);
  return input.alike == 0 ? path : fmt::format("{} and {} alike", path, input.alike);
}

std::string limits_text(const Explanation& e) {
  std::string out = "What limits now\n";
  out += wrapped("  ", e.bottleneck);
  for (std::size_t i = 0; i < e.chain.size(); ++i) {
    const StageGain& step = e.chain[i];
    out += wrapped("  ", fmt::format("{}{}, {}: {} would be {} ({}); then {}", i == 0 ? "with " : "and with ",
                                     step.stage, step.how, e.metric, figure(e, step.metric),
                                     change_text(e, step.metric), step.next));
  }
  return out;
}

std::string stages_table(const Explanation& e) {
  TextTable table({"Each stage twice as fast, by itself", e.metric, "change"}, 1);
  for (const StageGain& stage : e.stages)
    table.add_with_note({"  " + stage.stage, figure(e, stage.metric), change_text(e, stage.metric)},
                        stage.how);
  return "\n" + table.render(0);
}

/// "4.42us .. 6.6us: -10 % .. +31 %".
std::string ends_text(const Explanation& e, const InputEffect& effect) {
  std::vector<std::string> parts;
  for (const EffectEnd& end : effect.ends) {
    std::string text = end.failed.empty() ? change_text(e, end.metric) : "not possible";
    if (end.noise > std::abs(end.metric - e.base))
      text += " (within chance)";
    parts.push_back(fmt::format("{}: {}", clipped(end.value, 20), text));
  }
  return fmt::format("{}", fmt::join(parts, "  "));
}

std::string inputs_table(const Explanation& e, std::size_t most) {
  const auto has = [&](auto member) {
    return std::any_of(e.inputs.begin(), e.inputs.end(),
                       [member](const InputEffect& i) { return (i.*member).has_value(); });
  };
  const bool morris = has(&InputEffect::morris), sobol = has(&InputEffect::sobol);
  std::vector<std::string> header = {"Inputs, one at a time", "now", "moves it by"};
  if (morris)
    header.insert(header.end(), {"mu*", "sigma"});
  if (sobol)
    header.insert(header.end(), {"S1", "ST"});
  TextTable table(header, 1);
  for (std::size_t i = 0; i < std::min(most, e.inputs.size()); ++i) {
    const InputEffect& effect = e.inputs[i];
    std::vector<std::string> cells = {(effect.input.guess.empty() ? "  " : "? ") + input_text(effect.input),
                                      clipped(effect.input.now, 14), figure(e, effect.span)};
    if (morris) {
      cells.push_back(effect.morris ? figure(e, effect.morris->mean_absolute) : "");
      cells.push_back(effect.morris ? figure(e, effect.morris->deviation) : "");
    }
    if (sobol) {
      cells.push_back(effect.sobol ? fmt::format("{:.2f}", effect.sobol->first) : "");
      cells.push_back(effect.sobol ? fmt::format("{:.2f}", effect.sobol->total) : "");
    }
    table.add_with_note(cells, ends_text(e, effect));
  }
  std::string out = "\n" + table.render(0);
  if (e.inputs.size() > most)
    out += fmt::format("  {} more move it less: --inputs shows more\n", e.inputs.size() - most);
  out += fmt::format("  {} inputs do not move it, {} guesses among them\n", e.still, e.still_guesses);
  if (morris)
    out += "  mu*: mean effect over the whole range when all of these move; sigma: how much that depends on "
           "the others\n";
  if (sobol)
    out += "  S1: share of the variance by the input alone; ST: with its interactions\n";
  return out + "  ?: nobody measured or stated it\n";
}

std::string deciding(const Explanation& e) {
  if (e.decide.empty())
    return "\nNo input moves " + e.metric + " within its range.\n";
  std::vector<std::string> parts;
  std::size_t guesses = 0;
  for (const InputEffect& effect : e.inputs)
    if (std::find(e.decide.begin(), e.decide.end(), effect.input.path) != e.decide.end()) {
      guesses += effect.input.guess.empty() ? 0 : 1;
      parts.push_back(input_text(effect.input) +
                      (effect.input.guess.empty() ? "" : fmt::format(" (a guess: {})", effect.input.guess)));
    }
  return "\n" +
         wrapped("", fmt::format(
                         "{} inputs decide {}: they make up {:.0f} % of all effects, {} of them guesses: {}",
                         e.decide.size(), e.metric, 100 * e.decide_share, guesses, fmt::join(parts, "; ")));
}

json gains_json(const std::vector<StageGain>& gains) {
  json out = json::array();
  for (const StageGain& gain : gains)
    out.push_back({{"stage", gain.stage},
                   {"how", gain.how},
                   {"metric", number_json(gain.metric)},
                   {"next", gain.next}});
  return out;
}

json input_json(const InputEffect& effect) {
  json ends = json::array();
  for (const EffectEnd& end : effect.ends)
    ends.push_back({{"value", end.value},
                    {"metric", number_json(end.metric)},
                    {"noise", number_json(end.noise)},
                    {"failed", end.failed}});
  json out = {{"path", effect.input.path},
              {"alike", effect.input.alike},
              {"kind", effect.input.kind},
              {"now", effect.input.now},
              {"guess", effect.input.guess},
              {"span", number_json(effect.span)},
              {"ends", ends},
              {"morris", nullptr},
              {"sobol", nullptr}};
  if (effect.morris)
    out["morris"] = {{"mean", number_json(effect.morris->mean)},
                     {"mean_absolute", number_json(effect.morris->mean_absolute)},
                     {"deviation", number_json(effect.morris->deviation)}};
  if (effect.sobol)
    out["sobol"] = {{"first", number_json(effect.sobol->first)}, {"total", number_json(effect.sobol->total)}};
  return out;
}

} // namespace

std::string explain_table(const Explanation& e, std::size_t inputs) {
  std::string out = fmt::format("{}: {} is {}\n\n", e.scenario, e.metric, figure(e, e.base));
  out += limits_text(e) + stages_table(e) + inputs_table(e, inputs);
  for (const std::string& note : e.notes)
    out += wrapped("  note: ", note);
  return out + deciding(e) + fmt::format("\n{} simulations\n", e.simulations);
}

json explain_json(const Explanation& e) {
  json inputs = json::array();
  for (const InputEffect& effect : e.inputs)
    inputs.push_back(input_json(effect));
  return {{"scenario", e.scenario},
          {"version", program_version()},
          {"seed", e.seed},
          {"metric", e.metric},
          {"value", number_json(e.base)},
          {"random", e.random},
          {"time_resolution", e.resolution.empty() ? json() : json(e.resolution)},
          {"bottleneck", e.bottleneck},
          {"stages", gains_json(e.stages)},
          {"chain", gains_json(e.chain)},
          {"inputs", inputs},
          {"without_effect", e.still},
          {"guesses_without_effect", e.still_guesses},
          {"decide", e.decide},
          {"decide_share", number_json(e.decide_share)},
          {"notes", e.notes},
          {"simulations", e.simulations}};
}

} // namespace replisim
