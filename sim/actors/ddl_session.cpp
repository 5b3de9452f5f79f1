#include "sim/actors/ddl_session.hpp"

#include "models/base/random.hpp"

#include <algorithm>
#include <cmath>

namespace replisim {

DdlSession::DdlSession(Params params, WalLog& wal, PublisherState& state, DdlRecord& record)
    : params_(std::move(params)), wal_(wal), state_(state), record_(record) {
  messages_ = std::make_shared<Invalidations>(
      invalidations_of(*params_.load, params_.table, params_.members, params_.traits));
  volume_ = ddl_wal(*params_.load, *messages_, params_.traits);
  last_arrival_s_ = params_.load->from_s;
}

/// When run `run` (0, 1, ...) begins. Called once for each, in order.
double DdlSession::start_s(std::int64_t run) {
  const DdlLoad& load = *params_.load;
  if (load.rate_per_s <= 0)
    return load.at_s + static_cast<double>(run) * load.every_s;
  if (not load.poisson)
    return load.from_s + static_cast<double>(run + 1) / load.rate_per_s;
  const double uniform =
      RandomStream(params_.seed, load.name + " arrivals").uniform(static_cast<std::uint64_t>(run));
  last_arrival_s_ += -std::log1p(-uniform) / load.rate_per_s;
  return last_arrival_s_;
}

bool DdlSession::more(std::int64_t run, double start_s) const {
  const DdlLoad& load = *params_.load;
  if (load.rate_per_s <= 0)
    return run < load.times;
  const double until_s = load.until_s > 0 ? load.until_s : params_.end_s;
  return start_s <= until_s * (1 + 1e-12);
}

void DdlSession::run(engine::Process& process) {
  std::int64_t run = 0;
  double next_s = start_s(run);
  while (more(run, next_s) or not open_.empty()) {
    const bool commits = not open_.empty() and (not more(run, next_s) or open_.front().commit_s <= next_s);
    const double date_s = commits ? open_.front().commit_s : next_s;
    process.sleep(std::max(0.0, date_s - process.now()), engine::Activity::Starved);
    if (commits) {
      commit(process);
      continue;
    }
    execute(process);
    next_s = start_s(++run);
  }
}

void DdlSession::execute(engine::Process& process) {
  process.cpu(params_.costs->backend_transaction_s);
  const Xid xid = state_.xids.next();
  wal_.insert(process, volume_.statement_bytes,
              {{},
               {},
               xid,
               xid,
               volume_.statement_records,
               CatalogChanged{messages_, catalog_commands(*params_.load)}});
  record_.wal_bytes += volume_.statement_bytes;
  open_.push_back({process.now() + params_.load->open_s, xid});
}

void DdlSession::commit(engine::Process& process) {
  const Xid xid = open_.front().xid;
  open_.pop_front();
  const Lsn end = wal_.insert(process, volume_.commit_bytes, {{}, {}, xid, xid, 1, CatalogCommitted{}});
  record_.wal_bytes += volume_.commit_bytes;
  record_.messages += messages_->total();
  ++record_.commits;
  if (params_.waits_for_flush)
    wal_.flush(process, end);
}

} // namespace replisim
