#include "sim/scenario/envelope.hpp"

#include "sim/scenario/field_value.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <set>

namespace replisim {

namespace {

/// Collects the smallest and the largest value of each quantity.
class Quantities {
public:
  void add(const std::string& name, double value) {
    const auto [range, is_new] = ranges_.try_emplace(name, ValidatedRange{value, value});
    range->second.from = std::min(range->second.from, value);
    range->second.to = std::max(range->second.to, value);
  }
  Envelope take() { return std::move(ranges_); }

private:
  Envelope ranges_;
};

struct Extent {
  Rows rows = 0;
  Rows rolled_back = 0;
};

/// Rows a transaction changes, and those of them that a ROLLBACK TO undoes.
Extent extent_of(const std::vector<TransactionStep>& steps) {
  Extent extent;
  std::map<std::string, Rows> rows_at; // savepoint -> rows still kept before it
  Rows kept = 0;
  for (const TransactionStep& step : steps) {
    if (const auto* statement = std::get_if<StatementStep>(&step)) {
      extent.rows += statement->rows;
      kept += statement->rows;
    } else if (const auto* savepoint = std::get_if<SavepointStep>(&step)) {
      rows_at[savepoint->name] = kept;
    } else if (const auto* rollback = std::get_if<RollbackToStep>(&step)) {
      if (const auto found = rows_at.find(rollback->savepoint); found != rows_at.end())
        kept = found->second;
    }
  }
  extent.rolled_back = extent.rows - kept;
  return extent;
}

void add_workload(const Scenario& scenario, Quantities& quantities) {
  for (const BatchLoad& batch : scenario.batches) {
    const Extent extent = extent_of(batch.transaction);
    if (extent.rows == 0)
      continue;
    quantities.add("transaction_rows", static_cast<double>(extent.rows));
    const Rows undone = batch.rolls_back ? extent.rows : extent.rolled_back;
    quantities.add("rolled_back", static_cast<double>(undone) / static_cast<double>(extent.rows));
  }
  for (const FlowLoad& flow : scenario.flows) {
    Rows rows = 0;
    for (const StatementStep& statement : flow.transaction)
      rows += statement.rows;
    quantities.add("transaction_rows", static_cast<double>(rows));
  }
}

void add_tables(const Scenario& scenario, Quantities& quantities) {
  std::set<std::string> published;
  for (const auto& [name, publication] : scenario.publications)
    published.insert(publication.tables.begin(), publication.tables.end());
  for (const std::string& name : published) {
    const Table& table = scenario.tables.at(name);
    quantities.add("row_bytes", static_cast<double>(tuple_len(table)));
    quantities.add("columns", static_cast<double>(table.columns.size()));
    quantities.add("secondary_indexes", table.secondary_indexes);
  }
}

void add_servers(const Scenario& scenario, Quantities& quantities) {
  std::set<std::string> hosts;
  for (const auto& [name, server] : scenario.servers) {
    hosts.insert(server.host);
    quantities.add("server_version", server.version.major);
  }
  for (const auto& [name, consumer] : scenario.consumers)
    hosts.insert(consumer.host);
  for (const auto& [name, publication] : scenario.publications)
    quantities.add("logical_decoding_work_mem",
                   static_cast<double>(
                       scenario.servers.at(publication.server).settings.bytes("logical_decoding_work_mem")));
  quantities.add("hosts", static_cast<double>(hosts.size()));
  for (const std::string& host : hosts) {
    const Machine& machine = scenario.hosts.at(host);
    quantities.add("cpus", machine.sockets * machine.cores_per_socket * machine.threads_per_core);
  }
  quantities.add("slots", static_cast<double>(scenario.subscriptions.size() + scenario.consumers.size()));
}

/// "16 times the largest"; without a ratio where there is none to speak of.
std::string distance(double value, const ValidatedRange& range) {
  if (value > range.to)
    return range.to > 0 ? fmt::format("{:.3g} times the largest", value / range.to) : "more than the largest";
  return value > 0 ? fmt::format("the smallest is {:.3g} times that", range.from / value)
                   : "less than the smallest";
}

FieldType type_of(const FieldDescriptor& field) { return object_of(field.object).find("from")->type; }

} // namespace

Envelope quantities_of(const Scenario& scenario) {
  Quantities quantities;
  add_workload(scenario, quantities);
  add_tables(scenario, quantities);
  add_servers(scenario, quantities);
  return quantities.take();
}

void stretch(Envelope& wider, const Envelope& other) {
  for (const auto& [name, range] : other) {
    const auto [known, is_new] = wider.try_emplace(name, range);
    known->second.from = std::min(known->second.from, range.from);
    known->second.to = std::max(known->second.to, range.to);
  }
}

Envelope envelope_from(const Fields& profile_file) {
  Envelope envelope;
  if (profile_file.given("envelope") == nullptr)
    return envelope;
  const Fields ranges = profile_file.child("envelope");
  for (const FieldDescriptor& field : object_of("envelope").fields)
    if (const Node* given = ranges.given(field.name)) {
      const Fields range(*given, object_of(field.object));
      envelope[std::string(field.name)] = {range.number("from"), range.number("to")};
    }
  return envelope;
}

std::vector<std::string> envelope_warnings(const Scenario& scenario, const Envelope& envelope) {
  std::vector<std::string> warnings;
  const Envelope here = quantities_of(scenario);
  for (const FieldDescriptor& field : object_of("envelope").fields) {
    const auto validated = envelope.find(field.name);
    const auto found = here.find(field.name);
    if (validated == envelope.end() or found == here.end())
      continue;
    const ValidatedRange& range = validated->second;
    const FieldType type = type_of(field);
    const bool is_above = found->second.to > range.to;
    const double value = is_above ? found->second.to : found->second.from;
    if (value >= range.from and value <= range.to)
      continue;
    warnings.push_back(fmt::format(
        "profile {} was validated with {} {}; here it is {}, {}", scenario.profile.name, field.name,
        range.from == range.to
            ? fmt::format("at {}", show_number(type, range.to))
            : fmt::format("from {} to {}", show_number(type, range.from), show_number(type, range.to)),
        show_number(type, value),
        field.name == "server_version" ? (is_above ? "a later one" : "an earlier one")
                                       : distance(value, range)));
  }
  return warnings;
}

} // namespace replisim
