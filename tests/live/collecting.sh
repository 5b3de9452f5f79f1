#!/usr/bin/env bash
# collect beside a load: a complete folder, no secrets, lost connections made again, Ctrl-C; then observe,
# scenario --from, and a run of that scenario with the TPS that were measured.
#
# Usage: collecting.sh REPLISIM SERVERS_FOLDER [MAJOR]
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
replisim=${1:?which program}
servers=${2:?folder of the servers}
major=${3:-18}
. "$here/lib.sh"
beside_a_lab
begin_lab small_load_plan.yaml
# Until servers and subscription are there, each attempt is refused with a sentence.
for attempt in $(seq 200); do
  code=0
  "${collect[@]}" --duration 500ms --out "$work/first-$attempt" >"$work/first.txt" 2>&1 || code=$?
  [[ $code != 0 ]] || break
  kill -0 "$lab" 2>/dev/null || { cat "$work/lab.txt"; exit 1; }
  sleep 0.2
done
sleep 1
"${collect[@]}" --duration 7s --out "$work/sampled" >"$work/collect.txt" 2>&1 &
collector=$!
sleep 3
# The only sessions through TCP are collect's: end one of them.
python3 - <<'P'
import glob, os, signal
for name in glob.glob("/proc/[0-9]*/cmdline"):
    try:
        with open(name, "rb") as file:
            title = file.read()
    except OSError:
        continue
    if title.startswith(b"postgres: postgres postgres 127.0.0.1"):
        os.kill(int(name.split("/")[2]), signal.SIGTERM)
        break
P
wait "$collector" || complain "collect: $(cat "$work/collect.txt")"
cat "$work/collect.txt"
grep -q 'reconnected 1 times' "$work/collect.txt" || complain "the lost connection was not made again"
env --default-signal=INT "${collect[@]}" --out "$work/interrupted" >"$work/interrupted.txt" 2>&1 &
collector=$!
# Before its first look there is nothing to leave behind.
for _ in $(seq 300); do
  [[ $(cat "$work/interrupted/cluster.timeline.csv" 2>/dev/null | wc -l) -lt 3 ]] || break
  sleep 0.1
done
kill -INT "$collector"
code=0
wait "$collector" || code=$?
[[ $code == 0 ]] || complain "Ctrl-C: exit code $code: $(cat "$work/interrupted.txt")"
[[ $(grep -c '"view":"facts"' "$work/interrupted/cluster.pub.views") == 2 ]] ||
  complain "Ctrl-C: the last look is missing"
[[ $(tail -c 1 "$work/interrupted/cluster.sub.views" | od -An -c) == *'\n'* ]] || complain "Ctrl-C: a line is cut short"
! grep -r -q -e secret-word -e 'conninfo' "$work/sampled" "$work/interrupted" || complain "a secret was written"

"$replisim" observe "$work/sampled" >"$work/observe.txt" || complain "observe: $(cat "$work/observe.txt")"
grep -q 'total_txns_per_s\|total_txns' "$work/observe.txt" || complain "observe sees no transactions"
"$replisim" scenario --from "$work/sampled" --out "$work/twin.yaml" >"$work/scenario.txt" ||
  complain "scenario --from: $(cat "$work/scenario.txt")"
cat "$work/scenario.txt" "$work/twin.yaml"
"$replisim" run "$work/twin.yaml" --format json >"$work/run.json" || complain "the twin does not run"
python3 - "$work/run.json" "$work/scenario.txt" <<'P' || complain "the twin's TPS are more than a fifth off"
import json, re, sys
said = json.load(open(sys.argv[1]))["metrics"]
measured = float(re.search(r"([\d.]+) transactions a second", open(sys.argv[2]).read())[1])
print(f"TPS: {measured:.1f} measured, {said['tps']:.1f} predicted; lag {1e3 * said['lag_s_mean']:.2f} ms predicted")
sys.exit(0 if measured > 5 and abs(said["tps"] / measured - 1) < 0.2 else 1)
P
exit "$failed"
