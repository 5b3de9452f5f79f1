#include "sim/run/break_even.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <string_view>

namespace replisim {

namespace {

constexpr int grid_values = 5;
constexpr double tolerance = 1e-3; // share of the range

bool contains_field(const std::string& outer, const std::string& inner) {
  return inner == outer or
         (inner.starts_with(outer) and (inner[outer.size()] == '.' or inner[outer.size()] == '['));
}

/// The search at one combination of the other axes.
struct Search {
  SweepPoint point;
  std::vector<double> grid_difference; ///< metric with `first` minus metric with `second`
  double low = 0;
  double high = 0;
  double low_difference = 0;
  double high_difference = 0;
  BreakEvenRow row;
  bool open = false; ///< bisection under way
};

/// A difference still to be simulated.
struct Query {
  Search* search;
  double value;
};

class BreakEvenFinder {
public:
  BreakEvenFinder(const BreakEven& question, const std::vector<Override>& overrides, std::uint64_t seed,
                  const SweepEngine& engine, const PoolOptions& options)
      : question_(question), overrides_(overrides), seed_(seed), engine_(engine), options_(options) {}

  std::vector<BreakEvenRow> run(const std::vector<SweepAxis>& axes) {
    for (auto& point : sweep_points(break_even_axes(question_, axes))) {
      auto& search = searches_.emplace_back();
      search.row.question = question_;
      search.row.labels = point.labels;
      search.point = std::move(point);
    }
    look_at_grid();
    bisect();
    std::vector<BreakEvenRow> rows;
    for (auto& search : searches_) {
      conclude(search);
      rows.push_back(std::move(search.row));
    }
    return rows;
  }

private:
  double grid_value(int i) const {
    return question_.low + (question_.high - question_.low) * i / (grid_values - 1);
  }
  std::vector<Override> overrides_at(const Query& query, const std::string& setting) const;
  std::vector<double> differences(const std::vector<Query>& queries);
  void look_at_grid();
  void bracket(Search& search);
  void bisect();
  void conclude(Search& search) const;
  std::string better(double difference, std::string_view adverb = "") const;

  const BreakEven& question_;
  const std::vector<Override>& overrides_;
  std::uint64_t seed_;
  const SweepEngine& engine_;
  const PoolOptions& options_;
  std::vector<Search> searches_;
};

std::vector<Override> BreakEvenFinder::overrides_at(const Query& query, const std::string& setting) const {
  auto all = overrides_;
  const auto& own = query.search->point.overrides;
  all.insert(all.end(), own.begin(), own.end());
  all.push_back({question_.path, setting});
  all.push_back({question_.over, over_text(question_, query.value)});
  return all;
}

/// Simulates both settings of each query. A failure is noted in the search's row and counts as 0.
std::vector<double> BreakEvenFinder::differences(const std::vector<Query>& queries) {
  std::vector<std::vector<Override>> points;
  for (const auto& query : queries) {
    points.push_back(overrides_at(query, question_.first));
    points.push_back(overrides_at(query, question_.second));
  }
  const auto outcomes = run_points(points, engine_, seed_, options_);
  const auto metric = [&](std::size_t i, BreakEvenRow& row) {
    const auto& outcome = outcomes[i];
    if (not outcome.result) {
      row.error = outcome.error;
      return 0.0;
    }
    const auto found = outcome.result->metrics.find(question_.metric);
    if (found != outcome.result->metrics.end())
      return found->second;
    row.error = fmt::format("the run reports no metric '{}'", question_.metric);
    return 0.0;
  };
  std::vector<double> out;
  for (std::size_t i = 0; i < queries.size(); ++i) {
    BreakEvenRow& row = queries[i].search->row;
    const double first = metric(2 * i, row);
    out.push_back(first - metric(2 * i + 1, row));
  }
  return out;
}

void BreakEvenFinder::look_at_grid() {
  std::vector<Query> queries;
  for (auto& search : searches_)
    for (int i = 0; i < grid_values; ++i)
      queries.push_back({&search, grid_value(i)});
  const auto found = differences(queries);
  for (std::size_t i = 0; i < found.size(); ++i)
    queries[i].search->grid_difference.push_back(found[i]);
  for (auto& search : searches_)
    if (search.row.error.empty())
      bracket(search);
}

/// Counts the sign changes on the grid and keeps the first one. A difference of exactly 0 takes the sign
/// before it, so that touching zero is no change of sides.
void BreakEvenFinder::bracket(Search& search) {
  int last_nonzero = -1;
  for (int i = 0; i < grid_values; ++i) {
    const double here = search.grid_difference[static_cast<std::size_t>(i)];
    if (here == 0)
      continue;
    if (last_nonzero >= 0) {
      const double before = search.grid_difference[static_cast<std::size_t>(last_nonzero)];
      if (std::signbit(here) != std::signbit(before) and ++search.row.crossings == 1) {
        search.low = grid_value(last_nonzero);
        search.high = grid_value(i);
        search.low_difference = before;
        search.high_difference = here;
        search.open = true;
      }
    }
    last_nonzero = i;
  }
}

/// Halves all open brackets together, so that the pool has work for every CPU.
void BreakEvenFinder::bisect() {
  const double enough = std::abs(question_.high - question_.low) * tolerance;
  while (true) {
    std::vector<Query> queries;
    for (auto& search : searches_)
      if (search.open and search.row.error.empty() and std::abs(search.high - search.low) > enough)
        queries.push_back({&search, (search.low + search.high) / 2});
    if (queries.empty())
      return;
    const auto found = differences(queries);
    for (std::size_t i = 0; i < found.size(); ++i) {
      Search& search = *queries[i].search;
      const bool below = std::signbit(found[i]) == std::signbit(search.low_difference) and found[i] != 0;
      (below ? search.low : search.high) = queries[i].value;
      (below ? search.low_difference : search.high_difference) = found[i];
    }
  }
}

/// Who wins: a negative difference speaks for `first`. `adverb` is "" or "always ".
std::string BreakEvenFinder::better(double difference, std::string_view adverb) const {
  const auto& winner = difference < 0 ? question_.first : question_.second;
  return question_.metric.ends_with("_s")
             ? fmt::format("{} is {}faster", winner, adverb)
             : fmt::format("{} {}has the lower {}", winner, adverb, question_.metric);
}

void BreakEvenFinder::conclude(Search& search) const {
  auto& row = search.row;
  if (not row.error.empty())
    return;
  if (row.crossings == 0) {
    const auto nonzero = std::find_if(search.grid_difference.begin(), search.grid_difference.end(),
                                      [](double d) { return d != 0; });
    row.verdict = nonzero == search.grid_difference.end() ? "none: both are equal everywhere"
                                                          : "none: " + better(*nonzero, "always ");
    return;
  }
  const double share = search.low_difference / (search.low_difference - search.high_difference);
  row.value = search.low + share * (search.high - search.low);
  const bool is_percent = question_.over_unit == "%";
  row.verdict =
      fmt::format("{}: below it {}, above it {}",
                  is_percent ? fmt::format("{:.1f}%", *row.value * 100) : over_text(question_, *row.value),
                  better(search.low_difference), better(-search.low_difference));
  if (row.crossings > 1)
    row.verdict += fmt::format(" (the first of {} changes of sides)", row.crossings);
}

} // namespace

std::vector<SweepAxis> break_even_axes(const BreakEven& question, const std::vector<SweepAxis>& axes) {
  std::vector<SweepAxis> out;
  for (const auto& axis : axes)
    if (axis.path != question.path and not contains_field(axis.path, question.over))
      out.push_back(axis);
  return out;
}

std::string over_text(const BreakEven& question, double value) {
  if (question.over_unit == "%")
    return fmt::format("{:.12g}%", value * 100);
  const bool whole = question.over_unit.empty() or question.over_unit == "B";
  return whole ? fmt::format("{:.0f}{}", value, question.over_unit)
               : fmt::format("{:.12g}{}", value, question.over_unit);
}

std::vector<BreakEvenRow> find_break_even(const BreakEven& question, const std::vector<SweepAxis>& axes,
                                          const std::vector<Override>& overrides, std::uint64_t seed,
                                          const SweepEngine& engine, const PoolOptions& options) {
  return BreakEvenFinder(question, overrides, seed, engine, options).run(axes);
}

} // namespace replisim
