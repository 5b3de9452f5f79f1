#!/usr/bin/env bash
# Builds the fuzz targets with the sanitizers and runs each for so many seconds (tests/fuzz/run.sh).
#
# Usage: scripts/fuzz.sh JOBS SECONDS
# An hour and more for all of them: JOBS targets run at a time.
set -euo pipefail
cd "$(dirname "$0")/.."

jobs=${1:?how many jobs}
seconds=${2:?how many seconds for each target}
scripts/build.sh asan "$jobs" fuzz_targets
FUZZ_JOBS=$jobs tests/fuzz/run.sh build-asan "$seconds"
