// `plan` from the checked tree: promises, knobs, and the range that is searched.
#include "models/base/suggest.hpp"
#include "sim/scenario/axis_range.hpp"
#include "sim/scenario/field_path.hpp"
#include "sim/scenario/plan_question.hpp"
#include "sim/scenario/promise.hpp"
#include "sim/scenario/scenario_parts.hpp"
#include "sim/scenario/value_trial.hpp"
#include "sim/scenario/yaml_document.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <set>

namespace replisim {

namespace {

std::string place(const Position& at, const std::string& path) {
  return at.file == nullptr or at.line == 0 ? path
                                            : fmt::format("{}:{}:{}: {}", *at.file, at.line, at.column, path);
}

/// The host whose machine a path changes; empty: none.
std::string host_of(const std::string& path) {
  constexpr std::string_view hosts = "hosts.";
  if (not path.starts_with(hosts))
    return {};
  const std::string rest = path.substr(hosts.size());
  return rest.substr(0, rest.find_first_of(".["));
}

class PlanBuilder {
public:
  PlanBuilder(Building& building, const Node& tree)
      : building_(building), trial_(building.library, tree, building.problems),
        fields_(Fields(building.root, object_of("scenario")).child("plan")) {}

  void build() {
    auto out = std::make_shared<PlanQuestion>();
    out->where = place(fields_.node().at, "plan");
    const std::string find = fields_.text("find");
    out->find = find == "smallest"   ? PlanQuestion::Find::Smallest
                : find == "cheapest" ? PlanQuestion::Find::Cheapest
                : find == "front"    ? PlanQuestion::Find::Front
                                     : PlanQuestion::Find::Largest;
    out->tolerance = fields_.number("tolerance");
    out->grid = static_cast<int>(fields_.integer("grid"));
    out->replications = static_cast<int>(fields_.integer("replications"));
    out->most_replications =
        std::max(out->replications, static_cast<int>(fields_.integer("most_replications")));
    read_promises(*out);
    read_knobs(*out);
    const bool searches = find == "largest" or find == "smallest";
    if (fields_.usable("find")) {
      read_range(*out, searches, find);
      read_objectives(*out, find == "front");
      check_what_is_asked(*out, searches, find);
    }
    building_.plan = out;
  }

private:
  void problem(const Position& at, const std::string& field, const std::string& text) {
    building_.problems.add(at, field.empty() ? "plan" : "plan." + field, text);
  }

  void read_promises(PlanQuestion& out) {
    const Node* list = fields_.given("promises");
    for (std::size_t i = 0; list != nullptr and i < list->items.size(); ++i) {
      const Node& item = list->items[i];
      if (item.bad)
        continue;
      const std::string field = fmt::format("promises[{}]", i);
      std::string wrong;
      auto promise = parse_promise(item.text, wrong);
      if (not promise) {
        problem(item.at, field, wrong);
        continue;
      }
      promise->where = place(item.at, "plan." + field);
      check_disk(*promise, item.at, field);
      for (const Promise& earlier : out.promises)
        if (const std::string text = contradiction(earlier, *promise); not text.empty())
          problem(item.at, field, text);
      out.promises.push_back(std::move(*promise));
    }
  }

  /// A promise about disks needs one that can fill.
  void check_disk(const Promise& promise, const Position& at, const std::string& field) {
    if (promise.metric != "disk")
      return;
    for (const auto& [name, host] : building_.scenario.hosts)
      for (const Disk& disk : host.disks)
        if (disk.capacity_bytes > 0)
          return;
    problem(at, field, "no disk of the scenario has a `capacity`, so none can fill");
  }

  void read_knobs(PlanQuestion& out) {
    const Node* list = fields_.given("knobs");
    std::set<std::string> names;
    for (std::size_t i = 0; list != nullptr and i < list->items.size(); ++i) {
      const Node& item = list->items[i];
      if (item.bad or not item.is_map())
        continue;
      const Fields fields(item, object_of("knob"));
      const std::string where = fmt::format("knobs[{}]", i);
      const bool splits = fields.given("split") != nullptr;
      if (splits == (fields.given("field") != nullptr)) {
        problem(item.at, where,
                "a knob turns a `field` or splits a subscription (`split`); give one of the two");
        continue;
      }
      Knob knob = splits ? read_split(fields, where) : read_knob(fields, where);
      knob.where = place(item.at, "plan." + where);
      if (not names.insert(knob.name).second)
        problem(item.at, where, fmt::format("there are two knobs for {}", knob.name));
      out.knobs.push_back(std::move(knob));
    }
  }

  Knob read_knob(const Fields& fields, const std::string& where) {
    Knob knob;
    const std::string path = fields.text("field");
    knob.name = fields.given("name") != nullptr ? fields.text("name") : path;
    if (not trial_.is_path(path, fields.at("field"), "plan." + where + ".field"))
      return knob;
    for (const auto& [value, at] : values_of(fields)) {
      KnobValue built = *value;
      if (at->given("value") == nullptr)
        problem(at->node().at, where, "a value of a knob has a `value`");
      else
        set(built, path, at->text("value"), at->at("value"), knob);
      add_further(built, *at, where, knob);
      knob.values.push_back(std::move(built));
    }
    check_costs(knob, fields, where);
    return knob;
  }

  /// The values of a knob with label and cost, and their fields.
  struct Value {
    std::shared_ptr<KnobValue> value;
    std::shared_ptr<Fields> at;
  };
  std::vector<Value> values_of(const Fields& fields) const {
    std::vector<Value> out;
    const Node* list = fields.given("values");
    for (std::size_t i = 0; list != nullptr and i < list->items.size(); ++i) {
      if (list->items[i].bad or not list->items[i].is_map())
        continue;
      const auto own = std::make_shared<Fields>(list->items[i], object_of("knob_value"));
      auto value = std::make_shared<KnobValue>();
      value->label = own->text(own->given("label") != nullptr ? "label" : "value");
      if (own->given("cost") != nullptr)
        value->cost = own->number("cost");
      out.push_back({value, own});
    }
    return out;
  }

  void set(KnobValue& value, const std::string& path, const std::string& text, const Position& at,
           Knob& knob) {
    Node node;
    node.kind = Node::Kind::Scalar;
    node.text = text;
    if (text.find_first_of("[{") == 0)
      if (auto tree = parse_yaml(text, at, building_.problems))
        node = *tree;
    trial_.put(path, node, at);
    value.sets.emplace_back(path, text);
    const std::string host = host_of(path);
    if (not host.empty() and std::find(knob.hosts.begin(), knob.hosts.end(), host) == knob.hosts.end())
      knob.hosts.push_back(host);
  }

  void add_further(KnobValue& value, const Fields& fields, const std::string& where, Knob& knob) {
    const Node* list = fields.given("set");
    for (std::size_t i = 0; list != nullptr and i < list->items.size(); ++i) {
      const Node& item = list->items[i];
      const auto equals = item.text.find('=');
      if (item.bad)
        continue;
      if (equals == std::string::npos) {
        problem(item.at, where, fmt::format("'{}' sets nothing; write path=value", item.text));
        continue;
      }
      const Override parsed = parse_override(item.text);
      if (trial_.is_path(parsed.path, item.at, "plan." + where))
        set(value, parsed.path, parsed.value, item.at, knob);
    }
  }

  void check_costs(const Knob& knob, const Fields& fields, const std::string& where) {
    const auto costs = [](const KnobValue& value) { return value.cost.has_value(); };
    const auto with = std::count_if(knob.values.begin(), knob.values.end(), costs);
    if (with == 0 or with == static_cast<std::ptrdiff_t>(knob.values.size()))
      return;
    const auto without = std::find_if_not(knob.values.begin(), knob.values.end(), costs);
    problem(fields.at("values"), where,
            fmt::format("the price of {} = {} is missing; other values of this knob have a `cost`", knob.name,
                        without->label));
  }

  /// The tables of a subscription's publication dealt out to 1, 2, ... subscriptions.
  Knob read_split(const Fields& fields, const std::string& where) {
    Knob knob;
    const std::string name = fields.text("split");
    knob.name =
        fields.given("name") != nullptr ? fields.text("name") : fmt::format("subscriptions ({})", name);
    const auto subscription = building_.scenario.subscriptions.find(name);
    if (subscription == building_.scenario.subscriptions.end())
      return knob;
    const auto& publication = building_.scenario.publications.find(subscription->second.publication);
    if (publication == building_.scenario.publications.end())
      return knob;
    for (const auto& [value, at] : values_of(fields)) {
      const auto count = parse_number(at->text("value"));
      const auto tables = publication->second.tables.size();
      if (not count or *count != static_cast<int>(*count) or *count < 1 or
          *count > static_cast<double>(tables)) {
        problem(at->node().at, where,
                fmt::format("'{}' is no number of subscriptions for {} tables; allowed: 1 to {}",
                            at->text("value"), tables, tables));
        continue;
      }
      KnobValue built = *value;
      split(built, subscription->second, publication->second, static_cast<std::size_t>(*count));
      add_further(built, *at, where, knob);
      knob.values.push_back(std::move(built));
    }
    check_costs(knob, fields, where);
    return knob;
  }

  void split(KnobValue& value, const Subscription& subscription, const Publication& publication,
             std::size_t count) {
    const Node* own = building_.root.find("subscriptions")->find(subscription.name);
    const Node* published = building_.root.find("publications")->find(publication.name);
    for (std::size_t part = 0; count > 1 and part < count; ++part) {
      std::vector<std::string> tables;
      for (std::size_t t = part; t < publication.tables.size(); t += count)
        tables.push_back(publication.tables[t]);
      const std::string list = fmt::format("[{}]", fmt::join(tables, ", "));
      if (part == 0) {
        value.sets.emplace_back(fmt::format("publications.{}.tables", publication.name), list);
        continue;
      }
      const std::string suffix = fmt::format("_{}", part + 1);
      Node copy = *published;
      copy.remove("tables");
      value.sets.emplace_back("publications." + publication.name + suffix, flow_text(copy));
      value.sets.emplace_back("publications." + publication.name + suffix + ".tables", list);
      Node other = *own;
      other.remove("publication");
      value.sets.emplace_back("subscriptions." + subscription.name + suffix, flow_text(other));
      value.sets.emplace_back("subscriptions." + subscription.name + suffix + ".publication",
                              publication.name + suffix);
    }
  }

  void read_range(PlanQuestion& out, bool searches, const std::string& find) {
    for (const char* field : {"over", "range"}) {
      if (searches and fields_.given(field) == nullptr and fields_.usable(field))
        problem(fields_.node().at, field,
                fmt::format("`{}` is missing: {} of what is looked for", field, find));
      if (not searches and fields_.given(field) != nullptr)
        problem(fields_.at(field), field,
                fmt::format("is of `find: largest` and `smallest`, not of {}", find));
    }
    const Node* range = fields_.given("range");
    if (not searches or range == nullptr or fields_.given("over") == nullptr)
      return;
    out.over = fields_.text("over");
    std::string wrong;
    std::optional<KnownField> known;
    if (out.over != "load") {
      const auto path = parse_path(out.over, wrong);
      known = path ? known_field(object_of("scenario"), *path) : std::nullopt;
      if (not known or known->field == nullptr) {
        problem(fields_.at("over"), "over", path ? fmt::format("there is no field {}", out.over) : wrong);
        return;
      }
      out.range = writing_of(*known);
    }
    double* const ends[] = {&out.range.low, &out.range.high};
    for (std::size_t i = 0; i < 2; ++i) {
      const Node& end = range->items[i];
      const auto value = known ? read_quantity(*known, end.text, wrong) : parse_number(end.text);
      if (not value)
        problem(end.at, fmt::format("range[{}]", i),
                known ? wrong : fmt::format("'{}' is no factor; write a number", end.text));
      else
        *ends[i] = *value;
      if (value and known)
        trial_.put(out.over, end, fields_.at("over"));
      else if (not value)
        return;
    }
    out.range.log = fields_.text("scale") == "log";
    if (out.range.low >= out.range.high)
      problem(range->at, "range", "the lowest value comes first, the highest second");
    else if (out.range.low < 0 or (out.range.low == 0 and (out.range.log or not known)))
      problem(range->at, "range", "the lowest value must be above 0 here");
  }

  void read_objectives(PlanQuestion& out, bool wanted) {
    const Node* list = fields_.given("objectives");
    if (not wanted) {
      if (list != nullptr)
        problem(list->at, "objectives", "only `find: front` has objectives");
      return;
    }
    if (list == nullptr or list->items.size() != 2) {
      problem(list == nullptr ? fields_.node().at : list->at, "objectives",
              "a front is between two objectives, as in [cost, lag_s p99]");
      return;
    }
    for (const Node& item : list->items) {
      PlanObjective objective;
      objective.text = item.text;
      std::string text = item.text;
      for (const auto& [word, least] : {std::pair("least ", true), std::pair("most ", false)})
        if (text.starts_with(word)) {
          objective.least = least;
          text = text.substr(std::string_view(word).size());
        }
      std::string statistic;
      objective.metric = metric_name(text, statistic);
      if (objective.metric.empty() and not item.bad)
        problem(item.at, "objectives",
                fmt::format("'{}' is no objective; write cost or METRIC [p99|mean|...]", text));
      out.objectives.push_back(objective);
    }
  }

  void check_what_is_asked(const PlanQuestion& out, bool searches, const std::string& find) {
    const auto wants_cost = [](const PlanObjective& o) { return o.metric == "cost"; };
    if (out.promises.empty() and find != "front" and fields_.given("promises") == nullptr)
      problem(fields_.node().at, "promises", "there are no promises to keep; write at least one");
    if (not searches and fields_.given("knobs") == nullptr)
      problem(fields_.node().at, "knobs", "there are no knobs to turn; write at least one");
    const bool priced =
        find == "cheapest" or std::any_of(out.objectives.begin(), out.objectives.end(), wants_cost);
    const auto has_price = [](const Knob& knob) {
      return not knob.hosts.empty() or std::any_of(knob.values.begin(), knob.values.end(),
                                                   [](const KnobValue& v) { return v.cost > 0; });
    };
    const bool empty =
        std::any_of(out.knobs.begin(), out.knobs.end(), [](const Knob& k) { return k.values.empty(); });
    if (priced and not empty and not out.knobs.empty() and
        std::none_of(out.knobs.begin(), out.knobs.end(), has_price))
      problem(fields_.at("knobs"), "knobs",
              "no value of any knob has a price: give values a `cost`, or turn a machine that has a `price`");
  }

  Building& building_;
  ValueTrial trial_;
  const Fields fields_;
};

} // namespace

void build_plan(Building& building, const Node& tree) {
  const Node* plan = building.root.find("plan");
  if (plan != nullptr and not plan->bad and plan->is_map())
    PlanBuilder(building, tree).build();
}

} // namespace replisim
