// One small transaction of a flow, in sizes and costs: computed once, multiplied by how many there are.
#pragma once

#include "models/apply_cost.hpp"
#include "models/cost_profile.hpp"
#include "models/workload.hpp"

#include <functional>
#include <map>
#include <vector>

namespace replisim {

/// What a publication does to a table's rows: nothing for an unpublished one.
struct Publishing {
  bool published = false;
  double passes = 1;                                   ///< share of rows that the row filter lets through
  double filter_cost_s = 0;                            ///< per row, passed or not
  bool inserts = true, updates = true, deletes = true; ///< option `publish`
  bool sends(Operation operation) const {
    return published and (operation == Operation::Insert   ? inserts
                          : operation == Operation::Update ? updates
                                                           : deletes);
  }
};
using PublishingOf = std::function<Publishing(const std::string& table)>;

/// CPU seconds of the walsender for the columns of one row.
double columns_sent_seconds(const CostParameters& costs, const Table& table, Operation operation);

/// Sizes of one transaction of a flow. Row images are those of a table's mean row.
struct FlowShape {
  double rows = 0;
  double wal_bytes = 0; ///< commit record included, page images not
  double wal_records = 0;
  double queued_bytes = 0; ///< accounted memory of its changes
  double backend_s = 0;    ///< CPU, reference core
};
FlowShape flow_shape(const FlowLoad& flow, const std::map<std::string, Table>& tables,
                     const CostParameters& costs);

/// The same transaction on the way to one subscriber.
struct DeliveredShape {
  double rows = 0;          ///< sent
  double filtered = 0;      ///< decoded and not sent
  double bytes = 0;         ///< on the wire, Begin and Commit included; 0 when nothing is sent
  double messages = 0;      ///< Begin and Commit included
  double send_s = 0;        ///< walsender: replay, filters and output
  double filter_s = 0;      ///< part of send_s: row filters
  double receive_s = 0;     ///< leader: receiving
  std::vector<double> sent; ///< rows of each statement of the transaction
};
/// Applying such a transaction, its commit included; nothing when nothing was sent.
ApplyTime apply_time(const FlowLoad& flow, const std::map<std::string, Table>& tables,
                     const DeliveredShape& shape, const ApplyCost& cost);

/// `skips_empty`: the server sends nothing for a transaction without published rows (PG15).
DeliveredShape delivered_shape(const FlowLoad& flow, const std::map<std::string, Table>& tables,
                               const CostParameters& costs, const PublishingOf& publishing, bool skips_empty);

/// Full-page images of `more` touches of random existing rows after `before` ones since the last checkpoint:
/// pages touched for the first time times a page (expected value over uniformly random rows).
double page_image_bytes(const Table& table, double before, double more);

/// Load factor of a curve at a time, and its integral from 0 to a time (seconds at factor 1).
double curve_factor(const FlowLoad& flow, double t_s);
double curve_integral(const FlowLoad& flow, double t_s);

} // namespace replisim
