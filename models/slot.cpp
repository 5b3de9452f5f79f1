#include "models/slot.hpp"

#include <algorithm>

namespace replisim {

void Slot::confirm(Lsn lsn) {
  confirmed_ = std::max(confirmed_, lsn);
  if (candidate_ and candidate_->valid_from <= confirmed_) {
    restart_ = std::max(restart_, candidate_->restart);
    saved_ = restart_;
    candidate_.reset();
  }
  if (xmin_candidate_ and xmin_candidate_->valid_from <= confirmed_) {
    catalog_xmin_ = std::max(catalog_xmin_, xmin_candidate_->xid);
    xmin_candidate_.reset();
  }
}

void Slot::propose_xmin(std::uint64_t xid, Lsn record) {
  if (xid <= catalog_xmin_ or xmin_candidate_)
    return;
  xmin_candidate_ = XminCandidate{xid, record};
  confirm(confirmed_);
}

void Slot::propose_restart(Lsn restart, Lsn record) {
  if (restart <= restart_ or candidate_)
    return;
  candidate_ = Candidate{restart, record};
  confirm(confirmed_);
}

void Slot::set_active(bool active, double now_s) {
  active_ = active;
  if (not active)
    inactive_since_s_ = now_s;
}

void Slot::create(Lsn confirmed, Lsn restart) {
  confirmed_ = confirmed;
  restart_ = saved_ = restart;
  candidate_.reset();
  present_ = true;
  lost_ = false;
}

void Slot::lose(double now_s, std::string why) {
  lost_ = true;
  lost_s_ = now_s;
  why_lost_ = std::move(why);
}

} // namespace replisim
