// A sweep as a Slurm job array: one task a shard. Slurm decides what runs where and when.
#pragma once

#include "cli/sweep_options.hpp"
#include "models/base/errors.hpp"

#include <string>
#include <string_view>

namespace replisim::cli {

/// `text` as one word of a shell command.
std::string shell_quoted(std::string_view text);

/// The batch script: each task of the array runs its shard into `FOLDER/shard-K.db`.
std::string slurm_script(const SweepOptions& options, const std::string& program, const std::string& library,
                         const std::string& folder);

/// Writes the script into the folder `DB.slurm` and submits it with sbatch. With options.wait it returns when
/// all tasks have ended, their results merged into DB; else it says how to follow and merge. Exit code No
/// when points failed or are missing. Throws UsageError when there is no sbatch or it refuses.
ExitCode submit_to_slurm(const SweepOptions& options);

} // namespace replisim::cli
