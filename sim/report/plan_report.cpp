#include "sim/report/plan_report.hpp"

#include "sim/report/text.hpp"
#include "sim/run/result_json.hpp"
#include "sim/scenario/promise.hpp"
#include "sim/version.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

namespace replisim {

using nlohmann::json;

namespace {

using Find = PlanQuestion::Find;

constexpr std::size_t settings_shown = 24;

std::string find_text(Find find) {
  switch (find) {
  case Find::Largest:
    return "largest";
  case Find::Smallest:
    return "smallest";
  case Find::Cheapest:
    return "cheapest";
  case Find::Front:
    break;
  }
  return "front";
}

std::string keeps_text(Keeps keeps) {
  return keeps == Keeps::Yes ? "kept" : keeps == Keeps::No ? "broken" : "close";
}

bool searches(const PlanQuestion& question) {
  return question.find == Find::Largest or question.find == Find::Smallest;
}

std::string question_text(const PlanQuestion& question) {
  switch (question.find) {
  case Find::Largest:
  case Find::Smallest:
    return fmt::format("the {} {} from {} to {}, to {:g} %, that keeps all promises",
                       find_text(question.find), question.over, quantity_text(question, question.range.low),
                       quantity_text(question, question.range.high), 100 * question.tolerance);
  case Find::Cheapest:
    return "the cheapest setting that keeps all promises";
  case Find::Front:
    break;
  }
  return fmt::format("the trade-off between {} and {}", question.objectives.at(0).text,
                     question.objectives.at(1).text);
}

std::string cost_text(const PlanPoint& point) { return fmt::format("{:g}", point.setting.cost); }

/// "1240/s keeps all promises; 1252/s breaks one".
std::string edge_text(const PlanQuestion& question, const PlanPoint& point) {
  if (not point.keeps)
    return "no value looked at surely keeps all promises";
  std::string text = fmt::format("{} keeps all promises", quantity_text(question, *point.keeps));
  if (not point.breaks)
    return text + ", and the range ends there or nothing beyond it surely breaks one";
  return text + fmt::format("; {} breaks them", quantity_text(question, *point.breaks));
}

bool has_costs(const PlanAnswer& answer) {
  return std::any_of(answer.points.begin(), answer.points.end(),
                     [](const PlanPoint& point) { return point.setting.cost > 0; });
}

/// The values of a search, with each promise's figure.
std::string looks_table(const PlanAnswer& answer, const PlanPoint& point) {
  const PlanQuestion& question = *answer.question;
  std::vector<std::string> header = {"Values looked at", "promises"};
  for (const Promise& promise : question.promises)
    header.push_back(promise.text);
  TextTable table(header, 2);
  for (const auto& [value, judgement] : point.looks) {
    std::vector<std::string> cells = {"  " + quantity_text(question, value), keeps_text(judgement.keeps)};
    for (std::size_t p = 0; p < question.promises.size(); ++p) {
      const PromiseOutcome& outcome = judgement.promises[p];
      std::string cell = metric_text(question.promises[p].metric, outcome.value.mean);
      if (outcome.value.half_width > 0)
        cell += " +-" + metric_text(question.promises[p].metric, outcome.value.half_width);
      cells.push_back(outcome.why.empty() ? cell : cell + " *");
    }
    table.add(cells);
  }
  std::string out = "\n" + table.render(0);
  std::vector<std::string> why;
  for (const auto& [value, judgement] : point.looks)
    for (const PromiseOutcome& outcome : judgement.promises)
      if (not outcome.why.empty() and std::find(why.begin(), why.end(), outcome.why) == why.end())
        why.push_back(outcome.why);
  if (not why.empty())
    out += wrapped("  * ", fmt::format("{}", fmt::join(why, "; ")));
  return out;
}

std::string settings_table(const PlanAnswer& answer) {
  const PlanQuestion& question = *answer.question;
  std::vector<std::string> header = {"Settings"};
  if (not answer.points.empty())
    for (const auto& [knob, label] : answer.points.front().setting.knobs)
      header.push_back(knob.substr(knob.find_last_of('.') + 1));
  const bool costs = has_costs(answer);
  if (costs)
    header.emplace_back("cost");
  if (searches(question))
    header.push_back(find_text(question.find));
  for (const PlanObjective& objective : question.objectives)
    if (objective.metric != "cost")
      header.push_back(objective.text);
  header.emplace_back("promises");
  TextTable table(header, header.size() - 1);
  std::size_t rows = 0;
  for (std::size_t i = 0; i < answer.points.size() and rows < settings_shown; ++i) {
    const PlanPoint& point = answer.points[i];
    if (point.looks.empty() and point.setting.excluded.empty())
      continue;
    ++rows;
    const bool chosen =
        answer.best == i or std::find(answer.front.begin(), answer.front.end(), i) != answer.front.end();
    std::vector<std::string> cells = {chosen ? "  ->" : ""};
    for (const auto& [knob, label] : point.setting.knobs)
      cells.push_back(label);
    if (costs)
      cells.push_back(cost_text(point));
    if (searches(question))
      cells.push_back(point.keeps ? quantity_text(question, *point.keeps) : "-");
    for (std::size_t k = 0; k < question.objectives.size(); ++k)
      if (question.objectives[k].metric != "cost")
        cells.push_back(
            point.objectives.empty() ? "-" : metric_text(question.objectives[k].metric, point.objectives[k]));
    std::string note = point.setting.excluded.empty() ? keeps_text(point.judgement.keeps) : "not allowed";
    if (const auto tightest = point.judgement.tightest(); tightest and point.judgement.keeps != Keeps::Yes)
      note += ": " + promise_text(question.promises[*tightest], point.judgement.promises[*tightest]);
    if (not point.judgement.trouble.empty())
      note += ": " + point.judgement.trouble.substr(0, point.judgement.trouble.find('\n'));
    table.add_with_note(cells, note);
  }
  std::string out = "\n" + table.render(0);
  if (answer.points.size() > rows)
    out += fmt::format("  {} settings in all; the others were not looked at or stand in --format json\n",
                       answer.points.size());
  return out;
}

std::string answer_text(const PlanAnswer& answer) {
  const PlanQuestion& question = *answer.question;
  std::string out;
  if (not answer.feasible()) {
    out += "Infeasible\n";
    for (const std::string& reason : answer.reasons)
      out += wrapped("  ", reason);
    return out;
  }
  out += "Answer\n";
  if (not answer.best)
    return out +
           wrapped("  ",
                   fmt::format("{} settings of {} are beaten by no other in both figures; they are marked "
                               "in the table",
                               answer.front.size(), answer.points.size()));
  const PlanPoint& best = answer.points[*answer.best];
  if (not best.setting.knobs.empty())
    out += wrapped("  setting     ",
                   best.setting.label() + (has_costs(answer) ? ", costs " + cost_text(best) : std::string()));
  if (searches(question))
    out += wrapped(fmt::format("  {:<10}  ", find_text(question.find)), edge_text(question, best));
  for (const std::string& binding : best.binding)
    out += wrapped(searches(question) ? "  binding     " : "  tightest    ",
                   binding + (best.bottleneck_at.empty() ? "" : " " + best.bottleneck_at));
  out += wrapped("  bottleneck  ",
                 best.bottleneck + (best.bottleneck_at.empty() ? "" : ", " + best.bottleneck_at));
  for (std::size_t p = 0; p < question.promises.size(); ++p)
    out += wrapped("  kept        ", promise_text(question.promises[p], best.judgement.promises[p]));
  out += wrapped("  confidence  ", fmt::format("95 %, {} replications with seeds from {} on at the answer",
                                               best.replications, answer.seed));
  return out;
}

std::string check_text(const PlanAnswer& answer) {
  if (answer.check.empty())
    return {};
  std::string out = "\nTo see it: replisim run " + answer.file;
  for (const std::string& change : answer.check)
    out += fmt::format(" \\\n    --set '{}'", change);
  return out + "\n";
}

json outcome_json(const Promise& promise, const PromiseOutcome& outcome) {
  return {{"promise", promise.text},
          {"keeps", keeps_text(outcome.keeps)},
          {"value", number_json(outcome.value.mean)},
          {"half_width_95", number_json(outcome.value.half_width)},
          {"slack", number_json(outcome.slack)},
          {"why", outcome.why}};
}

json outcomes_json(const PlanQuestion& question, const Judgement& judgement) {
  json out = json::array();
  for (std::size_t p = 0; p < judgement.promises.size(); ++p)
    out.push_back(outcome_json(question.promises[p], judgement.promises[p]));
  return out;
}

json point_json(const PlanAnswer& answer, const PlanPoint& point) {
  const PlanQuestion& question = *answer.question;
  json knobs = json::object();
  for (const auto& [name, label] : point.setting.knobs)
    knobs[name] = label;
  json looks = json::array();
  if (searches(question))
    for (const auto& [value, judgement] : point.looks)
      looks.push_back({{"value", number_json(value)},
                       {"keeps", keeps_text(judgement.keeps)},
                       {"trouble", judgement.trouble},
                       {"promises", outcomes_json(question, judgement)}});
  json objectives = json::object();
  for (std::size_t k = 0; k < point.objectives.size(); ++k)
    objectives[question.objectives[k].text] = number_json(point.objectives[k]);
  json elsewhere = json::array();
  for (const auto& [from, to] : point.elsewhere)
    elsewhere.push_back({number_json(from), number_json(to)});
  const auto optional_number = [](const std::optional<double>& value) {
    return value ? number_json(*value) : json();
  };
  return {{"knobs", knobs},
          {"cost", number_json(point.setting.cost)},
          {"excluded", point.setting.excluded},
          {"looked_at", not point.looks.empty()},
          {"keeps", keeps_text(point.judgement.keeps)},
          {"value", optional_number(point.keeps)},
          {"breaks", optional_number(point.breaks)},
          {"elsewhere", elsewhere},
          {"promises", outcomes_json(question, point.judgement)},
          {"trouble", point.judgement.trouble},
          {"binding", point.binding},
          {"bottleneck", point.bottleneck},
          {"bottleneck_at", point.bottleneck_at},
          {"objectives", objectives},
          {"replications", point.replications},
          {"notes", point.notes},
          {"looks", looks}};
}

} // namespace

std::string statements_text(const std::vector<Statement>& statements) {
  std::vector<std::string> servers;
  for (const Statement& statement : statements)
    if (std::find(servers.begin(), servers.end(), statement.server) == servers.end())
      servers.push_back(statement.server);
  std::string out;
  const auto comment = [](std::string_view first, const std::string& text) {
    std::string lines = wrapped(first, text);
    std::string all;
    for (std::size_t from = 0; from < lines.size();) {
      const auto end = lines.find('\n', from) + 1;
      std::string line = lines.substr(from, end - from);
      if (not line.starts_with("--"))
        line.replace(0, 2, "--");
      all += line;
      from = end;
    }
    return all;
  };
  for (const std::string& server : servers) {
    out += fmt::format("-- on {}\n", server);
    for (const Statement& statement : statements) {
      if (statement.server != server)
        continue;
      out += comment("-- ", statement.reason);
      if (not statement.effects.empty())
        out += comment("--   also: ", statement.effects);
      if (not statement.sql.empty())
        out += statement.sql + "\n";
    }
  }
  return out;
}

std::string plan_table(const PlanAnswer& answer) {
  const PlanQuestion& question = *answer.question;
  std::string out = fmt::format("{}\n", answer.scenario) + wrapped("  looked for  ", question_text(question));
  for (const Promise& promise : question.promises)
    out += wrapped("  promise     ", promise.text);
  out += "\n" + answer_text(answer);
  const PlanPoint& shown = answer.points[answer.best.value_or(0)];
  if (searches(question) and not shown.looks.empty())
    out += looks_table(answer, shown);
  if (answer.points.size() > 1)
    out += settings_table(answer);
  std::vector<std::string> notes = answer.notes;
  notes.insert(notes.end(), shown.notes.begin(), shown.notes.end());
  if (not notes.empty())
    out += "\nNotes\n";
  for (const std::string& note : notes)
    out += wrapped("  ", note);
  out += check_text(answer);
  if (answer.best)
    out += answer.statements.empty() ? "\nStatements: none, no setting of the cluster changes\n"
                                     : "\nStatements\n" + statements_text(answer.statements);
  out += fmt::format(
      "\n{} simulations; {} inputs are guesses (replisim run lists them, replisim explain says which "
      "decide)\n",
      answer.simulations, answer.guesses.size());
  return out;
}

json statements_json(const std::vector<Statement>& statements) {
  json out = json::array();
  for (const Statement& statement : statements)
    out.push_back({{"server", statement.server},
                   {"sql", statement.sql},
                   {"reason", statement.reason},
                   {"effects", statement.effects}});
  return out;
}

json plan_json(const PlanAnswer& answer) {
  const PlanQuestion& question = *answer.question;
  json promises = json::array();
  for (const Promise& promise : question.promises)
    promises.push_back(promise.text);
  json settings = json::array();
  for (const PlanPoint& point : answer.points)
    settings.push_back(point_json(answer, point));
  json front = json::array();
  for (const std::size_t i : answer.front)
    front.push_back(i);
  json best;
  if (answer.best) {
    best = point_json(answer, answer.points[*answer.best]);
    best.erase("looks");
    if (searches(question))
      best["text"] = quantity_text(question, *answer.points[*answer.best].keeps);
  }
  return {{"scenario", answer.scenario},
          {"version", program_version()},
          {"seed", answer.seed},
          {"find", find_text(question.find)},
          {"over", question.over},
          {"tolerance", question.tolerance},
          {"promises", promises},
          {"feasible", answer.feasible()},
          {"answer", best},
          {"front", front},
          {"settings", settings},
          {"reasons", answer.reasons},
          {"notes", answer.notes},
          {"statements", statements_json(answer.statements)},
          {"check", answer.check},
          {"guesses", guesses_json(answer.guesses)},
          {"simulations", answer.simulations}};
}

} // namespace replisim
