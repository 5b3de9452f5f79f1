// Client sessions on subscribers from the checked tree.
#include "sim/scenario/scenario_parts.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>

namespace replisim {

namespace {

using Kind = SessionStep::Kind;

struct Verb {
  std::string_view name;
  Kind kind;
  LockMode mode;
};

constexpr std::array<Verb, 10> verbs = {{
    {"select", Kind::Select, LockMode::AccessShare},
    {"insert", Kind::Insert, LockMode::RowExclusive},
    {"update", Kind::Update, LockMode::RowExclusive},
    {"delete", Kind::Delete, LockMode::RowExclusive},
    {"vacuum", Kind::Vacuum, LockMode::ShareUpdateExclusive},
    {"analyze", Kind::Lock, LockMode::ShareUpdateExclusive},
    {"create_index", Kind::Lock, LockMode::Share},
    {"alter_table", Kind::Lock, LockMode::AccessExclusive},
    {"truncate", Kind::Lock, LockMode::AccessExclusive},
    {"lock", Kind::Lock, LockMode::AccessExclusive},
}};

RowLock strength_of(std::string_view text) {
  if (text == "key share")
    return RowLock::KeyShare;
  if (text == "share")
    return RowLock::Share;
  return text == "no key update" ? RowLock::NoKeyUpdate : RowLock::Update;
}

class SessionBuilder {
public:
  explicit SessionBuilder(Building& building) : building_(building) {}

  void build() {
    for (const NamedFields& entry : named_entries(building_.root, "sessions"))
      building_.scenario.sessions.push_back(session(entry));
  }

private:
  void problem(const Position& at, const std::string& path, const std::string& message) {
    building_.problems.add(at, path, message);
  }

  SessionLoad session(const NamedFields& entry) {
    const auto& [name, path, fields] = entry;
    SessionLoad load;
    load.name = name;
    load.server = fields.text("server");
    load.clients = static_cast<int>(fields.integer("clients"));
    load.from_s = fields.number("from");
    load.until_s = fields.number("until");
    load.times = fields.integer("times");
    load.every_s = fields.number("every");
    load.rate_per_s = fields.number("rate");
    load.poisson = fields.text("arrivals") == "poisson";
    load.lock_timeout_s = fields.number("lock_timeout");
    load.max_tries = static_cast<int>(fields.integer("max_tries"));
    load.rolls_back = fields.text("ends") == "rollback";
    check_server(entry);
    check_pace(entry);
    const Node* steps = fields.given("transaction");
    for (std::size_t i = 0; steps != nullptr and i < steps->items.size(); ++i)
      if (not steps->items[i].bad)
        add_step(load, Fields(steps->items[i], object_of("session_step")),
                 fmt::format("{}.transaction[{}]", path, i));
    return load;
  }

  void check_server(const NamedFields& entry) {
    if (entry.fields.given("server") == nullptr)
      return;
    const std::string server = entry.fields.text("server");
    const auto nodes = named_entries(building_.root, "subscriptions");
    const auto has = [&](const NamedFields& subscription) {
      return not subscription.fields.usable("server") or subscription.fields.text("server") == server;
    };
    if (std::none_of(nodes.begin(), nodes.end(), has))
      problem(
          entry.fields.at("server"), entry.path + ".server",
          fmt::format("no subscription is on {}: nothing is applied there that the sessions could wait for; "
                      "what runs on a publisher is `workload`",
                      server));
  }

  void check_pace(const NamedFields& entry) {
    const auto& [name, path, fields] = entry;
    const Node* rate = fields.given("rate");
    if (rate != nullptr and fields.given("every") != nullptr)
      problem(fields.at("every"), path + ".every",
              "`every` paces a closed loop and `rate` an open one; a session has one of them");
    if (rate != nullptr and fields.given("times") != nullptr)
      problem(fields.at("times"), path + ".times",
              "`times` counts the transactions of a closed loop; with `rate`, `until` says when it ends");
    if (rate == nullptr and fields.given("arrivals") != nullptr)
      problem(fields.at("arrivals"), path + ".arrivals", "only sessions with a `rate` have arrivals");
    if (fields.given("until") != nullptr and fields.usable("from") and
        fields.number("until") <= fields.number("from"))
      problem(fields.at("until"), path + ".until",
              fmt::format("{} is not after `from`, {}", fields.text("until"), fields.text("from")));
    if (const Node* steps = fields.given("transaction"); steps != nullptr and steps->items.empty())
      problem(steps->at, path + ".transaction", "is empty; at least one step is needed");
  }

  void add_step(SessionLoad& load, const Fields& fields, const std::string& path) {
    std::vector<std::string_view> found;
    const Verb* verb = nullptr;
    for (const Verb& candidate : verbs)
      if (fields.node().find(candidate.name) != nullptr) {
        found.push_back(candidate.name);
        verb = &candidate;
      }
    if (fields.node().find("pause") != nullptr)
      found.push_back("pause");
    if (found.size() != 1) {
      const auto& entries = fields.node().entries;
      if (found.size() > 1)
        problem(fields.node().at, path,
                fmt::format("{} stand in one step; each is a step of its own", fmt::join(found, " and ")));
      else if (std::none_of(entries.begin(), entries.end(), [](const MapEntry& e) { return e.value.bad; }))
        problem(fields.node().at, path,
                "says nothing to do; a step is a statement (select, update, ...) or a pause");
      return;
    }
    SessionStep step;
    step.verb = found.front();
    if (verb == nullptr) {
      refuse(fields, {"mode", "for", "rows", "row", "from_row", "to_row", "takes"}, "pause", path);
      step.kind = Kind::Pause;
      step.takes_s = fields.number("pause");
    } else {
      fill(step, *verb, fields, path);
    }
    load.transaction.push_back(std::move(step));
  }

  void refuse(const Fields& fields, std::initializer_list<std::string_view> keys, std::string_view verb,
              const std::string& path) {
    for (const std::string_view key : keys)
      if (fields.node().find(key) != nullptr)
        problem(fields.at(key), path + "." + std::string(key),
                fmt::format("`{}` does not go with {}", key, verb));
  }

  void fill(SessionStep& step, const Verb& verb, const Fields& fields, const std::string& path) {
    step.kind = verb.kind;
    step.mode = verb.mode;
    step.table = fields.text(verb.name);
    step.rows = fields.integer("rows");
    step.first_row = fields.integer("row");
    step.takes_s = fields.number("takes");
    if (verb.name != "lock")
      refuse(fields, {"mode"}, verb.name, path);
    else if (const auto mode = parse_lock_mode(fields.text("mode")))
      step.mode = *mode;
    if (verb.name != "select")
      refuse(fields, {"for"}, verb.name, path);
    if (fields.given("for") != nullptr) {
      step.mode = LockMode::RowShare;
      step.row_lock = strength_of(fields.text("for"));
    } else if (step.kind == Kind::Update) {
      step.row_lock = row_lock_of(Operation::Update);
    } else if (step.kind == Kind::Delete) {
      step.row_lock = row_lock_of(Operation::Delete);
    }
    if (step.kind == Kind::Lock or step.kind == Kind::Vacuum)
      refuse(fields, {"rows"}, verb.name, path);
    if (step.row_lock)
      fill_rows(step, fields, path);
    else
      refuse(fields, {"row", "from_row", "to_row"}, fmt::format("{}, which locks no rows", verb.name), path);
  }

  void fill_rows(SessionStep& step, const Fields& fields, const std::string& path) {
    const auto table = building_.scenario.tables.find(step.table);
    if (table == building_.scenario.tables.end() or not fields.usable("rows"))
      return;
    const Rows present = table->second.initial_rows;
    if (step.first_row > 0) {
      refuse(fields, {"from_row", "to_row"}, "`row`", path);
      return;
    }
    step.from_row = fields.integer("from_row");
    step.to_row = fields.given("to_row") == nullptr ? present : fields.integer("to_row");
    if (present == 0 and fields.given("to_row") == nullptr)
      problem(
          fields.node().at, path,
          fmt::format("{} is empty at the start: say which rows with `row` or `to_row`, or how many there "
                      "are with `tables.{}.rows`",
                      step.table, step.table));
    else if (step.to_row < step.from_row)
      problem(fields.node().at, path,
              fmt::format("random rows from {} to {}: there are none", step.from_row, step.to_row));
  }

  Building& building_;
};

} // namespace

void build_sessions(Building& building) { SessionBuilder(building).build(); }

} // namespace replisim
