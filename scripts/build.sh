#!/usr/bin/env bash
# Configures and builds one preset of CMakePresets.json.
#
# Usage: scripts/build.sh PRESET JOBS [TARGET...]
set -euo pipefail
cd "$(dirname "$0")/.."

preset=${1:?which preset: release, debug, asan or quick-asan}
jobs=${2:?how many jobs}
shift 2
case $preset in
  release) folder=build ;;
  debug | asan | quick-asan) folder=build-$preset ;;
  *)
    echo "build: there is no preset '$preset'; allowed: release, debug, asan, quick-asan" >&2
    exit 2
    ;;
esac

if [[ $preset == *asan ]] && ! command -v clang++-14 >/dev/null; then
  echo "build: clang-14 is not installed (Debian: clang-14, libclang-rt-14-dev)" >&2
  exit 2
fi
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
