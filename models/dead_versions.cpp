#include "models/dead_versions.hpp"

#include <algorithm>
#include <cmath>

namespace replisim {

namespace {
/// Deaths closer together than this are kept as one batch.
constexpr double together_s = 0.01;

double indexes_of(const Table& table) {
  return table.secondary_indexes + (table.primary_key.empty() ? 0 : 1);
}
} // namespace

double DeadVersions::horizon_s() const {
  double oldest_s = horizons_.begin()->second;
  for (const auto& [holder, horizon_s] : horizons_)
    oldest_s = std::min(oldest_s, horizon_s);
  return oldest_s;
}

void DeadVersions::integrate(Deaths& deaths, double now_s) {
  deaths.sums.integral += (deaths.all - deaths.gone) * (now_s - deaths.sums.since_s);
  deaths.sums.since_s = now_s;
}

void DeadVersions::advance(double now_s) {
  const double horizon = held() ? horizon_s() : now_s;
  for (auto& [name, deaths] : deaths_) {
    integrate(deaths, now_s);
    while (not deaths.batches.empty() and deaths.batches.front().died_s <= horizon) {
      deaths.gone = deaths.batches.front().sum;
      deaths.batches.pop_front();
    }
  }
}

void DeadVersions::hold(const std::string& holder, double horizon_s, double now_s) {
  if (held())
    longest_s_ = std::max(longest_s_, now_s - this->horizon_s());
  horizons_[holder] = horizon_s;
  advance(now_s);
}

void DeadVersions::release(const std::string& holder, double now_s) {
  if (held())
    longest_s_ = std::max(longest_s_, now_s - horizon_s());
  horizons_.erase(holder);
  advance(now_s);
}

void DeadVersions::died(const std::string& table, double rows, bool updated, double now_s) {
  Deaths& deaths = deaths_[table];
  integrate(deaths, now_s);
  if (updated) {
    deaths.sums.updates += rows;
    deaths.sums.moved += rows * lost_hot(table);
  }
  deaths.all += rows;
  if (not held()) {
    deaths.gone = deaths.all;
    return;
  }
  if (not deaths.batches.empty() and now_s - deaths.batches.back().died_s < together_s)
    deaths.batches.back().sum = deaths.all;
  else
    deaths.batches.push_back({now_s, deaths.all});
  deaths.sums.most = std::max(deaths.sums.most, deaths.all - deaths.gone);
  deaths.sums.most_per_row = std::max(deaths.sums.most_per_row, per_row(table));
}

double DeadVersions::retained(const std::string& table) const {
  const auto deaths = deaths_.find(table);
  return deaths == deaths_.end() ? 0 : deaths->second.all - deaths->second.gone;
}

double DeadVersions::retained() const {
  double sum = 0;
  for (const auto& [table, deaths] : deaths_)
    sum += deaths.all - deaths.gone;
  return sum;
}

double DeadVersions::per_row(const std::string& table) const {
  const Rows rows = table_of(table).initial_rows;
  return rows > 0 ? retained(table) / static_cast<double>(rows) : 0;
}

double DeadVersions::lost_hot(const std::string& table) const {
  const Table& definition = table_of(table);
  const double dead = retained(table);
  if (dead <= 0 or definition.initial_rows <= 0)
    return 0;
  const double rows = static_cast<double>(definition.initial_rows);
  const double per_page = static_cast<double>(rows_per_heap_page(definition));
  const double full = -std::expm1(-dead / std::max(1.0, rows / per_page));
  return full * std::min(1.0, rows / (std::max(1, writers_) * per_page));
}

double DeadVersions::backend_seconds(const std::string& table, Operation operation) const {
  if (operation == Operation::Insert)
    return 0;
  const double moved = operation == Operation::Update ? lost_hot(table) : 0;
  return look_up_seconds(table) + moved * indexes_of(table_of(table)) * costs_->backend_index_entry_s;
}

/// Of the updates that do not stay on their page anyway the price holds what moving costs.
double DeadVersions::apply_seconds(const Table& table, Operation operation) const {
  if (operation == Operation::Insert)
    return 0;
  const double moved = operation == Operation::Update ? table.hot_updates * lost_hot(table.name) : 0;
  return look_up_seconds(table.name) +
         moved * (costs_->apply_update_extra_s + table.secondary_indexes * costs_->apply_index_entry_s);
}

std::map<std::string, DeadVersions::Sums> DeadVersions::sums(double now_s) const {
  std::map<std::string, Sums> out;
  for (const auto& [table, deaths] : deaths_) {
    Deaths up_to_now{{}, deaths.all, deaths.gone, deaths.sums};
    integrate(up_to_now, now_s);
    out[table] = up_to_now.sums;
  }
  return out;
}

double DeadVersions::longest_s(double now_s) const {
  return held() ? std::max(longest_s_, now_s - horizon_s()) : longest_s_;
}

} // namespace replisim
