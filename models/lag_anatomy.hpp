// Where the delay of a transaction goes: stage by stage, from BEGIN to the commit confirmed, without a gap.
//
// All dates become whole nanoseconds, and every part is the difference of two dates that follow one another:
// so the parts add up to the whole exactly, whatever happens in between.
#pragma once

#include "models/base/units.hpp"
#include "models/lag_sketch.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <string_view>
#include <utility>

namespace replisim {

/// In the order in which a transaction passes them. At each instant the stage is what the transaction's end
/// waits for, so a row applied while later ones are still being sent counts once.
enum class LagStage {
  Executing,       ///< BEGIN to the commit record: the client's own time
  CommitFlush,     ///< commit record to its WAL flushed
  WaitingToBeRead, ///< flushed, the walsender is busy with what comes before (its own rows included)
  Decode,          ///< read, decoded, filtered, turned into messages by the walsender
  SpillAndRestore, ///< changes written to spill files and read back
  SendQueue,       ///< messages wait for room in the socket or for the network
  Transfer,        ///< on the link
  ReceiveQueue,    ///< arrived, the subscriber is busy with other transactions
  Apply,           ///< its changes are received and applied (a worker's included)
  Commit,          ///< the subscriber's commit
  Feedback         ///< applied; until the publisher is told that it is safe there
};
inline constexpr std::size_t lag_stages = 11;
inline constexpr std::array<std::string_view, lag_stages> lag_stage_names = {
    "executing",  "commit_flush", "waiting_to_be_read", "decode", "spill_and_restore",
    "send_queue", "transfer",     "receive_queue",      "apply",  "commit",
    "feedback"};

using Nanoseconds = std::int64_t;
Nanoseconds to_nanoseconds(double seconds);

/// Nanoseconds of each stage.
struct LagParts {
  std::array<Nanoseconds, lag_stages> ns{};
  Nanoseconds of(LagStage stage) const { return ns[static_cast<std::size_t>(stage)]; }
  Nanoseconds& of(LagStage stage) { return ns[static_cast<std::size_t>(stage)]; }
  Nanoseconds commit_ns = 0;  ///< date of the commit record
  Nanoseconds applied_ns = 0; ///< date of the commit applied
  bool confirmed = true;      ///< false: nobody will tell the publisher, Feedback is not known
  /// Commit record to commit applied: all stages but the first and the last.
  Nanoseconds lag() const;
};

/// What one process (a leader apply worker, a client) worked on, and when; the last few thousand stretches.
class WorkLedger {
public:
  void start(std::uint32_t transaction, double now_s);
  void stop(double now_s);
  /// Nanoseconds of [from, to] spent on `transaction` and on others; what is left it had nothing to do.
  std::pair<Nanoseconds, Nanoseconds> split(Nanoseconds from, Nanoseconds to,
                                            std::uint32_t transaction) const;

private:
  struct Stretch {
    std::uint32_t transaction;
    Nanoseconds from, to;
  };
  static constexpr std::size_t kept_stretches = 4096;
  std::deque<Stretch> done_;
  bool working_ = false;
  Stretch now_{};
};

/// A transaction's way, as a date that moves from stage to stage.
class LagPath {
public:
  /// BEGIN and the commit record. The way starts anew when it is read again after a reconnection.
  void begin(double begin_s, double commit_record_s);
  bool begun() const { return begun_; }
  /// The time from the last date to `until_s` belonged to `stage`. Earlier dates than the last one add
  /// nothing.
  void spend(LagStage stage, double until_s);
  /// Its commit is applied at the present date; the publisher will know at `confirmed_s` (negative: never).
  void applied(double confirmed_s);
  /// The same for time in which the transaction waited for whoever `ledger` is about: what that process spent
  /// on this transaction is Apply, what it spent on others is `behind_others`, the rest is `otherwise`.
  void wait(const WorkLedger& ledger, std::uint32_t transaction, double until_s, LagStage behind_others,
            LagStage otherwise);
  const LagParts& parts() const { return parts_; }
  double date_s() const { return static_cast<double>(at_) * 1e-9; }
  Nanoseconds date_ns() const { return at_; }

private:
  LagParts parts_;
  Nanoseconds at_ = 0;
  bool begun_ = false;
};

/// The ways of many transactions whose dates lie evenly between those of the first and the last: each of
/// their parts lies evenly between, too.
struct LagSpan {
  LagPath first, last;
  std::int64_t transactions = 0;
  void spend(LagStage stage, double first_s, double last_s);
};

/// A sum of nanoseconds over any number of transactions, without rounding.
struct ExactSum {
  std::int64_t seconds = 0;
  std::int64_t ns = 0; ///< in [0, 10^9)
  void add(Nanoseconds value, std::int64_t times);
  double total_s() const { return static_cast<double>(seconds) + static_cast<double>(ns) * 1e-9; }
  bool operator==(const ExactSum&) const = default;
};

/// Sums and quantiles over transactions.
class LagStatistics {
public:
  void add(const LagParts& parts);
  void add_spread(const LagParts& first, const LagParts& last, std::int64_t transactions);

  std::int64_t transactions() const { return transactions_; }
  /// Mean in seconds of a stage, and of the whole lag.
  double mean_s(LagStage stage) const;
  double mean_lag_s() const { return mean(twice_lag_, lag_); }
  /// Throws InvariantViolation unless the stages' sums add up exactly to the sum of all lags, these from the
  /// dates of commit record and commit applied alone.
  void check() const;
  const LagSketch& stage(LagStage stage) const { return stages_[static_cast<std::size_t>(stage)]; }
  const LagSketch& lag() const { return lag_; }

private:
  static double mean(const ExactSum& twice, const LagSketch& of);
  std::array<LagSketch, lag_stages> stages_;
  LagSketch lag_;
  // Doubled: the mean of a spread may be half a nanosecond.
  std::array<ExactSum, lag_stages> twice_{};
  ExactSum twice_lag_;
  std::int64_t transactions_ = 0;
};

} // namespace replisim
