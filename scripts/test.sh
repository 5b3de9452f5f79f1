#!/usr/bin/env bash
# Runs every check of a built tree, goes on after a failure, and says at the end what failed.
#
# Usage: scripts/test.sh FOLDER JOBS
set -uo pipefail
cd "$(dirname "$0")/.." || exit

folder=${1:?which build folder}
jobs=${2:?how many jobs}
failed=()

check() {
  local name=$1
  shift
  printf '\n== %s\n' "$name"
  "$@" </dev/null || failed+=("$name")
}

check "formatting" scripts/format.sh --check
check "validate seed-streaming" "$folder/cli/replisim" validate seed-streaming
check "validate lab-counters" "$folder/cli/replisim" validate lab-counters
check "validate reports" "$folder/cli/replisim" validate reports
# Not here: `make live`, the long measurements of real servers, which want the machine to themselves, and `make
# sanitized`, a second build by clang, which takes eight minutes on two cores.
check "tests" ctest --test-dir "$folder" --output-on-failure --no-tests=error -j "$jobs" -LE '^live$'

echo
if ((${#failed[@]} > 0)); then
  printf 'test: FAILED: %s\n' "${failed[@]}"
  exit 1
fi
echo "test: everything passed"
