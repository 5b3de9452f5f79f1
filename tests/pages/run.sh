#!/usr/bin/env bash
# Tests the pages in Debian's Chromium. The packages of cli/report/package-lock.json are installed into FOLDER,
# from the npm registry the first time; nothing is written into the source tree.
#
# Usage: tests/pages/run.sh PROGRAM FOLDER [TEST...]
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
program=$(realpath "${1:?which program}")
folder=${2:?which folder for the packages}
shift 2

for needed in node npm chromium; do
  command -v "$needed" >/dev/null || {
    echo "pages: there is no $needed here; scripts/deps.sh --pages installs it" >&2
    exit 1
  }
done
node -e 'process.exit(Number(process.versions.node.split(".")[0]) < 18 ? 1 : 0)' || {
  echo "pages: node is $(node --version); 18 or later is needed" >&2
  exit 1
}
mkdir -p "$folder"
rm -rf "$folder/src"
cp -r "$here/../../cli/report/"{package.json,package-lock.json,build.mjs,src} "$folder"
sum=$(sha256sum <"$folder/package-lock.json")
if [[ $(cat "$folder/installed" 2>/dev/null || true) != "$sum" ]]; then
  (cd "$folder" && npm ci --no-audit --no-fund --loglevel=error) || {
    echo "pages: npm ci failed: without the npm registry the pages cannot be tested" >&2
    exit 1
  }
  echo "$sum" >"$folder/installed"
fi
(($# > 0)) || set -- "$here"/*.test.mjs
export REPLISIM_PROGRAM=$program REPLISIM_PAGES_MODULES=$folder
exec node --test --test-concurrency=1 "$@"
