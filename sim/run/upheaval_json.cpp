#include "sim/run/upheaval_json.hpp"

#include "sim/run/result_json.hpp"

namespace replisim {

using nlohmann::json;

namespace {

/// A date that was not reached is null.
json date_json(double date_s) { return date_s < 0 ? json() : number_json(date_s); }
double date_from(const json& value) { return value.is_null() ? -1 : value.get<double>(); }

json table_json(const TableSyncResult& table) {
  return {{"table", table.table},
          {"state", table.state},
          {"attempts", table.attempts},
          {"launched_s", date_json(table.launched_s)},
          {"snapshot_s", date_json(table.snapshot_s)},
          {"copied_s", date_json(table.copied_s)},
          {"catchup_s", date_json(table.catchup_s)},
          {"done_s", date_json(table.done_s)},
          {"ready_s", date_json(table.ready_s)},
          {"rows", table.rows},
          {"bytes", table.bytes},
          {"bloat_bytes", table.bloat_bytes},
          {"failure", table.failure}};
}

TableSyncResult table_from(const std::string& subscription, const json& object) {
  TableSyncResult table;
  table.subscription = subscription;
  object.at("table").get_to(table.table);
  object.at("state").get_to(table.state);
  object.at("attempts").get_to(table.attempts);
  table.launched_s = date_from(object.at("launched_s"));
  table.snapshot_s = date_from(object.at("snapshot_s"));
  table.copied_s = date_from(object.at("copied_s"));
  table.catchup_s = date_from(object.at("catchup_s"));
  table.done_s = date_from(object.at("done_s"));
  table.ready_s = date_from(object.at("ready_s"));
  object.at("rows").get_to(table.rows);
  object.at("bytes").get_to(table.bytes);
  object.at("bloat_bytes").get_to(table.bloat_bytes);
  object.at("failure").get_to(table.failure);
  return table;
}

json fault_json(const FaultResult& fault) {
  return {{"event", fault.event},
          {"slot", fault.slot},
          {"begun_s", date_json(fault.begun_s)},
          {"ended_s", date_json(fault.ended_s)},
          {"caught_up_s", date_json(fault.caught_up_s)},
          {"cap_passed_s", date_json(fault.cap_passed_s)},
          {"backlog_bytes", fault.backlog_bytes},
          {"retained_at_end_bytes", fault.retained_at_end_bytes},
          {"most_retained_bytes", fault.most_retained_bytes}};
}

FaultResult fault_from(const json& object) {
  FaultResult fault;
  object.at("event").get_to(fault.event);
  object.at("slot").get_to(fault.slot);
  fault.begun_s = date_from(object.at("begun_s"));
  fault.ended_s = date_from(object.at("ended_s"));
  fault.caught_up_s = date_from(object.at("caught_up_s"));
  fault.cap_passed_s = date_from(object.at("cap_passed_s"));
  object.at("backlog_bytes").get_to(fault.backlog_bytes);
  object.at("retained_at_end_bytes").get_to(fault.retained_at_end_bytes);
  object.at("most_retained_bytes").get_to(fault.most_retained_bytes);
  return fault;
}

struct DeadTupleField {
  const char* name;
  double DeadTuples::*member;
};
constexpr DeadTupleField dead_tuple_fields[] = {
    {"n_dead_tup", &DeadTuples::n_dead_tup},         {"n_dead_tup_max", &DeadTuples::most_dead_tup},
    {"n_dead_tup_mean", &DeadTuples::mean_dead_tup}, {"dead_versions_per_row_max", &DeadTuples::most_per_row},
    {"n_tup_upd", &DeadTuples::n_tup_upd},           {"n_tup_newpage_upd", &DeadTuples::n_tup_newpage_upd}};

json dead_json(const DeadTuples& table) {
  json out = {{"table", table.table}};
  for (const auto& [name, member] : dead_tuple_fields)
    out[name] = table.*member;
  return out;
}

DeadTuples dead_from(const json& object) {
  DeadTuples table;
  object.at("table").get_to(table.table);
  for (const auto& [name, member] : dead_tuple_fields)
    object.at(name).get_to(table.*member);
  return table;
}

json retention_json(const RetentionResult& retention) {
  json out = {{"server", retention.server},
              {"subretentionactive", retention.active},
              {"advances", retention.advances},
              {"stops", retention.stops},
              {"resumptions", retention.resumptions},
              {"retention_s_max", retention.longest_s},
              {"tables", json::array()}};
  for (const DeadTuples& table : retention.tables)
    out["tables"].push_back(dead_json(table));
  return out;
}

RetentionResult retention_from(const json& object) {
  RetentionResult retention;
  object.at("server").get_to(retention.server);
  object.at("subretentionactive").get_to(retention.active);
  object.at("advances").get_to(retention.advances);
  object.at("stops").get_to(retention.stops);
  object.at("resumptions").get_to(retention.resumptions);
  object.at("retention_s_max").get_to(retention.longest_s);
  for (const json& table : object.at("tables"))
    retention.tables.push_back(dead_from(table));
  return retention;
}

} // namespace

void add_upheaval(const Upheaval& upheaval, json& result) {
  for (const auto& [subscription, words] : upheaval.sync_words)
    result["initial_sync"][subscription] = {{"words", words}, {"tables", json::array()}};
  for (const TableSyncResult& table : upheaval.tables)
    result["initial_sync"][table.subscription]["tables"].push_back(table_json(table));
  for (const FaultResult& fault : upheaval.faults)
    result["faults"].push_back(fault_json(fault));
  for (const RetentionResult& retention : upheaval.retention)
    result["retention"].push_back(retention_json(retention));
}

Upheaval upheaval_from(const json& result) {
  Upheaval out;
  if (const auto found = result.find("initial_sync"); found != result.end())
    for (const auto& [subscription, entry] : found->items()) {
      entry.at("words").get_to(out.sync_words[subscription]);
      for (const json& table : entry.at("tables"))
        out.tables.push_back(table_from(subscription, table));
    }
  if (const auto found = result.find("faults"); found != result.end())
    for (const json& fault : *found)
      out.faults.push_back(fault_from(fault));
  if (const auto found = result.find("retention"); found != result.end())
    for (const json& retention : *found)
      out.retention.push_back(retention_from(retention));
  return out;
}

} // namespace replisim
