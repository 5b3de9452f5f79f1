// Events and initial synchronisations from the checked tree, with what does not fit together in them.
#include "models/base/suggest.hpp"
#include "models/ddl.hpp"
#include "sim/scenario/scenario_parts.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>

namespace replisim {

namespace {

using Kind = Event::Kind;

constexpr std::array<std::string_view, 10> verbs = {
    "subscriber_down", "partition", "crash", "slow_disk", "cpu_taken",
    "credits_used_up", "link",      "ddl",   "set",       "cut_over"};
/// Settings that a run can change.
constexpr std::array<std::string_view, 8> changeable = {
    "logical_decoding_work_mem", "max_slot_wal_keep_size", "max_wal_size",
    "checkpoint_timeout",        "wal_keep_size",          "idle_replication_slot_timeout",
    "wal_sender_timeout",        "wal_receiver_timeout"};

class EventBuilder {
public:
  EventBuilder(Building& building, const Fields& fields, std::string path)
      : building_(building), fields_(fields), path_(std::move(path)) {}

  void build() {
    std::vector<std::string_view> found;
    for (const std::string_view verb : verbs)
      if (fields_.node().find(verb) != nullptr)
        found.push_back(verb);
    if (found.size() != 1) {
      problem(fields_.node().at, "",
              found.empty()
                  ? fmt::format("nothing happens in it; one of {} is wanted", fmt::join(verbs, ", "))
                  : fmt::format("{} stand in one event; give each its own", fmt::join(found, " and ")));
      return;
    }
    verb_ = found.front();
    if (fields_.given(verb_) == nullptr or not fields_.usable("at"))
      return;
    event_.when_ready = fields_.text("at") == "ready";
    event_.at_s = fields_.number("at");
    event_.for_s = fields_.number("for");
    if (verb_ == "ddl")
      add_ddl();
    else if (read())
      building_.scenario.events.push_back(event_);
    check_times();
  }

private:
  void problem(const Position& at, const std::string& field, const std::string& text) {
    building_.problems.add(at, field.empty() ? path_ : path_ + "." + field, text);
  }
  void wants(std::string_view field) {
    if (fields_.node().find(field) == nullptr)
      problem(fields_.at(verb_), "", fmt::format("`{}` needs `{}`", verb_, field));
  }

  bool read() {
    if (verb_ == "subscriber_down")
      return read_subscriber_down();
    if (verb_ == "partition" or verb_ == "link")
      return read_link();
    if (verb_ == "crash")
      return read_crash();
    if (verb_ == "set")
      return read_setting();
    if (verb_ == "slow_disk" or verb_ == "cut_over") {
      event_.kind = verb_ == "slow_disk" ? Kind::SlowDisk : Kind::CutOver;
      event_.server = fields_.text(verb_);
      event_.factor = fields_.number("factor");
      return true;
    }
    event_.kind = verb_ == "cpu_taken" ? Kind::CpuTaken : Kind::CreditsUsedUp;
    event_.host = fields_.text(verb_);
    event_.cores = fields_.number("cores");
    const auto host = building_.scenario.hosts.find(event_.host);
    if (event_.kind == Kind::CreditsUsedUp and host != building_.scenario.hosts.end() and
        not host->second.bursts())
      problem(fields_.at(verb_), "credits_used_up",
              fmt::format("{} has no CPU credits: its `baseline` is 1", event_.host));
    return true;
  }

  bool read_subscriber_down() {
    event_.kind = Kind::SubscriberDown;
    event_.server = fields_.text(verb_);
    const auto& subscriptions = building_.scenario.subscriptions;
    const bool any = std::any_of(subscriptions.begin(), subscriptions.end(),
                                 [&](const auto& entry) { return entry.second.server == event_.server; });
    if (not any)
      problem(fields_.at(verb_), "subscriber_down",
              fmt::format("server {} has no subscription", event_.server));
    return any;
  }

  bool read_link() {
    event_.kind = verb_ == "link" ? Kind::LinkChange : Kind::Partition;
    const auto ends = names_in(fields_, verb_);
    if (ends.size() != 2) {
      problem(fields_.at(verb_), std::string(verb_), "two hosts are wanted");
      return false;
    }
    event_.host = ends[0];
    event_.other_host = ends[1];
    const auto& links = building_.scenario.links;
    if (std::none_of(links.begin(), links.end(), [&](const Link& link) {
          return (link.from == ends[0] and link.to == ends[1]) or
                 (link.from == ends[1] and link.to == ends[0]);
        })) {
      problem(fields_.at(verb_), std::string(verb_),
              fmt::format("no link joins {} and {}", ends[0], ends[1]));
      return false;
    }
    if (event_.kind == Kind::Partition)
      return true;
    event_.bandwidth_bytes_per_s = fields_.number("bandwidth");
    if (fields_.given("latency") != nullptr)
      event_.latency_s = fields_.number("latency");
    if (fields_.given("bandwidth") == nullptr and fields_.given("latency") == nullptr)
      problem(fields_.at(verb_), "", "`link` needs `bandwidth`, `latency` or both");
    return true;
  }

  bool read_crash() {
    wants("subscription");
    event_.kind = Kind::Crash;
    event_.subscription = fields_.text("subscription");
    const std::string word = fields_.text("crash");
    event_.process = word == "walsender"      ? Event::Process::Walsender
                     : word == "apply_worker" ? Event::Process::ApplyWorker
                                              : Event::Process::TableSyncWorker;
    const auto found = building_.scenario.subscriptions.find(event_.subscription);
    if (found == building_.scenario.subscriptions.end())
      return false;
    if (event_.process == Event::Process::TableSyncWorker and not found->second.initial_sync)
      problem(
          fields_.at("crash"), "crash",
          fmt::format("subscription {} has no `initial_sync`, so no table-sync worker", event_.subscription));
    return true;
  }

  bool read_setting() {
    wants("server");
    wants("to");
    event_.kind = Kind::SettingChange;
    event_.server = fields_.text("server");
    event_.setting = fields_.text("set");
    const std::vector<std::string> names(changeable.begin(), changeable.end());
    if (std::find(names.begin(), names.end(), event_.setting) == names.end()) {
      problem(fields_.at("set"), "set",
              fmt::format("'{}' cannot be changed during a run{}; these can: {}", event_.setting,
                          suggestion(event_.setting, names), fmt::join(names, ", ")));
      return false;
    }
    if (fields_.given("to") == nullptr)
      return false;
    std::string text;
    const auto value = parse_guc(*find_guc(event_.setting), fields_.text("to"), text);
    if (not value) {
      problem(fields_.at("to"), "to", text);
      return false;
    }
    event_.value = *value;
    return true;
  }

  void add_ddl() {
    wants("server");
    DdlLoad load;
    load.name = fmt::format("{} at {}", fields_.text("ddl"), format_duration(event_.at_s));
    load.server = fields_.text("server");
    if (const DdlFacts* facts = find_ddl(fields_.text("ddl")))
      load.kind = facts->kind;
    load.table = fields_.text("table");
    load.publication = fields_.text("publication");
    load.at_s = event_.at_s;
    building_.scenario.ddl.push_back(std::move(load));
  }

  void check_times() {
    if (event_.when_ready and event_.kind != Kind::CutOver)
      problem(fields_.at("at"), "at", "`ready` is for `cut_over`; a duration is wanted");
    const bool lasts = verb_ != "ddl" and event_.lasts();
    if (not lasts and fields_.given("for") != nullptr)
      problem(fields_.at("for"), "for", fmt::format("`{}` is over at once", verb_));
    const double end_s = building_.scenario.observe.until_s;
    if (end_s > 0 and event_.at_s > end_s)
      building_.scenario.warnings.push_back(
          fmt::format("{}: the run ends at {}, before it happens", path_, format_duration(end_s)));
    const bool outage = event_.kind == Kind::SubscriberDown or event_.kind == Kind::Partition;
    if (verb_ != "ddl" and outage and event_.for_s <= 0 and end_s <= 0)
      problem(fields_.at(verb_), "",
              "it never ends, so that not everything is ever applied; give `for`, or a duration as "
              "`observe.until`");
  }

  Building& building_;
  const Fields& fields_;
  std::string path_;
  std::string_view verb_;
  Event event_;
};

} // namespace

void build_events(Building& building) {
  const Node* list = building.root.find("events");
  if (list == nullptr or list->bad)
    return;
  for (std::size_t i = 0; i < list->items.size(); ++i) {
    if (list->items[i].bad or not list->items[i].is_map())
      continue;
    const Fields fields(list->items[i], object_of("event"));
    EventBuilder(building, fields, fmt::format("events[{}]", i)).build();
  }
  std::stable_sort(building.scenario.events.begin(), building.scenario.events.end(),
                   [](const Event& a, const Event& b) { return a.at_s < b.at_s; });
}

std::optional<InitialSyncPlan> initial_sync_of(const Fields& subscription) {
  if (subscription.given("initial_sync") == nullptr)
    return std::nullopt;
  const Fields plan = subscription.child("initial_sync");
  return InitialSyncPlan{plan.number("at"), plan.flag("copy_data"), plan.number("copy_rate")};
}

} // namespace replisim
