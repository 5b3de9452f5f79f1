#include "sim/scenario/replay_file.hpp"

#include "models/base/errors.hpp"
#include "models/base/suggest.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <fstream>
#include <optional>

namespace replisim {

namespace {

constexpr std::size_t most_mistakes = 20; ///< of one file; a file of another kind would give thousands
constexpr double longest_s = 366.0 * 86400;
constexpr Rows most_rows = 1'000'000'000'000;

std::string_view trimmed(std::string_view text) {
  const auto first = text.find_first_not_of(" \t\r");
  if (first == std::string_view::npos)
    return {};
  return text.substr(first, text.find_last_not_of(" \t\r") - first + 1);
}

/// The text up to the next `separator`, which is taken off `rest` with it.
std::string_view cut(std::string_view& rest, char separator) {
  const auto end = rest.find(separator);
  const std::string_view part = rest.substr(0, end);
  rest = end == std::string_view::npos ? std::string_view() : rest.substr(end + 1);
  return trimmed(part);
}

template <typename Number>
std::optional<Number> whole(std::string_view text) {
  Number value{};
  const auto [stop, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() or stop != text.data() + text.size())
    return std::nullopt;
  return value;
}

class ReplayReader {
public:
  ReplayReader(std::string file, const std::map<std::string, Table>& tables, double speed, ReplayLoad& load)
      : file_(std::move(file)), tables_(tables), speed_(speed), load_(load) {}

  void read(std::istream& in) {
    std::string line;
    line_ = 1;
    if (not std::getline(in, line) or trimmed(line) != replay_header)
      fail(fmt::format("found '{}' in the first line; allowed is the header '{}'",
                       std::string(trimmed(line)).substr(0, 60), replay_header));
    while (mistakes_.size() < most_mistakes and header_ok() and std::getline(in, line)) {
      ++line_;
      if (not trimmed(line).empty())
        take(line);
    }
    if (mistakes_.empty() and load_.transactions.empty())
      fail("there is no transaction below the header");
    if (not mistakes_.empty())
      throw ScenarioError(std::move(mistakes_));
  }

private:
  bool header_ok() const { return line_ > 1 or mistakes_.empty(); }

  void fail(std::string message) { mistakes_.push_back({file_, line_, 1, {}, std::move(message)}); }

  std::optional<double> seconds(std::string_view text, std::string_view column) {
    const auto value = whole<double>(text);
    if (value and std::isfinite(*value) and *value >= 0 and *value <= longest_s)
      return *value / speed_;
    fail(fmt::format("{}: found '{}'; allowed are seconds from 0 to {:.0f}", column, text, longest_s));
    return std::nullopt;
  }

  void take(std::string_view line) {
    if (std::count(line.begin(), line.end(), ',') != 3) {
      fail(fmt::format("found {} cells; a line has the four of the header '{}'",
                       std::count(line.begin(), line.end(), ',') + 1, replay_header));
      return;
    }
    ReplayedTransaction transaction;
    const auto at_s = seconds(cut(line, ','), "at_s");
    const auto lasts_s = seconds(cut(line, ','), "lasts_s");
    const std::string_view ends = cut(line, ',');
    if (ends != "commit" and ends != "rollback")
      fail(fmt::format("ends: found '{}'; allowed: commit, rollback", ends));
    const auto steps = steps_of(trimmed(line));
    if (not at_s or not lasts_s or not steps)
      return;
    if (not load_.transactions.empty() and *at_s < load_.transactions.back().at_s)
      fail(fmt::format("at_s: {} comes after {}; the lines stand in order of time", *at_s * speed_,
                       load_.transactions.back().at_s * speed_));
    load_.transactions.push_back({*at_s, *lasts_s, *steps, ends == "rollback"});
  }

  /// "3" or "3: insert t 1; ..." or the steps alone.
  std::optional<std::size_t> steps_of(std::string_view text) {
    const auto digits = text.find_first_not_of("0123456789");
    if (digits == 0 or text.empty())
      return intern(text);
    const auto number = whole<std::uint64_t>(text.substr(0, digits));
    if (digits == std::string_view::npos and number) {
      const auto known = numbered_.find(*number);
      if (known != numbered_.end())
        return known->second;
      fail(fmt::format("steps: no line above defines number {}", text));
      return std::nullopt;
    }
    if (not number or text[digits] != ':') {
      fail(fmt::format("steps: found '{}'; a number is followed by ':' and the steps", text));
      return std::nullopt;
    }
    const auto index = intern(trimmed(text.substr(digits + 1)));
    if (index and not numbered_.emplace(*number, *index).second)
      fail(fmt::format("steps: number {} is defined twice", *number));
    return index;
  }

  std::optional<std::size_t> intern(std::string_view text) {
    if (const auto known = by_text_.find(text); known != by_text_.end())
      return known->second;
    auto steps = parse(text);
    if (not steps)
      return std::nullopt;
    load_.distinct.push_back(std::move(*steps));
    by_text_.emplace(text, load_.distinct.size() - 1);
    return load_.distinct.size() - 1;
  }

  std::optional<std::vector<TransactionStep>> parse(std::string_view text) {
    std::vector<TransactionStep> steps;
    std::vector<std::string> open;
    const std::size_t before = mistakes_.size();
    while (not text.empty()) {
      std::string_view step = cut(text, ';');
      const std::string_view verb = cut(step, ' ');
      if (verb == "insert" or verb == "update" or verb == "delete")
        add_statement(verb, step, steps);
      else if (verb == "savepoint" or verb == "rollback_to" or verb == "release")
        add_savepoint(verb, step, open, steps);
      else
        fail(fmt::format(
            "steps: '{}' is no step{}", verb,
            suggestion(verb, {"insert", "update", "delete", "savepoint", "rollback_to", "release"})));
    }
    if (steps.empty() and mistakes_.size() == before)
      fail("steps: there is none");
    if (mistakes_.size() > before)
      return std::nullopt;
    return steps;
  }

  void add_statement(std::string_view verb, std::string_view rest, std::vector<TransactionStep>& steps) {
    StatementStep step;
    step.operation =
        verb == "insert" ? Operation::Insert : (verb == "update" ? Operation::Update : Operation::Delete);
    step.table = std::string(cut(rest, ' '));
    const std::string_view count = cut(rest, ' ');
    const auto rows = whole<Rows>(count);
    if (not rows or *rows < 1 or *rows > most_rows)
      fail(fmt::format("steps: found '{}' after '{} {}'; allowed is the number of its rows", count, verb,
                       step.table));
    else
      step.rows = *rows;
    if (not tables_.contains(step.table)) {
      std::vector<std::string> known;
      for (const auto& [name, table] : tables_)
        known.push_back(name);
      fail(fmt::format("steps: the scenario has no table '{}'{}", step.table, suggestion(step.table, known)));
    } else if (not rest.empty()) {
      add_assignment(verb, rest, step);
    }
    steps.emplace_back(std::move(step));
  }

  /// "set COLUMN": the update assigns it.
  void add_assignment(std::string_view verb, std::string_view rest, StatementStep& step) {
    const std::string given(rest);
    const bool is_set = cut(rest, ' ') == "set";
    if (step.operation != Operation::Update or not is_set or rest.empty()) {
      fail(fmt::format("steps: found '{}' after '{} {} {}'; allowed is only 'set COLUMN', after an update",
                       given, verb, step.table, step.rows));
      return;
    }
    const auto& columns = tables_.at(step.table).columns;
    const auto column =
        std::find_if(columns.begin(), columns.end(), [&](const Column& each) { return each.name == rest; });
    if (column != columns.end()) {
      step.assignments.push_back({static_cast<int>(column - columns.begin()), {}});
      return;
    }
    std::vector<std::string> known;
    for (const Column& each : columns)
      known.push_back(each.name);
    fail(fmt::format("steps: table '{}' has no column '{}'{}", step.table, rest,
                     suggestion(std::string(rest), known)));
  }

  void add_savepoint(std::string_view verb, std::string_view rest, std::vector<std::string>& open,
                     std::vector<TransactionStep>& steps) {
    std::string name(rest);
    if (name.empty() or name.find(' ') != std::string::npos) {
      fail(fmt::format("steps: '{}' wants one name, found '{}'", verb, rest));
      return;
    }
    if (verb == "savepoint") {
      open.push_back(name);
      steps.emplace_back(SavepointStep{std::move(name)});
      return;
    }
    const auto known = std::find(open.rbegin(), open.rend(), name);
    if (known == open.rend()) {
      fail(fmt::format("steps: no savepoint '{}' is open at this {}{}", name, verb, suggestion(name, open)));
      return;
    }
    open.erase(known.base(), open.end());
    if (verb == "release") {
      open.pop_back();
      steps.emplace_back(ReleaseStep{std::move(name)});
    } else {
      steps.emplace_back(RollbackToStep{std::move(name)});
    }
  }

  std::string file_;
  const std::map<std::string, Table>& tables_;
  double speed_;
  ReplayLoad& load_;
  int line_ = 0;
  std::map<std::uint64_t, std::size_t> numbered_;
  std::map<std::string, std::size_t, std::less<>> by_text_;
  std::vector<Diagnostic> mistakes_;
};

} // namespace

void read_replay(const std::filesystem::path& file, const std::map<std::string, Table>& tables, double speed,
                 ReplayLoad& load) {
  std::ifstream in;
  if (not std::filesystem::is_directory(file))
    in.open(file, std::ios::binary);
  if (not in.is_open())
    throw UsageError(fmt::format("the list of transactions {} cannot be read", file.string()));
  ReplayReader(file.string(), tables, speed, load).read(in);
}

std::string steps_text(const std::vector<TransactionStep>& steps,
                       const std::map<std::string, Table>& tables) {
  const auto column_name = [&](const std::string& table, int column) {
    const auto known = tables.find(table);
    return known == tables.end() ? std::to_string(column)
                                 : known->second.columns.at(static_cast<std::size_t>(column)).name;
  };
  std::string out;
  for (const TransactionStep& step : steps) {
    if (not out.empty())
      out += "; ";
    if (const auto* statement = std::get_if<StatementStep>(&step)) {
      out += fmt::format("{} {} {}", to_string(statement->operation), statement->table, statement->rows);
      for (const Assignment& assignment : statement->assignments)
        out += " set " + column_name(statement->table, assignment.column);
    } else if (const auto* savepoint = std::get_if<SavepointStep>(&step))
      out += "savepoint " + savepoint->name;
    else if (const auto* back = std::get_if<RollbackToStep>(&step))
      out += "rollback_to " + back->savepoint;
    else if (const auto* release = std::get_if<ReleaseStep>(&step))
      out += "release " + release->savepoint;
    else
      out += fmt::format("pause {}", std::get<PauseStep>(step).seconds);
  }
  return out;
}

std::string replay_text(const ReplayLoad& load) {
  std::string out;
  for (const auto& steps : load.distinct)
    out += steps_text(steps) + "\n";
  for (const ReplayedTransaction& t : load.transactions)
    out += fmt::format("{:.9g},{:.9g},{},{}\n", t.at_s, t.lasts_s, t.steps, t.rolls_back);
  return out;
}

} // namespace replisim
