#!/usr/bin/env bash
# What AddressSanitizer and UndefinedBehaviorSanitizer say: builds unit tests of the models and the fuzz targets, by
# clang; runs the tests, and each target of a reader for so many seconds over the committed corpus. `make asan` takes
# all tests.
#
# Usage: scripts/sanitized.sh JOBS SECONDS
set -euo pipefail
cd "$(dirname "$0")/.."

jobs=${1:?how many jobs}
seconds=${2:?how many seconds for each fuzz target}
folder=build-quick-asan
scripts/build.sh quick-asan "$jobs" sanitized_tests fuzz_targets
export ASAN_OPTIONS=detect_stack_use_after_return=1 UBSAN_OPTIONS=print_stacktrace=1
failed=0
ctest --test-dir $folder --output-on-failure --no-tests=error -j "$jobs" \
  -R '^test_models_[a-z]+:' || failed=1
FUZZ_JOBS=$jobs tests/fuzz/run.sh $folder "$seconds" || failed=1
exit $failed
