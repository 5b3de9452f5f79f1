// The server behind the explorer's page: on 127.0.0.1 alone, for those who know its token.
#pragma once

#include "sim/report/html.hpp"
#include "sim/scenario/loader.hpp"

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

namespace replisim::cli {

struct ExploreOptions {
  std::string file;
  std::vector<Override> overrides;
  std::uint64_t seed = 1;
  int jobs = 0;
  int port = 0; ///< 0: a free one
  std::string token;
  PageAssets assets;
  std::function<void(const std::string& url)> ready; ///< called when the page can be opened
};

/// Serves until Ctrl-C. Throws ScenarioError for a scenario that cannot be run, UsageError when the port is
/// taken.
void serve_explorer(const ExploreOptions& options, const Library& library);

} // namespace replisim::cli
