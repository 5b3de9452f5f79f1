#!/usr/bin/env bash
# clang-tidy over the source files that differ from BASE: for CI, where all of them would take too long.
#
# Usage: scripts/tidy_changed.sh FOLDER [BASE]
# FOLDER is a configured build folder (its compile_commands.json is read; nothing needs to be built). BASE is
# a commit; by default where this branch left origin/main, or else the commit before the last one. Headers
# are looked at with the files that include them; at most TIDY_MOST files (default 40), each once.
set -euo pipefail
cd "$(dirname "$0")/.."

folder=${1:?which build folder}
base=${2:-$(git merge-base HEAD origin/main 2>/dev/null || git rev-parse HEAD~1)}
most=${TIDY_MOST:-40}
jobs=${JOBS:-$(nproc)}

if ! command -v clang-tidy >/dev/null; then
  echo "tidy_changed: clang-tidy is not installed" >&2
  exit 2
fi
[[ -f $folder/compile_commands.json ]] || {
  echo "tidy_changed: $folder is no configured build folder" >&2
  exit 2
}
mapfile -t files < <(git diff --name-only --diff-filter=d "$base" -- \
  'models/*.cpp' 'sim/*.cpp' 'calibration/*.cpp' 'cli/*.cpp')
if ((${#files[@]} == 0)); then
  echo "tidy_changed: no source file differs from ${base:0:12}"
  exit 0
fi
if ((${#files[@]} > most)); then
  echo "tidy_changed: ${#files[@]} files differ; the first $most are looked at (make tidy takes all)"
  files=("${files[@]:0:most}")
fi
# g++'s own options are no business of clang's.
printf '%s\0' "${files[@]}" |
  xargs -0 -n 1 -P "$jobs" clang-tidy -quiet -p "$folder" --extra-arg=-Wno-unknown-warning-option \
    --extra-arg=-Wno-unused-command-line-argument
echo "tidy_changed: ${#files[@]} files that differ from ${base:0:12} are tidy"
