#!/usr/bin/env bash
# A small live pair: half of its experiments are fitted to, the other half is predicted. Fails when a counter that
# does not depend on timing is wrong or a process's share of the CPU seconds is off by more than a third. Wall times
# are printed and not judged: machines are noisy.
#
# Usage: pair.sh REPLISIM SERVERS_FOLDER WORK_FOLDER [MAJOR]
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
replisim=${1:?which program}
servers=${2:?folder of the servers}
work=${3:?a folder to work in}
major=${4:-18}

"$here/servers.sh" "$servers" "$major"
rm -rf "$work"
mkdir -p "$work"
# Shares are measured once more before they count: neighbours come and go, a wrong model stays wrong.
for attempt in 1 2; do
  rm -rf "$work/lab"
  "$replisim" lab --plan "$here/test_plan.yaml" --bin "$servers/node_modules/postgres-$major" --out "$work/lab" \
    >"$work/table.txt" 2>"$work/progress.txt" || {
    cat "$work/progress.txt" "$work/table.txt" >&2
    exit 1
  }
  cat "$work/table.txt"
  code=0
  python3 "$here/judge.py" "$work/lab/predictions.csv" || code=$?
  ((code == 3 && attempt == 1)) || break
done
((code == 0)) || exit 1
# What it leaves can be used as it is.
"$replisim" observe "$work/lab/artefacts" >"$work/observe.txt"
"$replisim" run "$work/lab/scenarios/insert-off.yaml" >"$work/run.txt"
"$replisim" calibrate "$work/lab/specs/this-machine.yaml" --format brief >"$work/calibrate.txt"
echo "live pair: observe, run and calibrate read what it left"
