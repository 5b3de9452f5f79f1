#!/usr/bin/env bash
# Equal scenario, overrides and seed give equal bytes: across runs, for any --jobs, and whatever the program was
# built with (release, debug, and the sanitizers' build where there is one).
#
# Usage: tests/soak/determinism.sh PROGRAM [OTHER_PROGRAM...]
# Without others the debug preset is built first.
set -euo pipefail
program=$(realpath "${1:?which program}")
shift
here=$(cd "$(dirname "$0")" && pwd)
root=$(cd "$here/../.." && pwd)
export REPLISIM_HOME=$root
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT

others=()
for other in "$@"; do others+=("$(realpath "$other")"); done
if ((${#others[@]} == 0)); then
  "$root/scripts/build.sh" debug "$(nproc)" replisim >"$scratch/build.log" 2>&1 || {
    cat "$scratch/build.log"
    exit 1
  }
  others+=("$root/build-debug/cli/replisim")
  if [[ -x $root/build-asan/cli/replisim ]]; then others+=("$root/build-asan/cli/replisim"); fi
fi

fail() {
  printf 'soak: FAILED: %s\n' "$*" >&2
  exit 1
}

# Every shipped scenario that one run answers, small enough for a program without optimisation.
scenarios=(lab/streaming_insert lab/streaming_rollback_20pct lab/overlapping lab/several_subscriptions
  lab/invalidation_c lab/locks_open_transaction lab/pgbench lab/wide_rows faults/outage faults/initial_sync
  bottlenecks/04_spill_files bottlenecks/06_window bottlenecks/08_parallel_apply_worker
  bottlenecks/10_row_filter)

# answer PROGRAM SCENARIO OPTION...: what the run printed, and its exit code.
answer() {
  local with=$1 scenario=$2
  shift 2
  local code=0
  (cd "$root" && "$with" run "scenarios/$scenario.yaml" --format json "$@") 2>&1 || code=$?
  echo "exit $code"
}

compared=0
for scenario in "${scenarios[@]}"; do
  answer "$program" "$scenario" >"$scratch/first"
  grep -q '^exit 0$' "$scratch/first" || fail "$scenario: $(tail -n 3 "$scratch/first")"
  answer "$program" "$scenario" >"$scratch/again"
  cmp "$scratch/first" "$scratch/again" || fail "$scenario: two runs differ"
  for other in "${others[@]}"; do
    answer "$other" "$scenario" >"$scratch/other"
    cmp "$scratch/first" "$scratch/other" || fail "$scenario: $other gives other bytes"
  done
  for jobs in 1 2 5; do
    answer "$program" "$scenario" --replications 3 --jobs "$jobs" >"$scratch/jobs$jobs"
    cmp "$scratch/jobs1" "$scratch/jobs$jobs" || fail "$scenario: --jobs 1 and $jobs differ"
  done
  compared=$((compared + 1))
done
printf 'soak: %d scenarios: the same bytes twice, with 1, 2 and 5 jobs, and from %d other builds\n' \
  "$compared" "${#others[@]}"
