// Smaller variants of a case.
#include "tests/reference/random_case.hpp"
#include "tests/support/scenario_builder.hpp"

namespace replisim::test {

namespace {

/// Savepoints are there when they are named, and something is written.
bool valid(const BatchLoad& load) {
  std::vector<std::string> open;
  bool writes = false;
  for (const auto& step : load.transaction) {
    const auto* rollback = std::get_if<RollbackToStep>(&step);
    const auto* release = std::get_if<ReleaseStep>(&step);
    writes = writes or std::holds_alternative<StatementStep>(step);
    if (const auto* savepoint = std::get_if<SavepointStep>(&step))
      open.push_back(savepoint->name);
    if (rollback == nullptr and release == nullptr)
      continue;
    const std::string& target = rollback != nullptr ? rollback->savepoint : release->savepoint;
    while (not open.empty() and open.back() != target)
      open.pop_back();
    if (open.empty())
      return false;
    if (release != nullptr)
      open.pop_back();
  }
  return writes;
}

class Variants {
public:
  explicit Variants(const Case& from) : from_(from) {}
  std::vector<Case> out;

  void fewer_transactions() {
    for (std::size_t i = 0; from_.transactions.size() > 1 and i < from_.transactions.size(); ++i)
      add([&](Case& to) { to.transactions.erase(to.transactions.begin() + static_cast<std::ptrdiff_t>(i)); });
  }

  void fewer_steps() {
    for (std::size_t i = 0; i < from_.transactions.size(); ++i)
      for (std::size_t j = 0; j < from_.transactions[i].transaction.size(); ++j)
        add([&](Case& to) {
          auto& steps = to.transactions[i].transaction;
          steps.erase(steps.begin() + static_cast<std::ptrdiff_t>(j));
        });
  }

  void plainer() {
    add([](Case& to) { to.link.reset(); });
    add([](Case& to) { to.costs = usual_costs(); });
    add([](Case& to) { to.batch_rows = 1; });
    add([](Case& to) { to.fsync = false; });
    add([](Case& to) { to.commit_waits = true; });
    add([](Case& to) { to.version = 17; });
    add([](Case& to) { to.wal_writer_delay_ms = 9; });
    add([](Case& to) { to.work_mem_kb = 64; });
    add([](Case& to) { to.pool = 2; });
    add([](Case& to) { to.workers = 4; });
    for (std::size_t i = 0; i < from_.transactions.size(); ++i) {
      add([&](Case& to) { to.transactions[i].at_s = 0; });
      add([&](Case& to) { to.transactions[i].rolls_back = false; });
    }
  }

  void plainer_tables() {
    for (std::size_t i = 0; i < from_.tables.size(); ++i) {
      add([&](Case& to) { to.tables.erase(to.tables.begin() + static_cast<std::ptrdiff_t>(i)); });
      add([&](Case& to) { to.tables[i].published = true; });
      add([&](Case& to) { to.tables[i].table.replica_identity = ReplicaIdentity::Default; });
      add([&](Case& to) { to.tables[i].table.secondary_indexes = 0; });
      for (std::size_t j = 1; j < from_.tables[i].table.columns.size(); ++j)
        add([&](Case& to) {
          auto& columns = to.tables[i].table.columns;
          columns.erase(columns.begin() + static_cast<std::ptrdiff_t>(j));
        });
    }
  }

  void fewer_rows() {
    for (std::size_t i = 0; i < from_.transactions.size(); ++i)
      for (std::size_t j = 0; j < from_.transactions[i].transaction.size(); ++j)
        for (const Rows part : {2, 1}) // half of them, then one by one
          add([&](Case& to) {
            if (auto* statement = std::get_if<StatementStep>(&to.transactions[i].transaction[j]))
              statement->rows = part == 2 ? statement->rows / 2 : statement->rows - 1;
          });
  }

private:
  template <class Change>
  void add(Change change) {
    Case to = from_;
    change(to);
    bool good = to.rows() > 0;
    // Transactions that begin at once are a tie of the machine's own making, and another difference.
    for (std::size_t i = 0; i < to.transactions.size(); ++i)
      for (std::size_t j = 0; j < i; ++j)
        good = good and to.transactions[i].at_s != to.transactions[j].at_s;
    bool any_published = false;
    for (const CaseTable& table : to.tables)
      any_published = any_published or table.published;
    for (const auto& load : to.transactions) {
      good = good and valid(load);
      for (const auto& step : load.transaction)
        if (const auto* statement = std::get_if<StatementStep>(&step))
          good = good and statement->rows > 0 and
                 std::any_of(to.tables.begin(), to.tables.end(),
                             [&](const CaseTable& table) { return table.table.name == statement->table; });
    }
    if (good and any_published and yaml_of(to) != yaml_of(from_))
      out.push_back(std::move(to));
  }

  const Case& from_;
};

} // namespace

std::vector<Case> smaller(const Case& from) {
  Variants variants(from);
  variants.fewer_transactions();
  variants.plainer();
  variants.fewer_steps();
  variants.plainer_tables();
  variants.fewer_rows();
  return variants.out;
}

} // namespace replisim::test
