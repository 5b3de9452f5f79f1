// The command line of `replisim sweep`.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace replisim::cli {

struct SweepOptions {
  std::string scenario;
  std::vector<std::string> vary;
  std::vector<std::string> set;
  std::string sample;
  std::uint64_t sample_seed = 1;
  std::uint64_t seed = 1;
  int replications = 1;
  int jobs = 0;
  std::string out;
  std::string format;
  std::string db;
  bool retry_failed = false;
  std::string shard;
  bool slurm = false;
  int shards = 8;
  std::string slurm_options;
  bool wait = false;
  std::string time_limit;
  std::string memory_limit;
};

} // namespace replisim::cli
