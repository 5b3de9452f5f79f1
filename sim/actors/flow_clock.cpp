#include "sim/actors/flow_clock.hpp"

#include <algorithm>

namespace replisim {

void FlowClock::work(const Part& part, double begun_s, double waited_from_s, double ended_s) {
  if (not working_) {
    working_ = true;
    on_link_s_ = part.on_link_s;
    visible_s_ = part.visible_s;
    begun_s_ = begun_s;
    service_s_ = awaited_s_ = 0;
  }
  service_s_ += ended_s - begun_s;
  awaited_s_ += ended_s - waited_from_s;
}

/// The way of a batch since it was handed to the socket, then this process as a station.
void FlowClock::finish(const SmallTransactions& batch, const End& end, SubscriptionRecord& record) {
  LagSpan lag = batch.lag;
  const SpreadDates sent{lag.first.date_s(), lag.last.date_s()};
  const auto later = [&](LagStage stage, double by_s) {
    lag.spend(stage, sent.first_s + by_s, sent.last_s + by_s);
  };
  later(LagStage::SendQueue, on_link_s_ - batch.opened_s);
  later(LagStage::Transfer, visible_s_ - batch.opened_s);
  const double way_s = visible_s_ - batch.opened_s;
  const FlowStation::Batch work{
      batch.top.value, batch.flow.transactions, batch.flow.gathered_s, visible_s_, begun_s_, service_s_};
  const auto served = station_.serve({sent.first_s + way_s, sent.last_s + way_s}, work);
  station_.done(work, 0, end.now_s);
  lag.spend(LagStage::ReceiveQueue, served.started.first_s, served.started.last_s);
  const double count = static_cast<double>(batch.flow.transactions);
  const double awaited_s = awaited_s_ / count;
  lag.spend(end.over_link ? LagStage::Transfer : LagStage::Decode, served.started.first_s + awaited_s,
            served.started.last_s + awaited_s);
  const double commit_s = end.commit_share * (service_s_ - awaited_s_) / count;
  lag.spend(LagStage::Apply, served.ended.first_s - commit_s, served.ended.last_s - commit_s);
  lag.spend(LagStage::Commit, served.ended.first_s, served.ended.last_s);
  lag.first.applied(end.confirmed_s(lag.first.date_s()));
  lag.last.applied(end.confirmed_s(lag.last.date_s()));
  if (end.acknowledged) {
    const auto since_flush_s = [](const LagParts& parts) {
      return static_cast<double>(parts.lag() - parts.of(LagStage::CommitFlush)) * 1e-9;
    };
    const LagParts &early = lag.first.parts(), &late = lag.last.parts();
    const double applied_s = (since_flush_s(early) + since_flush_s(late)) / 2;
    const double feedback_s =
        static_cast<double>(early.of(LagStage::Feedback) + late.of(LagStage::Feedback)) * 0.5e-9;
    end.acknowledged(applied_s, applied_s + feedback_s);
  }
  if (batch.flow.dates != nullptr) {
    finish_one_by_one(batch, lag, served.not_own_s, end, record);
    working_ = false;
    return;
  }
  const LagParts &first = lag.first.parts(), &last = lag.last.parts();
  record.lags.add_spread(first, last, lag.transactions);
  const FlowCommitted& flow = batch.flow;
  if (flow.origin_first_s >= 0)
    record.end_to_end.add_spread(
        static_cast<double>(first.lag()) * 1e-9 + flow.first_commit_s - flow.origin_first_s,
        static_cast<double>(last.lag()) * 1e-9 + flow.last_commit_s - flow.origin_last_s, lag.transactions);
  record.flow_lag.add_spread(static_cast<double>(first.lag()) * 1e-9, static_cast<double>(last.lag()) * 1e-9,
                             lag.transactions);
  working_ = false;
}

/// Each transaction by itself: start = max(ready, the one before it done) at the walsender and here (Lindley,
/// 1952), with the service times that the batch really took for each. What all of them waited for besides
/// each other, `waits_s` here, each waits for. Of many, some at equal distances stand for those around them
/// in what is reported.
void FlowClock::finish_one_by_one(const SmallTransactions& batch, const LagSpan& together, double waits_s,
                                  const End& end, SubscriptionRecord& record) {
  constexpr std::size_t most_noted = 16;
  const LagParts &first = together.first.parts(), &last = together.last.parts();
  const auto seconds = [&](LagStage stage) {
    return static_cast<double>(std::min(first.of(stage), last.of(stage))) * 1e-9;
  };
  const double flush_s = seconds(LagStage::CommitFlush) - batch.flow.flush_wait_s;
  const double count = static_cast<double>(batch.flow.transactions);
  const double awaited_s = awaited_s_ / count, served_s = service_s_ / count;
  const double decode_s = std::max(0.0, seconds(LagStage::Decode) - (end.over_link ? 0 : awaited_s));
  const double commit_s = end.commit_share * (served_s - awaited_s);
  const std::vector<TransactionDates>& all = *batch.flow.dates;
  const std::size_t noted = batch.flow.all_noted ? all.size() : std::min(all.size(), most_noted);
  Free& free = free_[batch.top.value];
  double longest_s = 0;
  for (std::size_t i = 0, note = 0; i < all.size(); ++i) {
    const TransactionDates& dates = all[i];
    const double flushed_s = dates.commit_s + dates.flush_wait_s + flush_s;
    const double sending_s =
        std::max({flushed_s + batch.read_wait_s, batch.read_not_before_s, free.sender_s});
    const double sent_s = free.sender_s = sending_s + decode_s;
    const double here_s = sent_s + visible_s_ - batch.opened_s;
    const double begun_s = std::max(here_s + waits_s, free.applier_s);
    free.applier_s = begun_s + served_s;
    longest_s = std::max(longest_s, free.applier_s - dates.commit_s);
    if (i < (2 * note + 1) * all.size() / (2 * noted)) // not in the middle of its part yet
      continue;
    LagPath path;
    path.begin(dates.begin_s, dates.commit_s);
    path.spend(LagStage::CommitFlush, flushed_s);
    path.spend(LagStage::WaitingToBeRead, sending_s);
    path.spend(LagStage::Decode, sent_s);
    path.spend(LagStage::SendQueue, sent_s + on_link_s_ - batch.opened_s);
    path.spend(LagStage::Transfer, here_s);
    path.spend(LagStage::ReceiveQueue, begun_s);
    path.spend(end.over_link ? LagStage::Transfer : LagStage::Decode, begun_s + awaited_s);
    path.spend(LagStage::Apply, begun_s + served_s - commit_s);
    path.spend(LagStage::Commit, begun_s + served_s);
    path.applied(end.confirmed_s(path.date_s()));
    const auto stands_for =
        static_cast<std::int64_t>((note + 1) * all.size() / noted - note * all.size() / noted);
    ++note;
    record.lags.add_spread(path.parts(), path.parts(), stands_for);
    record.flow_lag.add(static_cast<double>(path.parts().lag()) * 1e-9, static_cast<double>(stands_for));
  }
  record.flow_lag.add(longest_s, 0);
}

} // namespace replisim
