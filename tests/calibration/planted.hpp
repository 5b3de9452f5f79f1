// Suites whose figures follow from costs one knows, and specs to fit them.
#pragma once

#include "calibration/fit/calibration.hpp"
#include "test_paths.hpp"

#include "models/base/errors.hpp"

#include <cmath>
#include <cstdint>
#include <filesystem>
#include <fmt/format.h>
#include <fstream>
#include <functional>

#include <unistd.h>

namespace replisim::planted {

inline const Library library{REPLISIM_SOURCE_DIR};

/// A folder for one test.
class Folder {
public:
  Folder() : path_(std::filesystem::temp_directory_path() / fmt::format("replisim-spec-{}", getpid())) {
    std::filesystem::create_directories(path_);
  }
  ~Folder() { std::filesystem::remove_all(path_); }
  Folder(const Folder&) = delete;
  Folder& operator=(const Folder&) = delete;
  std::filesystem::path write(const std::string& name, const std::string& text) const {
    std::ofstream(path_ / name) << text;
    return path_ / name;
  }
  const std::filesystem::path& path() const { return path_; }

private:
  std::filesystem::path path_;
};

/// A normal deviate from a counter (splitmix64, Box and Muller): the same in every test run.
inline double deviate(std::uint64_t counter) {
  const auto uniform = [](std::uint64_t x) {
    x += 0x9e3779b97f4a7c15ULL;
    x = (x ^ (x >> 30U)) * 0xbf58476d1ce4e5b9ULL;
    x = (x ^ (x >> 27U)) * 0x94d049bb133111ebULL;
    return (static_cast<double>((x ^ (x >> 31U)) >> 11U) + 0.5) / 9007199254740992.0;
  };
  return std::sqrt(-2 * std::log(uniform(2 * counter))) *
         std::cos(6.283185307179586 * uniform(2 * counter + 1));
}

inline CalibrationSpec read_spec(const std::string& text) {
  const Folder folder;
  return read_calibration_spec(folder.write("here.yaml", text), library);
}

inline std::string error_of(const std::function<void()>& action) {
  try {
    action();
  } catch (const UsageError& error) {
    return error.what();
  }
  return "no UsageError";
}

inline const std::string head =
    "replisim_calibration: 1\nname: here\nextends: lab-2core\nmachine: lab-2core\n"
    "server_version: 18\nabout: a test\ndata: [{suite: planted, metrics: [total_s]}]\n";

inline Cell cell(const std::string& id, const std::string& scenario, double measured,
                 const std::string& metric = "total_s") {
  return {.id = id,
          .measured = measured,
          .unit = "s",
          .metric = metric,
          .scenario = "scenarios/lab/streaming_" + scenario + ".yaml",
          .overrides = {}};
}

/// A million rows, each decoded and applied as the machine does.
inline std::vector<Metrics> serial(const std::vector<Scenario>& scenarios) {
  std::vector<Metrics> results;
  for (const Scenario& scenario : scenarios) {
    const CostParameters& costs = scenario.profile.costs;
    const bool deletes = scenario.name.find("delet") != std::string::npos;
    const double decode_s = 1e6 * costs.decode_change_s / scenario.profile.cpu_speed;
    const double apply_s =
        1e6 * (deletes ? costs.apply_delete_row_s : costs.apply_insert_row_s) / scenario.profile.cpu_speed;
    results.push_back({{"total_s", decode_s + apply_s},
                       {"cpu_pub.walsender_s", decode_s},
                       {"cpu_sub.apply_worker_s", apply_s}});
  }
  return results;
}

} // namespace replisim::planted
