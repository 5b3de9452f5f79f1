#!/usr/bin/env bash
# Builds the fuzz targets and runs each for so many seconds (tests/fuzz/run.sh).
#
# Usage: scripts/fuzz.sh JOBS SECONDS
# An hour and more for all of them: JOBS targets run at a time.
set -euo pipefail
cd "$(dirname "$0")/.."

jobs=${1:?how many jobs}
seconds=${2:?how many seconds for each target}
if ! command -v clang++-14 >/dev/null; then
  echo "fuzz: clang-14 is not installed (Debian: clang-14, libclang-rt-14-dev)" >&2
  exit 2
fi
scripts/build.sh fuzz "$jobs"
FUZZ_JOBS=$jobs tests/fuzz/run.sh build-fuzz "$seconds"
