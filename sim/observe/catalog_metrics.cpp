#include "sim/observe/catalog_metrics.hpp"

#include <algorithm>
#include <numeric>

namespace replisim {

namespace {

Metrics catalog_metrics(const Decoder& decoder) {
  const CatalogTally& tally = decoder.catalog();
  auto number = [](auto value) { return static_cast<double>(value); };
  return {{"distributed_snapshots", number(tally.snapshots)},
          {"distributed_snapshot_bytes", number(tally.snapshot_bytes)},
          {"distributed_messages", number(tally.messages)},
          {"executed_messages", number(tally.executed)},
          {"rebuilt_entries", number(tally.rebuilt_entries)},
          {"rebuilt_relations", number(tally.rebuilt_relations)},
          {"overflowed_txns", number(tally.overflowed)},
          {"catalog_spill_bytes", number(decoder.buffer().catalog_spilled_bytes())}};
}

void add_to_run(const Metrics& metrics, RunResult& result) {
  for (const auto& [name, value] : metrics)
    result.metrics[name] += value;
}

/// Counters of a slot that is read through SQL, and the time of its calls.
Metrics call_metrics(const SqlSlotSide& side, const DecodeRecord& record) {
  const SlotCounters& counters = side.decoder->buffer().counters();
  auto number = [](auto value) { return static_cast<double>(value); };
  Metrics metrics = {{"spill_txns", number(counters.spill_txns)},
                     {"spill_count", number(counters.spill_count)},
                     {"spill_bytes", number(counters.spill_bytes)},
                     {"total_txns", number(counters.total_txns)},
                     {"total_bytes", number(counters.total_bytes)},
                     {"peak_spill_file_bytes", number(side.decoder->buffer().peak_spill_file_bytes())},
                     {"confirmed_flush_lsn", number(side.slot->confirmed_flush_lsn().value)},
                     {"restart_lsn", number(side.slot->restart_lsn().value)},
                     {"decode_calls", number(record.seconds.size())},
                     {"decode_messages", number(record.messages)}};
  if (record.seconds.empty())
    return metrics;
  const auto [least, most] = std::minmax_element(record.seconds.begin(), record.seconds.end());
  metrics["decode_s"] =
      std::accumulate(record.seconds.begin(), record.seconds.end(), 0.0) / number(record.seconds.size());
  metrics["decode_s_min"] = *least;
  metrics["decode_s_max"] = *most;
  return metrics;
}

} // namespace

void collect_catalog_metrics(const Pipeline& pipeline, RunResult& result) {
  for (const auto& ddl : pipeline.log().ddl) {
    result.metrics["wal_bytes"] += static_cast<double>(ddl.wal_bytes);
    result.metrics["ddl_commits"] += static_cast<double>(ddl.commits);
  }
  if (not pipeline.log().ddl.empty())
    for (const auto& [name, side] : pipeline.slots()) {
      const Metrics metrics = catalog_metrics(*side.decoder);
      add_to_run(metrics, result);
      result.subscriptions[name].insert(metrics.begin(), metrics.end());
    }
  for (const auto& [name, side] : pipeline.sql_slots()) {
    Metrics metrics = catalog_metrics(*side.decoder);
    metrics.merge(call_metrics(side, pipeline.log().decoding.at(name)));
    for (const auto& [metric, value] : metrics) {
      if (metric.ends_with("_lsn"))
        continue;
      double& run = result.metrics[metric];
      run = metric.starts_with("decode_s") ? std::max(run, value) : run + value;
    }
    result.subscriptions[name] = std::move(metrics);
  }
}

} // namespace replisim
