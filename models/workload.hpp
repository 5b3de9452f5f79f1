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

using TransactionStep = std::variant<StatementStep, SavepointStep, RollbackToStep>;

/// One transaction that runs once, at a given time.
struct BatchLoad {
  std::string name;
  std::string server;
  double at_s = 0;
  std::vector<TransactionStep> transaction;
};

} // namespace replisim
