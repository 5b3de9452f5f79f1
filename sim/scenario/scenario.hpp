// A scenario, loaded, checked and frozen: all that simulate() needs. Code behind the loader sees
// only this; where a value came from (file, default, guess) is recorded beside it.
#pragma once

#include "models/cost_profile.hpp"
#include "models/hardware.hpp"
#include "models/session.hpp"
#include "models/settings.hpp"
#include "models/table.hpp"
#include "models/version.hpp"
#include "models/workload.hpp"
#include "sim/scenario/events.hpp"

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace replisim {

enum class Streaming { Off, On, Parallel };

std::string to_string(Streaming streaming);

struct Server {
  std::string name;
  std::string host;
  Version version;
  Settings settings;
  /// A checkpoint completed between loading the initial rows and the workload: the first change of
  /// each existing page logs the whole page (full_page_writes).
  bool checkpoint_before_workload = false;
  std::string data_disk; ///< name of a disk of the host; holds spill files. Empty: the first one
  std::string wal_disk;  ///< holds pg_wal. Empty: the first one
  Bytes initial_retained_wal_bytes = 0; ///< see Slot cursors: WAL every slot lies behind at the start
};

/// WHERE clause of a published table.
struct RowFilter {
  double passes = 1; ///< share of the rows that are sent
  double cost_s = 0; ///< CPU to evaluate it for one row, on the reference core
};

struct Publication {
  std::string name;
  std::string server;
  std::vector<std::string> tables;
  std::map<std::string, RowFilter> row_filters;              ///< by table, where it has one
  std::map<std::string, std::vector<int>> column_lists = {}; ///< published columns, by table, where not all
  bool inserts = true, updates = true, deletes = true;       ///< option `publish`
};

/// A row that the subscriber holds already: inserting it, or updating another to it, is an error.
struct ApplyConflict {
  std::string table;
  Rows row = 0;
  double resolved_s = 0; ///< when somebody removes it; 0: nobody does
};

/// The subscription is created during the run, and its tables are copied.
struct InitialSyncPlan {
  double created_s = 0;        ///< CREATE SUBSCRIPTION
  bool copies = true;          ///< copy_data
  double rate_bytes_per_s = 0; ///< of one COPY by itself, in bytes of the table; 0: by the profile's costs
};

struct Subscription {
  std::string name;
  std::string server; ///< the subscriber
  std::string publication;
  Streaming streaming = Streaming::Off;
  bool binary = false;
  bool retain_dead_tuples = false;
  bool commits_wait_for_flush = false; ///< synchronous_commit other than off
  bool disable_on_error = false;
  bool two_phase = false; ///< prepared transactions are prepared on the subscriber, too
  std::vector<ApplyConflict> conflicts = {};
  std::optional<InitialSyncPlan> initial_sync = {};
  double max_retention_s = 0;    ///< max_retention_duration of retain_dead_tuples; 0: no limit
  bool own_changes_only = false; ///< origin = none: what the publisher has received itself is not asked for
};

/// The other end of a slot that is no PostgreSQL server: a change-data-capture client.
struct Consumer {
  std::string name;
  std::string publication;
  std::string host;             ///< where it runs
  double cost_per_change_s = 0; ///< its own time per row change, on its host; its transport's included
  Bytes buffer_bytes = 0;       ///< what it reads ahead
  Streaming streaming = Streaming::Off;
  enum class Confirms { EachCommit, Interval, Never } confirms = Confirms::EachCommit;
  double confirm_interval_s = 0;        ///< of Interval
  bool feedback_in_transaction = false; ///< answers the server while it works on one large transaction
  bool confirms_keepalives = true;      ///< confirms the position of a keepalive when nothing is pending
  double reconnect_delay_s = 1;
  double connected_from_s = 0;  ///< before it the slot exists and nobody reads
  double connected_until_s = 0; ///< after it nobody reads; 0: to the end of the run
  double connects_every_s = 0;  ///< run by a timetable: connects this often, drains, disconnects; 0: stays
};

/// Calls of the SQL decoding interface on a slot of their own, in a session on the publisher.
struct DecodeCalls {
  std::string name;
  std::string publication;
  bool peeks = true; ///< pg_logical_slot_peek_binary_changes(); else the get variant, which moves the slot on
  double at_s = -1;  ///< of the first call; negative: when every load of the server is over
  double every_s = 0; ///< from one call to the next; 0: one after the other
  std::int64_t times = 1;
};

/// A value nobody measured or stated; reports list them all.
struct Guess {
  std::string path;  ///< field path or cost parameter name
  std::string value; ///< as text
  std::string reason;
  auto operator<=>(const Guess&) const = default;
};

struct Observe {
  double until_s = 0;       ///< end of the run; 0: when every transaction has been applied
  double interval_s = 0.05; ///< distance of timeline samples
};

/// How runs are turned into answers.
struct Statistics {
  enum class Study { Auto, Steady, Terminating } study = Study::Auto;
  double precision = 0; ///< half width of the interval over the value; 0: as narrow as the run makes it
  std::vector<std::string> metrics = {"tps", "lag_s_mean"}; ///< that are to be so precise
  int most_replications = 100;                              ///< spent on it
  double most_wall_s = 600;                                 ///< the same
  bool estimates_long = false; ///< steady runs of ten minutes and more are estimated without being asked
  bool exact = false;          ///< nothing is estimated, every transaction of clients is computed by itself
};

/// Background load: a process that wants a steady share of one core (a sampler, a backup).
struct BackgroundLoad {
  std::string name;
  std::string host;
  double cores = 0;
};

/// A range of a quantity, from which a sweep draws samples.
struct AxisRange {
  double low = 0; ///< in base units (s, bytes, fraction)
  double high = 0;
  bool log = false;      ///< even on a logarithmic scale
  double quantum = 0;    ///< values are multiples of it; 0: any value
  double unit_value = 1; ///< base units in `unit`
  std::string unit;      ///< as values are written: "kB", "s", "%", or "" for plain numbers
  bool operator==(const AxisRange&) const = default;
};

/// One axis of a sweep: a path and its values as YAML text, each with the label shown in results. Several
/// paths that change together have `zipped`, and each value is then a YAML list of one value a path; a
/// sampled axis has a `range` and no values.
struct SweepAxis {
  std::string path;                                        ///< of a zipped axis: the paths, ", " between
  std::vector<std::pair<std::string, std::string>> values; ///< label, YAML text
  std::vector<std::string> zipped = {};
  std::optional<AxisRange> range = {};
};

enum class SampleMethod { LatinHypercube, Sobol };

/// How the axes with a range are sampled, together.
struct SamplePlan {
  SampleMethod method = SampleMethod::LatinHypercube;
  std::uint64_t points = 0;
  std::uint64_t seed = 1;
};

/// "At which value of `over` are the two settings of `path` equal in `metric`?", asked per sweep point.
struct BreakEven {
  std::string metric; ///< e.g. total_s
  std::string path;   ///< e.g. subscriptions.s.streaming
  std::string first;  ///< YAML text of the two values compared
  std::string second;
  std::string over; ///< path of a quantity, e.g. workload.batch.transaction[0].rolled_back
  double low = 0;   ///< range searched (fractions for percentages)
  double high = 1;
  std::string over_unit = "%"; ///< unit values of `over` are written in: "%", "s", "B", or "" (a count)
};

struct Scenario {
  std::string name;
  std::string file;             ///< as given by the user
  std::string hash;             ///< of the effective tree after extends and overrides (hex)
  double time_resolution_s = 0; ///< 0: automatic, a fixed fraction of the estimated run time
  CostProfile profile;
  std::map<std::string, Machine> hosts; ///< by host name
  std::map<std::string, Server> servers;
  std::vector<Link> links;
  std::map<std::string, Table> tables;
  std::map<std::string, Publication> publications;
  std::map<std::string, Subscription> subscriptions;
  std::map<std::string, Consumer> consumers;
  std::map<std::string, DecodeCalls> decode;
  std::vector<BatchLoad> batches; ///< in order of name
  std::vector<FlowLoad> flows;
  std::vector<ClientLoad> clients;
  std::vector<OtherWalLoad> other_wal;
  std::vector<DdlLoad> ddl;
  std::vector<ReplayLoad> replays;
  std::vector<BackgroundLoad> background;
  std::vector<SessionLoad> sessions; ///< in order of name
  std::vector<Event> events;         ///< in order of time
  Observe observe;
  Statistics statistics;
  std::vector<SweepAxis> sweep;
  std::optional<SamplePlan> sample; ///< of the axes with a range
  std::vector<BreakEven> break_even;
  std::vector<Guess> guesses;
  std::vector<std::string> warnings;
};

} // namespace replisim
