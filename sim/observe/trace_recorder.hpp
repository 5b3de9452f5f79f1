// Writes down a run event by event, for a trace: what each process was doing when, and how batches of rows
// went from one to the next. A long run is sampled: of every so many stretches of simulated time one is
// kept whole, so that what is kept stays readable.
#pragma once

#include "sim/actors/batch_observer.hpp"

#include <cstdint>
#include <map>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

namespace replisim {

class Pipeline;

/// One stretch of a process's time.
struct TraceSlice {
  int process = 0; ///< index into TraceRecorder::processes()
  double from_s = 0;
  double to_s = 0;
  bool blocked = false; ///< waiting for output; else at work
  int waits_for = -1;   ///< index into TraceRecorder::signals()
  int batch = -1;       ///< last batch it began to work on with this slice
};

/// A batch of rows, or of small transactions, of one transaction.
struct TraceBatch {
  std::uint32_t xid = 0; ///< 0: of a flow
  std::int64_t rows = 0; ///< of a flow: transactions
  std::string label;     ///< statement and table, or the name of the load
};

/// Where a batch was when: the process and the date of the slice that began then.
struct TraceStop {
  int process = 0;
  double at_s = 0;
  int hop = -1; ///< -1: where it was written; else a Hop
};

/// The way of one batch through one slot, in order of time, from the backend on.
struct TraceFlow {
  int batch = 0;
  std::vector<TraceStop> stops;
};

struct TraceProcess {
  std::string node;  ///< server
  std::string stage; ///< backend, walsender, ...
  std::string name;
};

class TraceRecorder : public engine::Observer, public BatchObserver {
public:
  /// Keeps about `most_events` slices and stops.
  explicit TraceRecorder(std::size_t most_events) : most_events_(most_events) {}

  /// Begins to watch a pipeline that has not run yet.
  void watch(Pipeline& pipeline);

  const std::vector<TraceProcess>& processes() const { return processes_; }
  const std::vector<std::string>& signals() const { return signals_; }
  const std::vector<TraceSlice>& slices() const { return slices_; } ///< in order of their ends
  const std::vector<TraceBatch>& batches() const { return batches_; }
  /// Ways with two stops or more.
  std::vector<TraceFlow> flows() const;
  /// Of every `period_s` of simulated time the first `kept_s` are there; equal: everything is.
  double period_s() const { return period_s_; }
  double kept_s() const { return kept_s_; }
  /// Keeps about half of what is there.
  void thin();

  void spent(const engine::Process& process, engine::Activity activity, double from_s, double to_s,
             const std::string& waits_for) override;
  void written(const engine::Process& by, const WalEntry& entry, Lsn end) override;
  void moved(const engine::Process& by, const SubscriptionRecord& record, Hop hop, Xid top,
             const std::vector<ChangeRun>& runs) override;
  void moved(const engine::Process& by, const SubscriptionRecord& record, Hop hop, Lsn end) override;

private:
  struct SlotOf {
    int index = 0;
    std::string publisher;
  };
  /// Of a batch, through a slot, where a process takes it up.
  struct Arrival {
    std::pair<int, int> way; ///< batch and slot
    int hop = 0;
  };
  /// What the recorder knows of a process beside its slices.
  struct State {
    int index = 0;
    double last_from_s = -1;      ///< of its last slice at work, kept or not
    std::vector<Arrival> pending; ///< they wait for its next slice
  };
  struct Way {
    int hop = -1;
    std::vector<TraceStop> stops;
  };
  bool kept(double at_s) const;
  int signal(const std::string& name);
  void note(const engine::Process& by, const SubscriptionRecord& record, Hop hop, int batch);

  std::size_t most_events_;
  double period_s_ = 0.1, kept_s_ = 0.1;
  double elapsed_s_ = 0;
  std::vector<TraceProcess> processes_;
  std::vector<std::string> signals_;
  std::vector<TraceSlice> slices_;
  std::vector<TraceBatch> batches_;
  std::vector<TraceStop> starts_; ///< of each batch; at_s negative: not known
  std::map<const engine::Process*, State> states_;
  std::map<const SubscriptionRecord*, SlotOf> slots_;
  std::map<std::string, int> signal_index_;
  /// Batches by publisher, transaction and statement, then by first row; those of flows by publisher and LSN.
  std::map<std::tuple<std::string, std::uint32_t, const StatementStep*>, std::map<Rows, int>> by_rows_;
  std::map<std::pair<std::string, std::uint64_t>, int> by_lsn_;
  std::map<std::pair<int, int>, Way> ways_; ///< by batch and slot
  std::size_t stops_ = 0;
};

} // namespace replisim
