#include "calibration/import/mix.hpp"

#include "models/replay_plan.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <tuple>

namespace replisim {

namespace {

constexpr std::size_t most_curve_points = 60;
constexpr double least_per_interval = 30; ///< commits: fewer make a curve of noise
constexpr std::size_t rarest_flow = 10;   ///< transactions

using Signature = std::vector<std::tuple<RecordedStep::Kind, std::size_t, bool>>;

Signature signature_of(const RecordedSteps& steps) {
  Signature out;
  for (const RecordedStep& step : steps)
    out.emplace_back(step.kind, step.table, step.writes_wide);
  return out;
}

Rows rows_of(const RecordedSteps& steps) {
  Rows rows = 0;
  for (const RecordedStep& step : steps)
    rows += step.changes_rows() ? step.rows : 0;
  return rows;
}

bool is_small(const RecordedSteps& steps) {
  return rows_of(steps) <= small_transaction_rows and
         std::all_of(steps.begin(), steps.end(),
                     [](const RecordedStep& step) { return step.changes_rows(); });
}

/// Transactions of one signature.
struct Kind {
  std::vector<std::size_t> members; ///< indexes of transactions
  std::vector<Rows> rows;           ///< summed, by step
};

double commit_s(const RecordedTransaction& transaction) { return transaction.at_s + transaction.lasts_s; }

MixFlow flow_of(const RecordedWorkload& workload, const Kind& kind) {
  MixFlow flow;
  flow.steps = workload.distinct[workload.transactions[kind.members.front()].steps];
  flow.transactions = std::ssize(kind.members);
  const auto count = static_cast<double>(flow.transactions);
  for (std::size_t i = 0; i < flow.steps.size(); ++i)
    flow.steps[i].rows = std::max<Rows>(1, std::llround(static_cast<double>(kind.rows[i]) / count));
  const double span_s = std::max(workload.span_s, 1e-3);
  flow.rate_per_s = count / span_s;
  const auto points =
      std::min<std::size_t>(most_curve_points, static_cast<std::size_t>(count / least_per_interval));
  if (points < 2)
    return flow;
  flow.curve_interval_s = span_s / static_cast<double>(points);
  flow.curve.assign(points, 0);
  for (const std::size_t member : kind.members) {
    const double at = commit_s(workload.transactions[member]) / flow.curve_interval_s;
    flow.curve[std::min(points - 1, static_cast<std::size_t>(at))] += static_cast<double>(points) / count;
  }
  return flow;
}

/// Gaps between commits, each measured in units of the mean gap its curve would give: those of a Poisson
/// process are exponential with mean 1.
std::vector<double> scaled_gaps(const RecordedWorkload& workload, const Kind& kind, const MixFlow& flow) {
  std::vector<double> times, gaps;
  for (const std::size_t member : kind.members)
    times.push_back(commit_s(workload.transactions[member]));
  std::sort(times.begin(), times.end());
  for (std::size_t i = 1; i < times.size(); ++i) {
    double factor = 1;
    if (not flow.curve.empty())
      factor = flow.curve[std::min(flow.curve.size() - 1,
                                   static_cast<std::size_t>(times[i] / flow.curve_interval_s))];
    gaps.push_back((times[i] - times[i - 1]) * flow.rate_per_s * factor);
  }
  std::sort(gaps.begin(), gaps.end());
  return gaps;
}

/// Kolmogorov's distance to a distribution function.
template <typename Distribution>
double distance_to(const std::vector<double>& sorted, Distribution distribution) {
  double largest = 0;
  const auto n = static_cast<double>(sorted.size());
  for (std::size_t i = 0; i < sorted.size(); ++i) {
    const double expected = distribution(sorted[i]);
    largest = std::max({largest, std::abs(expected - static_cast<double>(i) / n),
                        std::abs(expected - static_cast<double>(i + 1) / n)});
  }
  return largest;
}

/// Random arrivals where the gaps vary more than half as much as a Poisson process's, else even ones. Returns
/// the distance to exponential gaps, or the share of gaps that are off by more than half.
double fit_arrivals(const std::vector<double>& gaps, MixFlow& flow) {
  if (gaps.size() < 2)
    return 0;
  double sum = 0, squares = 0;
  for (const double gap : gaps) {
    sum += gap;
    squares += gap * gap;
  }
  const auto n = static_cast<double>(gaps.size());
  const double mean = sum / n;
  const double deviation = std::sqrt(std::max(0.0, squares / n - mean * mean));
  flow.poisson = deviation > 0.5 * mean;
  if (flow.poisson)
    return distance_to(gaps, [](double gap) { return 1 - std::exp(-gap); });
  const auto off =
      std::count_if(gaps.begin(), gaps.end(), [](double gap) { return std::abs(gap - 1) > 0.5; });
  return static_cast<double>(off) / n;
}

/// Largest difference of the distributions of rows per transaction, recorded and of the flows.
double sizes_distance(const std::map<Rows, double>& recorded, const std::map<Rows, double>& fitted) {
  std::map<Rows, double> difference;
  for (const auto& [rows, share] : recorded)
    difference[rows] += share;
  for (const auto& [rows, share] : fitted)
    difference[rows] -= share;
  double sum = 0, largest = 0;
  for (const auto& [rows, share] : difference) {
    sum += share;
    largest = std::max(largest, std::abs(sum));
  }
  return largest;
}

/// Variance of the counts of each second over what the curves expect there. Of a recording of weeks, or one
/// whose clock was set meanwhile, counts of longer stretches.
double dispersion(const RecordedWorkload& workload, const std::vector<const Kind*>& kinds, const Mix& mix) {
  constexpr double most_bins = 1e6;
  const double bin_s = std::max(1.0, workload.span_s / most_bins);
  const auto bins = static_cast<std::size_t>(workload.span_s / bin_s);
  if (bins < 2)
    return 1;
  std::vector<double> counts(bins, 0), expected(bins, 0);
  for (std::size_t k = 0; k < kinds.size(); ++k) {
    for (const std::size_t member : kinds[k]->members)
      if (const auto bin = static_cast<std::size_t>(commit_s(workload.transactions[member]) / bin_s);
          bin < bins)
        counts[bin] += 1;
    const MixFlow& flow = mix.flows[k];
    for (std::size_t bin = 0; bin < bins; ++bin) {
      const double middle = (static_cast<double>(bin) + 0.5) * bin_s;
      const double factor =
          flow.curve.empty() ? 1
                             : flow.curve[std::min(flow.curve.size() - 1,
                                                   static_cast<std::size_t>(middle / flow.curve_interval_s))];
      expected[bin] += flow.rate_per_s * bin_s * factor;
    }
  }
  double squares = 0, mean = 0;
  for (std::size_t i = 0; i < bins; ++i) {
    squares += (counts[i] - expected[i]) * (counts[i] - expected[i]);
    mean += expected[i];
  }
  return mean > 0 ? squares / mean : 1;
}

std::map<Signature, Kind> kinds_of(const RecordedWorkload& workload) {
  std::map<Signature, Kind> kinds;
  for (std::size_t i = 0; i < workload.transactions.size(); ++i) {
    const RecordedTransaction& transaction = workload.transactions[i];
    const RecordedSteps& steps = workload.distinct[transaction.steps];
    if (transaction.rolled_back or transaction.lasts_s > small_transaction_s or not is_small(steps))
      continue;
    Kind& kind = kinds[signature_of(steps)];
    kind.rows.resize(steps.size());
    for (std::size_t s = 0; s < steps.size(); ++s)
      kind.rows[s] += steps[s].rows;
    kind.members.push_back(i);
  }
  return kinds;
}

void judge(const RecordedWorkload& workload, const std::vector<const Kind*>& kinds, Mix& mix) {
  std::map<Rows, double> recorded, fitted;
  double all = 0, fitted_rows = 0, recorded_rows = 0, total_rows = 0;
  for (const Kind* kind : kinds)
    all += static_cast<double>(kind->members.size());
  for (std::size_t k = 0; k < kinds.size(); ++k) {
    const Rows each = rows_of(mix.flows[k].steps);
    const auto count = static_cast<double>(kinds[k]->members.size());
    fitted[each] += count / all;
    fitted_rows += static_cast<double>(each) * count;
    for (const std::size_t member : kinds[k]->members) {
      const Rows rows = rows_of(workload.distinct[workload.transactions[member].steps]);
      recorded[rows] += 1 / all;
      recorded_rows += static_cast<double>(rows);
    }
    mix.fit.gaps_distance +=
        count / all * fit_arrivals(scaled_gaps(workload, *kinds[k], mix.flows[k]), mix.flows[k]);
  }
  for (const RecordedTransaction& transaction : workload.transactions)
    total_rows += static_cast<double>(rows_of(workload.distinct[transaction.steps]));
  mix.fit.transactions_in_flows = all / std::max(1.0, static_cast<double>(workload.transactions.size()));
  mix.fit.changes_in_flows = recorded_rows / std::max(1.0, total_rows);
  mix.fit.rows_error = recorded_rows > 0 ? fitted_rows / recorded_rows - 1 : 0;
  mix.fit.sizes_distance = sizes_distance(recorded, fitted);
  mix.fit.gaps_limit =
      all > 0 ? 1.36 / std::sqrt(all / std::max<double>(1, static_cast<double>(kinds.size()))) : 0;
  mix.fit.counts_dispersion = dispersion(workload, kinds, mix);
}

} // namespace

Mix fit_mix(const RecordedWorkload& workload, std::size_t most_flows) {
  const std::map<Signature, Kind> kinds = kinds_of(workload);
  std::vector<const Kind*> frequent;
  for (const auto& [signature, kind] : kinds)
    if (kind.members.size() >= rarest_flow)
      frequent.push_back(&kind);
  std::stable_sort(frequent.begin(), frequent.end(),
                   [](const Kind* a, const Kind* b) { return a->members.size() > b->members.size(); });
  frequent.resize(std::min(frequent.size(), most_flows));
  Mix mix;
  std::vector<bool> in_flow(workload.transactions.size(), false);
  for (const Kind* kind : frequent) {
    mix.flows.push_back(flow_of(workload, *kind));
    for (const std::size_t member : kind->members)
      in_flow[member] = true;
  }
  for (std::size_t i = 0; i < workload.transactions.size(); ++i)
    if (not in_flow[i])
      mix.replayed.push_back(workload.transactions[i]);
  judge(workload, frequent, mix);
  return mix;
}

} // namespace replisim
