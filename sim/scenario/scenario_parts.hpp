// The parts of a Scenario, built one after the other from the checked tree.
#pragma once

#include "sim/scenario/envelope.hpp"
#include "sim/scenario/fields.hpp"
#include "sim/scenario/loader.hpp"
#include "sim/scenario/problems.hpp"

#include <filesystem>
#include <map>
#include <memory>
#include <string>
#include <vector>

namespace replisim {

struct PlanQuestion; // sim/scenario/plan_question.hpp

/// What all builders share.
struct Building {
  const Node& root; ///< checked, shorthands expanded
  const Library& library;
  Problems& problems;
  Scenario& scenario;
  std::map<std::string, Node> machines;      ///< by host: the machine file with the host's own fields over it
  Envelope envelope;                         ///< of the profile
  std::map<std::string, double> prices = {}; ///< of the machines that state one, by host
  std::shared_ptr<const PlanQuestion> plan = nullptr; ///< null: the file has no such block
};

/// One entry of a top-level map.
struct NamedFields {
  std::string name;
  std::string path; ///< e.g. servers.pub
  Fields fields;
};

/// The entries of a top-level ObjectMap in order of name, without those that are mistaken as a whole.
std::vector<NamedFields> named_entries(const Node& root, const std::string& map);

/// One entry; nullptr when there is none or it is mistaken as a whole.
const Node* find_entry(const Node& root, const std::string& map, const std::string& name);

/// The texts of a NameList field that carry no mistake.
std::vector<std::string> names_in(const Fields& fields, std::string_view list);

/// Position of a column in its table, or -1 with a problem at `at`.
int find_column(const Table& table, const std::string& name, const Position& at, const std::string& path,
                Problems& problems);

/// A problem when `value` counts and the column's type does not.
void require_integer_column(const Column& column, const ColumnValue& value, const Position& at,
                            const std::string& path, Problems& problems);

/// What an entry of `workload` is, by the fields it has: `ddl`, `other_wal`, `replay`, `clients`, `rate`, or
/// none.
enum class LoadKind { Batch, Flow, OtherWal, Ddl, Replay, Clients };
LoadKind load_kind(const Fields& fields);

void build_profile(Building& building);
void build_hosts(Building& building);
void build_servers(Building& building);
void build_links(Building& building);
void build_run_options(Building& building);
void build_statistics(Building& building);
void build_tables(Building& building);
void build_replication(Building& building);
void build_workload(Building& building);
void build_clients(Building& building, const NamedFields& entry);

/// The columns an UPDATE assigns, from its `set`.
std::vector<Assignment> assignments_of(const Fields& fields, const Table& table, const std::string& path,
                                       Problems& problems);
void build_sessions(Building& building);
void build_events(Building& building);

/// The plan of a subscription that is created during the run.
std::optional<InitialSyncPlan> initial_sync_of(const Fields& subscription);

/// True when `observe.until` is a duration, or mistaken.
bool run_has_end(const Node& root);

/// Mistakes that no single field shows: what does not fit together.
void check_contradictions(Building& building);

/// Synchronous standbys that nobody is, errors that never end.
void check_apply_contradictions(Building& building);

/// The part of them that concerns the workload.
void check_workload(Building& building);

/// The part of that which concerns clients in a closed loop.
void check_clients(Building& building);

/// More rows than a table of PostgreSQL can hold.
void check_sizes(Building& building);

/// What concerns servers that hand on what they receive.
void check_chains(Building& building);

/// What concerns statements that change the catalog, and decoding through SQL.
void check_catalog_changes(Building& building);

/// The part of that which concerns the transactions of one `replay` entry.
void check_replay(Building& building, const NamedFields& entry);

/// The file that a `replay` entry names, seen from the file that names it.
std::filesystem::path replay_path(const NamedFields& entry);

/// Fills Scenario::guesses from `guessed`, from machine files, from profiles and from guessed defaults.
void collect_guesses(Building& building);

/// Sweep axes and break-even questions. `tree` is the effective tree before the check: every value is put
/// into a copy of it and checked as if the file held it.
void build_sweep(Building& building, const Node& tree);

/// The `plan:` block, its values checked as if the file held them.
void build_plan(Building& building, const Node& tree);

/// FNV-1a (64 bits, hex) over the effective scenario, its machines and its profile; the order of names and
/// the questions asked about the scenario (`sweep`, `break_even`, `plan`) do not count.
std::string scenario_hash(const Building& building);

} // namespace replisim
