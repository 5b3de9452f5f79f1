#include "calibration/import/step_layout.hpp"

#include <algorithm>

namespace replisim {

namespace {

using Kind = RecordedStep::Kind;

/// Steps that are more than this, without savepoints, are summed up by table and operation.
constexpr std::size_t most_steps = 1000;

void append(RecordedSteps& steps, const RecordedStep& step) {
  if (not steps.empty() and steps.back().changes_rows() and steps.back().is_like(step))
    steps.back().rows += step.rows;
  else
    steps.push_back(step);
}

RecordedSteps summed(const RecordedSteps& steps) {
  RecordedSteps out;
  for (const RecordedStep& step : steps) {
    const auto same =
        std::find_if(out.begin(), out.end(), [&](const RecordedStep& known) { return known.is_like(step); });
    if (same == out.end())
      out.push_back(step);
    else
      same->rows += step.rows;
  }
  return out;
}

struct OpenSavepoint {
  std::uint32_t xid = 0;
  std::uint64_t last = 0; ///< of its last record
  Rows number = 0;
};

class Layout {
public:
  explicit Layout(std::uint32_t top) : top_(top) {}

  void add(const RecordedRun& run, std::uint64_t last) {
    release_finished(run);
    if (run.xid != top_ and (stack_.empty() or stack_.back().xid != run.xid)) {
      stack_.push_back({run.xid, last, ++savepoints_});
      steps_.push_back({Kind::Savepoint, 0, savepoints_});
    }
    if (not run.undone) {
      append(steps_, run.step);
      return;
    }
    steps_.push_back({Kind::RollbackTo, 0, stack_.back().number});
    release_innermost();
  }

  RecordedSteps take() { return savepoints_ == 0 and steps_.size() > most_steps ? summed(steps_) : steps_; }

private:
  /// Everything above the (sub)transaction in hand, and beside it what is over.
  void release_finished(const RecordedRun& run) {
    const bool inside =
        std::any_of(stack_.begin(), stack_.end(), [&](const auto& s) { return s.xid == run.xid; });
    while (not stack_.empty() and stack_.back().xid != run.xid and
           (run.xid == top_ or inside or stack_.back().last < run.sequence))
      release_innermost();
  }

  void release_innermost() {
    steps_.push_back({Kind::Release, 0, stack_.back().number});
    stack_.pop_back();
  }

  std::uint32_t top_;
  RecordedSteps steps_;
  std::vector<OpenSavepoint> stack_;
  Rows savepoints_ = 0;
};

} // namespace

RecordedSteps lay_out_steps(std::vector<RecordedRun> runs, std::uint32_t top) {
  std::sort(runs.begin(), runs.end(),
            [](const RecordedRun& a, const RecordedRun& b) { return a.sequence < b.sequence; });
  std::map<std::uint32_t, std::uint64_t> last;
  for (const RecordedRun& run : runs)
    last[run.xid] = std::max(last[run.xid], run.last);
  Layout layout(top);
  for (const RecordedRun& run : runs)
    layout.add(run, last[run.xid]);
  return layout.take();
}

RecordedSteps without_ignored(const RecordedSteps& steps, const std::vector<RecordedTable>& tables) {
  RecordedSteps out;
  for (const RecordedStep& step : steps) {
    if (step.changes_rows()) {
      if (not tables[step.table].ignored)
        append(out, step);
      continue;
    }
    const bool empty = step.kind != Kind::Savepoint and not out.empty() and
                       out.back().kind == Kind::Savepoint and out.back().rows == step.rows;
    if (not empty)
      out.push_back(step);
    else if (step.kind == Kind::Release)
      out.pop_back();
  }
  return out;
}

Rows rows_kept(const RecordedSteps& steps) {
  Rows rows = 0;
  std::map<Rows, Rows> at_savepoint;
  for (const RecordedStep& step : steps) {
    if (step.changes_rows())
      rows += step.rows;
    else if (step.kind == Kind::Savepoint)
      at_savepoint[step.rows] = rows;
    else if (step.kind == Kind::RollbackTo)
      rows = at_savepoint[step.rows];
  }
  return rows;
}

} // namespace replisim
