#include "models/replay_plan.hpp"

#include <algorithm>
#include <queue>

namespace replisim {

namespace {

/// Fewer of a kind are not worth a process of their own.
constexpr std::size_t frequent = 20;

bool is_small(const std::vector<TransactionStep>& steps) {
  Rows rows = 0;
  for (const TransactionStep& step : steps) {
    const auto* statement = std::get_if<StatementStep>(&step);
    if (statement == nullptr)
      return false;
    rows += statement->rows;
  }
  return rows <= small_transaction_rows;
}

FlowLoad flow_of(const ReplayLoad& load, std::size_t kind, std::vector<double> times_s) {
  FlowLoad flow;
  flow.name = load.name + " " + std::to_string(kind + 1);
  flow.server = load.server;
  for (const TransactionStep& step : load.distinct[kind])
    flow.transaction.push_back(std::get<StatementStep>(step));
  std::sort(times_s.begin(), times_s.end());
  const double span_s = times_s.back() - times_s.front();
  flow.rate_per_s = static_cast<double>(times_s.size()) / std::max(span_s, 1.0);
  flow.times_s = std::move(times_s);
  return flow;
}

/// The first free session takes the next transaction, as a connection pool would.
std::vector<std::vector<std::size_t>> sessions_of(const ReplayLoad& load,
                                                  const std::vector<std::size_t>& singles) {
  using Free = std::pair<double, std::size_t>; // since when, which
  std::priority_queue<Free, std::vector<Free>, std::greater<>> free;
  std::vector<std::vector<std::size_t>> sessions;
  for (const std::size_t index : singles) {
    const ReplayedTransaction& transaction = load.transactions[index];
    std::size_t session = sessions.size();
    if (not free.empty() and free.top().first <= transaction.at_s) {
      session = free.top().second;
      free.pop();
    } else {
      sessions.emplace_back();
    }
    sessions[session].push_back(index);
    free.emplace(transaction.at_s + transaction.lasts_s, session);
  }
  return sessions;
}

} // namespace

ReplayPlan plan_replay(const ReplayLoad& load) {
  std::vector<bool> small;
  for (const auto& steps : load.distinct)
    small.push_back(is_small(steps));
  const auto in_bulk = [&](const ReplayedTransaction& t) {
    return small[t.steps] and not t.rolls_back and t.lasts_s <= small_transaction_s;
  };
  std::vector<std::vector<double>> times(load.distinct.size());
  for (const ReplayedTransaction& t : load.transactions)
    if (in_bulk(t))
      times[t.steps].push_back(t.at_s + t.lasts_s);
  std::vector<std::size_t> singles;
  for (std::size_t i = 0; i < load.transactions.size(); ++i) {
    const ReplayedTransaction& t = load.transactions[i];
    if (not in_bulk(t) or times[t.steps].size() < frequent)
      singles.push_back(i);
  }
  ReplayPlan plan;
  for (std::size_t kind = 0; kind < times.size(); ++kind)
    if (times[kind].size() >= frequent)
      plan.flows.push_back(flow_of(load, kind, std::move(times[kind])));
  plan.sessions = sessions_of(load, singles);
  return plan;
}

double peak_rate_per_s(const FlowLoad& flow) {
  std::size_t most = 0, first = 0;
  for (std::size_t last = 0; last < flow.times_s.size(); ++last) {
    while (flow.times_s[last] - flow.times_s[first] > 1)
      ++first;
    most = std::max(most, last - first + 1);
  }
  return static_cast<double>(most);
}

} // namespace replisim
