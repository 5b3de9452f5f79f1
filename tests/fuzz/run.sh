#!/usr/bin/env bash
# Runs every fuzz target for so many seconds, says how many inputs each has tried, and fails on the first one that
# breaks something: its input stays in FOLDER/fuzz/found.
#
# Usage: tests/fuzz/run.sh FOLDER SECONDS [TARGET...]
# FOLDER is a build folder of the sanitizers' presets. New inputs that reach new code are kept in FOLDER/fuzz/corpus, so
# that the next run goes on from there. The seeds are the tree's own scenarios and samples, and tests/fuzz/corpus.
# FUZZ_JOBS targets run at a time (default 1).
set -uo pipefail

programs=$(realpath "${1:?which build folder}")/tests/fuzz
folder=$(realpath "$1")/fuzz
seconds=${2:?how many seconds a target}
shift 2
cd "$(dirname "$0")/../.." || exit
targets=("$@")
((${#targets[@]} > 0)) || targets=(scenario conf replay observe import tables results json)
# A simulation takes its time with sanitizers, and what it finds is another one each time: for long rounds.
(($# > 0 || seconds < 300)) || targets+=(simulate)
seeds=$folder/seeds
found=$folder/found
logs=$folder/logs
rm -rf "$seeds"
mkdir -p "$found" "$logs"

# One input of fuzz_scenario for each shipped file: what it extends stands beside it, in the same input.
scenario_seeds() {
  local file base out
  while read -r file; do
    out=$seeds/$1/${file//\//_}
    base=$(sed -n 's/^extends: *//p;T;q' "$file")
    sed 's/^extends: .*/extends: base.yaml/' "$file" >"$out"
    [[ -z $base ]] || { printf '\n#### base.yaml\n' && cat "${file%/*}/$base"; } >>"$out"
  done < <(find scenarios -name '*.yaml' -not -path '*/hardware/*')
}

# prefixed TARGET PREFIX FILE...: files as seeds, PREFIX before their bytes.
prefixed() {
  local target=$1 prefix=$2 file
  shift 2
  for file in "$@"; do
    { printf '%s' "$prefix" && cat "$file"; } >"$seeds/$target/${file//\//_}"
  done
}

for target in "${targets[@]}"; do
  mkdir -p "$seeds/$target" "$folder/corpus/$target"
  find "tests/fuzz/corpus/$target" -type f -exec cp -t "$seeds/$target" {} + 2>/dev/null
  case $target in
    scenario) scenario_seeds scenario ;;
    replay) find scenarios -name '*.csv' -size -60k -exec cp -t "$seeds/$target" {} + ;;
    observe | import) find tests/calibration/samples tests/calibration/data -type f -size -20k -not -name '*.md' \
      -exec cp -t "$seeds/$target" {} + ;;
    tables)
      prefixed tables p calibration/profiles/*.yaml
      prefixed tables c calibration/data/seeds/*.csv
      ;;
  esac
done

# Words of scenarios, so that changes of bytes become changes of meaning.
{
  grep -ohE '"[A-Za-z_]{3,40}"' scenarios/scenario.schema.json | sort -u
  printf '"%s"\n' 64kB 1ms 0s 366d 1e18 -1 nan inf 0.0 99999999999999999999 20% 1000/s ': {' '[]' '\x0a  '
} >"$folder/scenario.dict"
export ASAN_OPTIONS=allocator_may_return_null=1:max_allocation_size_mb=2000
export UBSAN_OPTIONS=print_stacktrace=1
run() {
  local target=$1 log=$logs/$1 dictionary=() limits=(-timeout=60 -max_len=20000)
  # A byte decides there what a word decides elsewhere, and a run takes its time.
  [[ $target != simulate ]] || limits=(-timeout=300 -max_len=1000 -len_control=0)
  [[ $target != scenario ]] || dictionary=("-dict=$folder/scenario.dict")
  "$programs/fuzz_$target" -max_total_time="$seconds" "${limits[@]}" -rss_limit_mb=3000 \
    -print_final_stats=1 -artifact_prefix="$found/$target-" "${dictionary[@]}" \
    "$folder/corpus/$target" "$seeds/$target" >"$log" 2>&1
  local code=$?
  local executions
  executions=$(sed -n 's/^stat::number_of_executed_units: *//p' "$log")
  printf '%-10s %12s executions\n' "$target" "${executions:-?}"
  printf '%s %s\n' "$(date -u +%FT%TZ)" "${executions:-0}" >>"$logs/$target.total"
  ((code == 0)) && return 0
  tail -40 "$log"
  echo "fuzz: $target failed with $code; the input is below $found"
  return 1
}

failed=0 running=0
for target in "${targets[@]}"; do
  run "$target" &
  if ((++running >= ${FUZZ_JOBS:-1})); then
    wait -n || failed=1
    ((running--))
  fi
done
while ((running-- > 0)); do
  wait -n || failed=1
done
awk '{ sum += $2 } END { printf "so far %d executions over all runs in this folder\n", sum }' "$logs"/*.total
exit $failed
