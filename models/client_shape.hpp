// Transactions of clients in sizes and costs: what a mix demands of each station, and the WAL it writes.
#pragma once

#include "models/closed_network.hpp"
#include "models/cost_profile.hpp"
#include "models/dead_versions.hpp"
#include "models/workload.hpp"

#include <map>

namespace replisim {

/// What lies between the client program and its backends.
struct ClientRoute {
  double one_way_s = 0; ///< latency of the link; 0 on one host
  double flush_s = 0;   ///< one flush of the WAL; 0: commits do not wait for it
};

/// Demands of the mean transaction of a load, its scripts weighted. BEGIN and COMMIT share the cost of a
/// transaction; a statement takes its row locks when half of its CPU is spent. Where dead versions are
/// retained it has passed them before it does.
ClientDemand client_demand(const ClientLoad& load, const std::map<std::string, Table>& tables,
                           const CostParameters& costs, const ClientRoute& route,
                           const DeadVersions* dead = nullptr);

/// Share of the load's transactions that run script `index`.
double script_share(const ClientLoad& load, std::size_t index);

/// WAL of some transactions.
struct ClientWal {
  double bytes = 0;
  double records = 0;
};

/// How often rows of one table have been updated, by clients.
struct TouchedRows {
  double since_start = 0;
  double since_checkpoint = 0;
};

/// WAL of `more` updates of random rows. The first update of a full page moves the row to another one (a lock
/// record, an update record with two blocks, an entry in each index); later ones find the room that pruning
/// made, and stay on the page (HOT; heapam.c: heap_update, pruneheap.c). With `images` the first touch of a
/// heap or index page after a checkpoint logs the page. Expected values over uniformly random rows. Of the
/// updates that would stay, `lost_hot` have to move as well.
ClientWal random_update_wal(const Table& table, TouchedRows before, double more, bool images,
                            double lost_hot = 0);

/// WAL of one row that a script inserts or deletes, in the mean.
ClientWal row_wal(const Table& table, Operation operation);

} // namespace replisim
