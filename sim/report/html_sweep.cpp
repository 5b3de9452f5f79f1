// A sweep in columns, for its page.
#include "sim/report/html.hpp"

#include "models/base/errors.hpp"
#include "models/statistics.hpp"
#include "sim/run/result_json.hpp"
#include "sim/run/results_query.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <map>
#include <set>
#include <string>
#include <vector>

namespace replisim {

using nlohmann::json;

namespace {

constexpr std::size_t most_values = 640'000; ///< of all columns together: 7 MB in base64

/// Figures that stay when not all can, most important first.
const std::vector<std::string>& key_metrics() {
  static const std::vector<std::string> all{"total_s",
                                            "lag_s_mean",
                                            "tps",
                                            "lag_s_p99",
                                            "lock_hold_s",
                                            "commit_s",
                                            "spill_bytes",
                                            "spill_count",
                                            "stream_bytes",
                                            "stream_count",
                                            "wal_bytes",
                                            "sent_bytes",
                                            "retained_wal_bytes",
                                            "peak_spill_file_bytes",
                                            "peak_sub_tmp_file_bytes",
                                            "lag_bytes"};
  return all;
}

std::string base64(const std::vector<double>& values) {
  static const char* digits = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  const std::size_t size = values.size() * sizeof(double);
  std::vector<unsigned char> bytes(size + 2, 0);
  if (size > 0)
    std::memcpy(bytes.data(), values.data(), size);
  std::string out;
  for (std::size_t i = 0; i < size; i += 3) {
    const unsigned block = (unsigned{bytes[i]} << 16U) | (unsigned{bytes[i + 1]} << 8U) | bytes[i + 2];
    for (unsigned shift = 18, k = 0; k < 4; ++k, shift -= 6)
      out.append(1, i + k > size ? '=' : digits[(block >> shift) & 63U]);
  }
  return out;
}

/// One figure at all points; what a point lacks is NaN.
json column(const std::vector<double>& values) {
  const bool constant =
      std::all_of(values.begin(), values.end(), [&](double v) { return v == values.front(); });
  if (constant and not values.empty())
    return {{"constant", number_json(values.front())}};
  return {{"f64", base64(values)}};
}

/// All points' values of each name, under `key` of the points.
std::map<std::string, std::vector<double>> columns_of(const json& points, const char* key) {
  std::map<std::string, std::vector<double>> out;
  constexpr double none = std::numeric_limits<double>::quiet_NaN();
  std::size_t at = 0;
  for (const auto& point : points) {
    const auto found = point.find(key);
    if (found != point.end() and found->is_object())
      for (const auto& [name, value] : found->items())
        if (value.is_number())
          out.try_emplace(name, points.size(), none).first->second[at] = value.get<double>();
    ++at;
  }
  return out;
}

/// Which columns there is room for: the key ones first, then by name.
std::vector<std::string> chosen(const std::map<std::string, std::vector<double>>& all, std::size_t points,
                                std::vector<std::string>& left_out) {
  std::vector<std::string> names;
  for (const auto& key : key_metrics())
    if (all.contains(key))
      names.push_back(key);
  for (const auto& [name, values] : all)
    if (std::find(names.begin(), names.end(), name) == names.end())
      names.push_back(name);
  const std::size_t most = std::max<std::size_t>(4, most_values / std::max<std::size_t>(1, points));
  std::size_t costly = 0;
  std::vector<std::string> out;
  for (const auto& name : names) {
    const auto& values = all.at(name);
    const bool constant =
        std::all_of(values.begin(), values.end(), [&](double v) { return v == values.front(); });
    if (not constant and ++costly > most)
      left_out.push_back(name);
    else
      out.push_back(name);
  }
  return out;
}

/// Labels and bottlenecks repeat: each once, and an index a point.
class Dictionary {
public:
  void add(const std::string& text) {
    const auto [known, added] = at_.emplace(text, static_cast<int>(texts_.size()));
    if (added)
      texts_.push_back(text);
    index_.push_back(known->second);
  }
  const std::vector<std::string>& texts() const { return texts_; }
  const std::vector<int>& index() const { return index_; }

private:
  std::map<std::string, int> at_;
  std::vector<std::string> texts_;
  std::vector<int> index_;
};

json page_data(const json& sweep) {
  const json& points = sweep.at("points");
  std::vector<std::string> columns;
  if (not points.empty())
    for (const auto& [path, label] : points.front().at("axes").items())
      columns.push_back(path);
  json head = sweep;
  head.erase("points");
  json out = {{"kind", "sweep"}, {"sweep", std::move(head)}, {"points", points.size()}, {"columns", columns}};
  out["labels"] = out["index"] = json::array();
  for (const auto& path : columns) {
    Dictionary labels;
    for (const auto& point : points)
      labels.add(point.at("axes").at(path).get<std::string>());
    out["labels"].push_back(labels.texts());
    out["index"].push_back(labels.index());
  }
  Dictionary bottlenecks;
  out["errors"] = json::object();
  std::size_t at = 0;
  for (const auto& point : points) {
    bottlenecks.add(point.at("bottleneck").is_string() ? point.at("bottleneck").get<std::string>() : "");
    if (point.at("error").is_string())
      out["errors"][std::to_string(at)] = point.at("error");
    ++at;
  }
  out["bottlenecks"] = bottlenecks.texts();
  out["bottleneck"] = bottlenecks.index();
  const auto metrics = columns_of(points, "metrics");
  const auto half_widths = columns_of(points, "half_width_95");
  std::vector<std::string> left_out;
  out["metrics"] = out["half_width"] = json::object();
  for (const auto& name : chosen(metrics, (half_widths.empty() ? 1 : 2) * points.size(), left_out)) {
    out["metrics"][name] = column(metrics.at(name));
    if (const auto half = half_widths.find(name); half != half_widths.end())
      out["half_width"][name] = column(half->second);
  }
  out["left_out"] = left_out;
  return out;
}

} // namespace

json sweep_page_data(const json& sweep) {
  try {
    return page_data(sweep);
  } catch (const json::exception& e) {
    throw UsageError(fmt::format("this is no result of `replisim sweep --format json`: {}", e.what()));
  }
}

json sweep_of_database(ResultsFile& file) {
  const SweepIdentity& identity = file.identity();
  json points = json::array();
  std::vector<StoredRun> runs;
  const auto finish = [&] {
    if (runs.empty())
      return;
    const StoredRun& first = runs.front();
    json axes = json::object(), metrics = json::object(), half_widths = json::object();
    for (std::size_t i = 0; i < identity.columns.size() and i < first.labels.size(); ++i)
      axes[identity.columns[i]] = first.labels[i];
    const auto failure =
        std::find_if(runs.begin(), runs.end(), [](const StoredRun& run) { return run.failed; });
    if (failure == runs.end())
      for (const auto& [name, value] : first.metrics) {
        std::vector<double> values;
        for (const auto& run : runs)
          if (const auto found = run.metrics.find(name); found != run.metrics.end())
            values.push_back(found->second);
        const Interval interval = interval_95(values);
        metrics[name] = number_json(interval.mean);
        if (values.size() > 1)
          half_widths[name] = number_json(interval.half_width);
      }
    json point = {{"axes", std::move(axes)},
                  {"metrics", std::move(metrics)},
                  {"bottleneck", first.bottleneck},
                  {"error", failure == runs.end() ? json(nullptr) : json(failure->reason)}};
    if (not half_widths.empty())
      point["half_width_95"] = std::move(half_widths);
    points.push_back(std::move(point));
    runs.clear();
  };
  for_each_run(file, {}, [&](const StoredRun& run) {
    if (not runs.empty() and runs.front().point != run.point)
      finish();
    runs.push_back(run);
  });
  finish();
  json notes = json::array();
  if (points.size() < identity.points)
    notes.push_back(fmt::format("{} of {} points are in the file so far", points.size(), identity.points));
  return {{"scenario", identity.scenario},         {"version", identity.program}, {"seed", identity.seed},
          {"replications", identity.replications}, {"axes", identity.axes},       {"sample", identity.sample},
          {"points", std::move(points)},           {"break_even", json::array()}, {"notes", std::move(notes)},
          {"guesses", identity.guesses},           {"interrupted", false}};
}

} // namespace replisim
