// What clients do on a publisher: transactions made of statements, savepoints and rollbacks.
#pragma once

#include "models/table.hpp"

#include <string>
#include <variant>
#include <vector>

namespace replisim {

/// INSERT, UPDATE or DELETE of `rows` rows of one table.
struct StatementStep {
  Operation operation = Operation::Insert;
  std::string table;
  Rows rows = 0;
  std::vector<Assignment> assignments; ///< of an UPDATE, where they change sizes
};

struct SavepointStep {
  std::string name;
};

struct RollbackToStep {
  std::string savepoint;
};

/// The session does nothing for a while, its transaction open ("idle in transaction").
struct PauseStep {
  double seconds = 0;
};

using TransactionStep = std::variant<StatementStep, SavepointStep, RollbackToStep, PauseStep>;

/// One transaction that runs at a given time, once or again and again. Each run starts at its own time
/// or when the run before it is over, whichever is later.
struct BatchLoad {
  std::string name;
  std::string server;
  double at_s = 0;
  double every_s = 0; ///< distance of the runs' starts
  std::int64_t times = 1;
  bool rolls_back = false; ///< the transaction ends with ROLLBACK instead of COMMIT
  std::vector<TransactionStep> transaction;
};

/// One point of a load curve: from `at_s` on the rate is multiplied by `factor`.
struct CurvePoint {
  double at_s = 0;
  double factor = 1;
};

/// Many small transactions of one kind, each committed at once. Open loop: they come at a rate,
/// whatever happens to those before them.
struct FlowLoad {
  std::string name;
  std::string server;
  double rate_per_s = 0; ///< transactions
  bool poisson = false;  ///< arrivals at random instead of at equal distances
  double from_s = 0;
  double until_s = 0;            ///< 0: to the end of the run
  double curve_period_s = 0;     ///< the curve starts again after it; 0: it does not
  std::vector<CurvePoint> curve; ///< in order of time; empty: factor 1
  std::vector<StatementStep> transaction;
};

/// WAL that other databases of the server write: every slot reads it, nobody decodes it.
struct OtherWalLoad {
  std::string name;
  std::string server;
  double bytes_per_s = 0;
  double from_s = 0;
  double until_s = 0; ///< 0: to the end of the run
};

} // namespace replisim
