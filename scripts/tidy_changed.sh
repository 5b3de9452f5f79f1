#!/usr/bin/env bash
# clang-tidy over what differs from BASE, findings of changed lines only: for every test run, where all files would take
# an hour (`make tidy`).
#
# Usage: scripts/tidy_changed.sh FOLDER [BASE]
# FOLDER is a configured build folder (its compile_commands.json is read; nothing needs to be built). BASE is a commit:
# by default where this branch left origin/main, on main itself the commit before. Changes that are not committed count.
# At most TIDY_MOST source files (default 5), those with the most changed lines first.
set -euo pipefail
cd "$(dirname "$0")/.."

folder=${1:?which build folder}
most=${TIDY_MOST:-5}
jobs=${JOBS:-$(nproc)}

command -v clang-tidy-diff >/dev/null || {
  echo "tidy_changed: clang-tidy is not installed (Debian: clang-tidy)" >&2
  exit 2
}
[[ -f $folder/compile_commands.json ]] || {
  echo "tidy_changed: $folder is no configured build folder" >&2
  exit 2
}
base=${2:-$(git merge-base HEAD origin/main 2>/dev/null || true)}
if [[ -z $base || $base == "$(git rev-parse HEAD)" ]]; then
  base=$(git rev-parse --verify --quiet HEAD~1) || {
    echo "tidy_changed: a clone without history; there is nothing to compare with"
    exit 0
  }
fi
mapfile -t files < <(git diff --numstat --no-renames --diff-filter=d "$base" -- \
  'models/*.cpp' 'sim/*.cpp' 'calibration/*.cpp' 'cli/*.cpp' | sort -k1,1nr | cut -f3)
if ((${#files[@]} == 0)); then
  echo "tidy_changed: no source file differs from ${base:0:12}"
  exit 0
fi
if ((${#files[@]} > most)); then
  echo "tidy_changed: ${#files[@]} files differ; the $most with the most changes are looked at (make tidy takes all)"
  files=("${files[@]:0:most}")
fi
# Options of g++ that clang does not know are no finding.
log=$(mktemp)
trap 'rm -f "$log"' EXIT
status=0
git diff -U0 --no-renames "$base" -- "${files[@]}" |
  clang-tidy-diff -p1 -path "$folder" -j "$jobs" -quiet -extra-arg=-Wno-unknown-warning-option \
    -extra-arg=-Wno-unused-command-line-argument >"$log" 2>&1 || status=$?
grep -vE '^[0-9]+ warnings?( and [0-9]+ errors?)? generated|^Suppressed |^Use -header-filter|^$' "$log" || true
if ((status != 0)) || grep -qE ': (error|warning): ' "$log"; then
  echo "tidy_changed: the changes since ${base:0:12} are not tidy" >&2
  exit 1
fi
echo "tidy_changed: the changes of ${#files[@]} files since ${base:0:12} are tidy"
