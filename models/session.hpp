// What client sessions on a subscriber do: transactions that want locks.
#pragma once

#include "models/lock_modes.hpp"

#include <optional>
#include <string>
#include <vector>

namespace replisim {

/// One statement, or a pause inside the transaction.
struct SessionStep {
  enum class Kind { Select, Insert, Update, Delete, Lock, Vacuum, Pause } kind = Kind::Select;
  std::string verb;  ///< as written, for messages: "select", "alter_table", ...
  std::string table; ///< none of a Pause
  LockMode mode = LockMode::AccessShare;
  std::optional<RowLock> row_lock; ///< taken on each of its rows
  Rows rows = 1;
  Rows first_row = 0; ///< the rows from here on; 0: `rows` random ones of [from_row, to_row]
  Rows from_row = 1;
  Rows to_row = 1;
  double takes_s = 0; ///< CPU it uses once it has its locks, besides what its rows cost; or the pause
};

/// Sessions of one kind: `clients` connections that run the same transaction again and again.
struct SessionLoad {
  std::string name;
  std::string server;
  int clients = 1;
  double from_s = 0;
  double until_s = 0;        ///< no transaction begins at or after it; 0: to the end of the run
  std::int64_t times = 0;    ///< transactions of each client; 0: without end
  double every_s = 0;        ///< closed loop: a client begins one at most this often
  double rate_per_s = 0;     ///< open loop: transactions of all clients together; 0: closed loop
  bool poisson = false;      ///< arrivals of an open loop at random
  double lock_timeout_s = 0; ///< 0: the server's
  int max_tries = 1;         ///< a cancelled transaction is run again until it was tried so often
  bool rolls_back = false;
  std::vector<SessionStep> transaction;

  bool writes() const {
    for (const auto& step : transaction)
      if (step.kind == SessionStep::Kind::Insert or step.kind == SessionStep::Kind::Update or
          step.kind == SessionStep::Kind::Delete)
        return true;
    return false;
  }
};

} // namespace replisim
