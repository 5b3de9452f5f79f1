// A logical replication slot: its two cursors, how they move, and how it is lost.
//
// Mirrors slot.c, logical.c (LogicalIncreaseRestartDecodingForSlot, LogicalConfirmReceivedLocation) and
// snapbuild.c (SnapBuildProcessRunningXacts). confirmed_flush_lsn says what the client has;
// restart_lsn says where decoding would have to start again, and with it which WAL is kept.
#pragma once

#include "models/base/units.hpp"

#include <optional>
#include <string>

namespace replisim {

class Slot {
public:
  /// A slot whose client has confirmed `confirmed` and whose decoding would start at `restart`.
  Slot(std::string name, Lsn confirmed, Lsn restart)
      : name_(std::move(name)), confirmed_(confirmed), restart_(restart), saved_(restart) {}

  const std::string& name() const { return name_; }
  Lsn confirmed_flush_lsn() const { return confirmed_; }
  Lsn restart_lsn() const { return restart_; }
  /// restart_lsn as last saved to disk: what decides about the removal of WAL.
  Lsn saved_restart_lsn() const { return saved_; }

  /// The client has confirmed `lsn`. An outstanding candidate at or before it becomes restart_lsn, which
  /// is then saved at once.
  void confirm(Lsn lsn);

  /// A running-xacts record that ends at `record` was decoded; the oldest transaction then in progress can
  /// be decoded from `restart`. Only one candidate is outstanding: later ones are dropped until it is
  /// confirmed. One that is confirmed already takes effect at once.
  void propose_restart(Lsn restart, Lsn record);

  /// The same for the oldest transaction whose catalog rows decoding still needs: `xid` was the oldest one in
  /// progress at that record (LogicalIncreaseXminForSlot).
  void propose_xmin(std::uint64_t xid, Lsn record);
  /// catalog_xmin, counted in transaction ids from the start of the run.
  std::uint64_t catalog_xmin() const { return catalog_xmin_; }

  /// A checkpoint saves the slot.
  void save() { saved_ = restart_; }

  /// A slot that is created or dropped during the run: while it is not there, nothing is held back for it.
  void create(Lsn confirmed, Lsn restart);
  void drop() { present_ = false; }
  bool present() const { return present_; }

  bool active() const { return active_; }
  void set_active(bool active, double now_s);
  double inactive_since_s() const { return inactive_since_s_; }

  /// Nobody can read from it: invalidated, or not there.
  bool lost() const { return lost_ or not present_; }
  bool invalidated() const { return lost_; }
  double lost_s() const { return lost_s_; }
  const std::string& why_lost() const { return why_lost_; }
  /// Invalidated at a checkpoint.
  void lose(double now_s, std::string why);

private:
  struct Candidate {
    Lsn restart;
    Lsn valid_from;
  };
  std::string name_;
  Lsn confirmed_, restart_, saved_;
  std::optional<Candidate> candidate_;
  struct XminCandidate {
    std::uint64_t xid = 0;
    Lsn valid_from;
  };
  std::optional<XminCandidate> xmin_candidate_;
  std::uint64_t catalog_xmin_ = 0;
  bool active_ = false;
  double inactive_since_s_ = 0;
  bool lost_ = false;
  bool present_ = true;
  double lost_s_ = 0;
  std::string why_lost_;
};

} // namespace replisim
