#!/usr/bin/env bash
# What differs between 15, 16, 17 and 18, on real servers and in their twins: parallel apply from 16 on; changes of an
# aborted subtransaction spilled and streamed in full before 18, and dropped from 18 on where the abort is known by
# then.
#
# Usage: versions.sh REPLISIM SERVERS_FOLDER WORK_FOLDER [MAJOR ...]
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
replisim=${1:?which program}
servers=${2:?folder of the servers}
work=${3:?a folder to work in}
shift 3
majors=("$@")
((${#majors[@]})) || majors=(15 16 17 18)
rm -rf "$work"
mkdir -p "$work"
for major in "${majors[@]}"; do
  "$replisim" lab --plan "$here/versions_plan.yaml" --no-fit --bin "$servers/node_modules/postgres-$major" \
    --out "$work/$major" >"$work/$major.txt" 2>"$work/$major.err" || {
    cat "$work/$major.err" >&2
    exit 1
  }
  for twin in "$work/$major"/scenarios/*.yaml; do
    "$replisim" run "$twin" --format json >"${twin%.yaml}.json"
  done
done
python3 "$here/versions.py" "$work" "${majors[@]}"
