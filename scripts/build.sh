#!/usr/bin/env bash
# Configures and builds one preset of CMakePresets.json.
#
# Usage: scripts/build.sh PRESET JOBS [TARGET...]
set -euo pipefail
cd "$(dirname "$0")/.."

preset=${1:?which preset: release, debug, asan or fuzz}
jobs=${2:?how many jobs}
shift 2
case $preset in
  release) folder=build ;;
  debug | asan | fuzz) folder=build-$preset ;;
  *)
    echo "build: there is no preset '$preset'; allowed: release, debug, asan, fuzz" >&2
    exit 2
    ;;
esac

# A folder configured by hand keeps its generator and options; configuring again is quick and lets
# the program know the commit it was built from.
if [[ -f $folder/CMakeCache.txt ]]; then
  cmake "$folder" >"$folder/configure.log" || {
    cat "$folder/configure.log"
    exit 1
  }
else
  cmake --preset "$preset"
fi
targets=()
if (($# > 0)); then
  targets=(--target "$@")
fi
cmake --build "$folder" --parallel "$jobs" "${targets[@]}"
