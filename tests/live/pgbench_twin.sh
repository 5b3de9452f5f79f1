#!/usr/bin/env bash
# collect beside a minute of pgbench with a subscription, then observe, scenario --from, run: the twin's TPS and lag are
# within a fifth of what was measured. Wants the machine to itself.
#
# Usage: pgbench_twin.sh REPLISIM SERVERS_FOLDER [MAJOR]
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
replisim=${1:?which program}
servers=${2:?folder of the servers}
major=${3:-18}
. "$here/lib.sh"
beside_a_lab
begin_lab pgbench_minute_plan.yaml
# Loading its tables is pgbench, too; the load itself is told its time.
until pgrep -f 'pgbench .*-T' >/dev/null; do
  kill -0 "$lab" 2>/dev/null || { cat "$work/lab.txt"; exit 1; }
  sleep 0.2
done
sleep 3
"${collect[@]}" --duration 55s --out "$work/sampled" || complain "collect failed"
"$replisim" observe "$work/sampled" >/dev/null || complain "observe failed"
"$replisim" scenario --from "$work/sampled" --out "$work/twin.yaml" || complain "scenario --from failed"
cat "$work/twin.yaml"
"$replisim" run "$work/twin.yaml" --format json >"$work/run.json" || complain "the twin does not run"
wait "$lab" || complain "lab: $(cat "$work/lab.txt")"
python3 "$here/judge_twin.py" "$work/sampled" "$work/run.json" || complain "the twin is more than a fifth off"
exit "$failed"
