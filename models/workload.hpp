// What clients do on a publisher: transactions made of statements, savepoints and rollbacks.
#pragma once

#include "models/table.hpp"

#include <optional>
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
  bool speculative = false;            ///< INSERT ... ON CONFLICT: inserted on approval, then confirmed
};

struct SavepointStep {
  std::string name;
};

struct RollbackToStep {
  std::string savepoint;
};

/// RELEASE SAVEPOINT: what was done since then stays a subtransaction's, and that one is over.
struct ReleaseStep {
  std::string savepoint;
};

/// The session does nothing for a while, its transaction open ("idle in transaction").
struct PauseStep {
  double seconds = 0;
};

using TransactionStep = std::variant<StatementStep, SavepointStep, RollbackToStep, PauseStep, ReleaseStep>;

/// One transaction that runs at a given time, once or again and again. Each run starts at its own time
/// or when the run before it is over, whichever is later.
struct BatchLoad {
  std::string name;
  std::string server;
  double at_s = 0;
  double every_s = 0; ///< distance of the runs' starts
  std::int64_t times = 1;
  bool rolls_back = false; ///< the transaction ends with ROLLBACK instead of COMMIT
  int sessions = 1;        ///< so many clients run it at the same time, step by step
  /// PREPARE TRANSACTION at its end, and COMMIT (or ROLLBACK) PREPARED so much later; negative: neither.
  double prepared_for_s = -1;
  std::vector<TransactionStep> transaction;

  bool two_phase() const { return prepared_for_s >= 0; }
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
  std::vector<double> times_s; ///< where it is replayed: the commits, in order, in place of rate and curve
};

/// One transaction of a replay.
struct ReplayedTransaction {
  double at_s = 0;         ///< BEGIN
  double lasts_s = 0;      ///< its commit or rollback comes no earlier than so long after it
  std::size_t steps = 0;   ///< which of ReplayLoad::distinct
  bool rolls_back = false; ///< as a whole
};

/// Transactions as a server once ran them.
struct ReplayLoad {
  std::string name;
  std::string server;
  std::vector<std::vector<TransactionStep>> distinct; ///< what they do; most do what others do, too
  std::vector<ReplayedTransaction> transactions;      ///< in order of time
};

/// One statement of a transaction that a client runs: a SELECT by key, or a change of rows.
struct ClientStatement {
  std::string table;
  std::optional<StatementStep> change; ///< nothing: a SELECT
  double cpu_s = 0;                    ///< CPU of the backend besides what any such statement costs
};

/// One transaction of a mix. More than one statement stand between BEGIN and COMMIT, each of which is a
/// statement sent by itself.
struct ClientScript {
  double weight = 1; ///< how often it is chosen, relative to the others
  std::vector<ClientStatement> statements;
  FlowLoad flow; ///< what it changes, as walsenders see it; no transaction: it changes nothing

  int round_trips() const { return static_cast<int>(statements.size()) + (statements.size() > 1 ? 2 : 0); }
};

/// Clients in a closed loop, as pgbench's: each sends a statement, waits for the answer, sends the next.
struct ClientLoad {
  std::string name;
  std::string server;
  std::string host; ///< where the client program runs
  int clients = 1;
  int threads = 1; ///< of the client program (pgbench --jobs)
  double think_s = 0;
  double rate_per_s = 0; ///< transactions of all clients together at most (pgbench --rate); 0: no limit
  double from_s = 0;
  double until_s = 0; ///< 0: to the end of the run
  std::vector<ClientScript> scripts;
};

/// WAL that other databases of the server write: every slot reads it, nobody decodes it.
struct OtherWalLoad {
  std::string name;
  std::string server;
  double bytes_per_s = 0;
  double from_s = 0;
  double until_s = 0; ///< 0: to the end of the run
};

/// Statements that change the catalog; models/ddl.hpp says what each leaves behind.
enum class DdlKind {
  AddTable,   ///< to a publication
  DropMember, ///< a table, from a publication
  PublicationSet,
  PublicationRename,
  PublicationOwner,
  Grant,
  AddColumn,
  AlterType,
  CreateIndex,
  Analyze,
  Vacuum,
  Truncate,
  CreateTable,
  DropTable,
  TemporaryTable,
  CreateSchema,
  CreatePartition,
  DropPartition
};

/// Sessions that run one statement that changes the catalog, each run in a transaction of its own: at a rate,
/// or at given times.
struct DdlLoad {
  std::string name;
  std::string server;
  DdlKind kind = DdlKind::AddColumn;
  std::string table;       ///< the decoded table it names; empty: one that nobody decodes
  std::string publication; ///< of statements on a publication
  bool other_database = false;
  std::int64_t relations = 1; ///< that one statement goes over
  double open_s = 0;          ///< from the statement to its commit
  double rate_per_s = 0;      ///< 0: at given times
  bool poisson = false;
  double from_s = 0;
  double until_s = 0; ///< 0: to the end of the run
  double at_s = 0;
  double every_s = 0;
  std::int64_t times = 1;
};

} // namespace replisim
