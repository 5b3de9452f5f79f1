// Results as a self-contained HTML page: data, script and style in one file that loads nothing.
#pragma once

#include "sim/run/result.hpp"
#include "sim/run/results_file.hpp"

#include <nlohmann/json.hpp>

#include <filesystem>
#include <string>
#include <string_view>

namespace replisim {

struct PageAssets {
  std::string_view script;
  std::string_view style;
};

/// The page. `data` is JSON text; whatever names it holds, it stays text. `connects`: the script may talk to
/// the server that the page came from.
std::string html_page(const PageAssets& assets, const std::string& title, std::string_view data,
                      bool connects = false);

/// Columns and rows, the timeline as it is in a run's JSON for the page.
nlohmann::json timeline_json_rows(const Timeline& timeline);

/// Reads timeline.csv of a run's folder. Throws UsageError when it is none.
Timeline read_timeline(const std::filesystem::path& file);

/// What the page of a sweep needs, from the object of `sweep --format json`: in columns, numbers as float64
/// in base64, so that ten thousand points stay small. Figures that would make it too large are named in
/// `left_out`. Throws UsageError when the object is no sweep.
nlohmann::json sweep_page_data(const nlohmann::json& sweep);

/// The same object from a results database: points with the means and 95 % intervals of their replications.
nlohmann::json sweep_of_database(ResultsFile& file);

} // namespace replisim
