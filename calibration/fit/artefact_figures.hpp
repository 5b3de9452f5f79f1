// Figures of real runs from the files they left behind (logs, sampled timelines), as a suite to fit to.
#pragma once

#include "calibration/fit/spec.hpp"
#include "calibration/suites/suite.hpp"

#include <filesystem>

namespace replisim {

/// The figures that `replisim observe` derives from the artefacts of each run of `data`, named RUN/METRIC by
/// the run's first file. Paths are relative to the library, or, where nothing is there, to the folder of
/// `spec`.
///
/// Throws UsageError with a sentence when the folder holds no files of a run, and when the servers' logs
/// contradict its scenario: another version, another `streaming`.
Suite artefact_suite(const CalibrationData& data, const std::filesystem::path& spec, const Library& library);

} // namespace replisim
