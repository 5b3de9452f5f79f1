#!/usr/bin/env bash
# The long live tests: 15 to 18, what differs between them, many kills, the full plan.
#
# Usage: all.sh REPLISIM SERVERS_FOLDER WORK_FOLDER
set -uo pipefail
here=$(cd "$(dirname "$0")" && pwd)
replisim=${1:?which program}
servers=${2:?folder of the servers}
work=${3:?a folder to work in}
failed=()
check() {
  printf '\n== %s\n' "$*"
  "$@" || failed+=("$*")
}

"$here/servers.sh" "$servers" 16 17 18 || exit 1
# Debian's 15 beside the others, under their kind of name.
mkdir -p "$servers/node_modules/postgres-15/native"
ln -sfn /usr/lib/postgresql/15/bin "$servers/node_modules/postgres-15/native/bin"
for major in 15 16 17 18; do
  check "$here/pair.sh" "$replisim" "$servers" "$work/pair-$major" "$major"
done
check "$here/versions.sh" "$replisim" "$servers" "$work/versions"
check "$here/collecting.sh" "$replisim" "$servers"
check "$here/pgbench_twin.sh" "$replisim" "$servers"
check "$here/mistakes.sh" "$replisim" "$servers"
check "$here/lifecycle.sh" "$replisim" "$servers" 0.1 0.4 0.8 1.2 1.6 2 2.5 3 4 5 6 8
check "$replisim" lab --bin "$servers/node_modules/postgres-18" --out "$work/full"
if ((${#failed[@]} > 0)); then
  printf 'live: FAILED: %s\n' "${failed[@]}"
  exit 1
fi
echo "live: everything passed"
