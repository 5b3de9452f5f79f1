// The leader and prepared transactions: PREPARE, COMMIT PREPARED, ROLLBACK PREPARED.
#include "sim/actors/apply_worker.hpp"

namespace replisim {

/// apply_handle_prepare and apply_handle_stream_prepare.
void ApplyWorker::prepare(engine::Process& process, const PrepareTransaction& prepare) {
  received_ = prepare.end;
  const auto it = prepare.streamed ? streamed_.find(prepare.top) : streamed_.end();
  if (it != streamed_.end() and it->second.worker >= 0) {
    const bool done = end_in_worker(process, prepare.top, prepare, it->second);
    streamed_.erase(it);
    if (done)
      note_commit(prepare.end);
    return;
  }
  if (it != streamed_.end()) {
    if (not apply_file(process, CommitTransaction{prepare.top, prepare.end, true}, it->second))
      return;
    file_changed(file_bytes(it->second), 0);
    streamed_.erase(it);
  }
  if (const std::string refusal = params_.prepared->refusal(); not refusal.empty()) {
    params_.errors->cancelled(refusal);
    fail();
    return;
  }
  params_.prepared->prepare(process, params_.backend, prepare);
  note_commit(prepare.end);
}

/// apply_handle_commit_prepared and apply_handle_rollback_prepared.
void ApplyWorker::finish_prepared(engine::Process& process, const FinishPrepared& finish) {
  received_ = finish.end;
  params_.prepared->finish(process, finish);
  if (finish.commits)
    record_.arrived(record_.deliveries[finish.top], process.now(),
                    confirmed_s(process.now(), params_.flush_delay_s));
  note_commit(finish.end);
}

} // namespace replisim
