// The list of transactions that a `replay` reads and `replisim import` writes: a CSV file, one line a
// transaction.
//
//   at_s,lasts_s,ends,steps
//   0.000000,0.021,commit,1: update accounts 1; insert history 1
//   0.004310,0.018,commit,1
//   12.500000,3.2,commit,insert events 90000; savepoint a; insert events 10000; rollback_to a
//   17.000000,0.1,rollback,delete events 500; update documents 2 set body
//
// `at_s` is the BEGIN, `lasts_s` the time to the commit or rollback. Steps are those of a transaction, in
// words: insert, update and delete with table and rows, savepoint, rollback_to and release with a name. `set`
// with a column says that an update assigns it: what is stored out of line is written anew only then.
// `NUMBER:` in front gives the steps a number, by which later lines name them.
#pragma once

#include "models/table.hpp"
#include "models/workload.hpp"

#include <filesystem>
#include <map>
#include <string>

namespace replisim {

/// The header line of the file.
inline constexpr const char* replay_header = "at_s,lasts_s,ends,steps";

/// Fills `load.distinct` and `load.transactions` from the file, all times divided by `speed`. Throws
/// ScenarioError with the first mistakes of the file (file, line, what was found), or UsageError when it
/// cannot be read.
void read_replay(const std::filesystem::path& file, const std::map<std::string, Table>& tables, double speed,
                 ReplayLoad& load);

/// The steps as the file spells them; columns by their number where their table is not among `tables`.
std::string steps_text(const std::vector<TransactionStep>& steps,
                       const std::map<std::string, Table>& tables = {});

/// All that a replay holds as text, for the identity of a scenario.
std::string replay_text(const ReplayLoad& load);

} // namespace replisim
