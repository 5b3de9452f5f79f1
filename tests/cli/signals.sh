#!/usr/bin/env bash
# SIGINT and SIGTERM in the middle of each command: exit code 130 and 143, no process left, no file that looks
# finished.
#
# Usage: signals.sh PROGRAM SOURCE_FOLDER [COMMAND...]; without commands: all of them.
set -uo pipefail
set -m # background jobs in groups of their own, with SIGINT as it was

program=${1:?the program}
source=${2:?the source folder}
shift 2
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work" || exit
failed=0

# Each of these goes on for a minute at least unless told otherwise.
cat >endless.yaml <<EOF
replisim: 1
name: much work
extends: $source/scenarios/bases/seed1.yaml
workload:
  batch: {server: pub, at: 0s, transaction: [{insert: test_tab, rows: 400000000000}]}
EOF
mkfifo never
declare -A line=(
  [run]="run endless.yaml --out out"
  [replications]="run endless.yaml --replications 4 --jobs 2 --out out"
  [sweep]="sweep endless.yaml --vary subscriptions.s.streaming=off,on,parallel --out sweep.csv"
  [sweep-db]="sweep endless.yaml --vary subscriptions.s.streaming=off,on,parallel --db sweep.db"
  [compare]="compare endless.yaml --vary subscriptions.s.streaming=off,on"
  [explain]="explain endless.yaml"
  [plan]="plan $source/scenarios/planning/largest_oltp_load.yaml"
  [storm]="storm $source/scenarios/faults/pair.yaml --tries 1000000 --promise lag_s_max<1000000"
  [validate]="validate reports"
  [calibrate]="calibrate $source/calibration/specs/seed1-host.yaml --out profile.yaml"
  [explore]="explore endless.yaml"
  [import]="import never --out imported.yaml"
  [observe]="observe never"
  [report]="report never --out report.html"
)

complain() {
  echo "signals: $*" >&2
  failed=1
}

# check NAME SIGNAL EXIT_CODE
check() {
  local name=$1 signal=$2 expected=$3 log=$work/$1.$2
  local -a arguments
  read -ra arguments <<<"${line[$name]}"
  mkdir -p "$name.$signal" && cd "$name.$signal" || exit
  ln -sf ../endless.yaml ../never .
  "$program" "${arguments[@]}" >"$log.out" 2>"$log.err" </dev/null &
  local pid=$!
  # Under way: it has used some CPU or waits for its input, and has not ended.
  sleep "${SIGNALS_WAIT_S:-1}"
  if ! kill -0 $pid 2>/dev/null; then
    wait $pid
    complain "$name: ended by itself with $? ($(head -c 300 "$log.err"))"
    cd ..
    return
  fi
  kill -"$signal" $pid
  wait $pid 2>/dev/null
  local code=$?
  ((code == expected)) ||
    complain "$name: SIG$signal gives exit code $code, wanted $expected ($(head -c 300 "$log.err"))"
  sleep 0.2
  local left
  left=$(ps -eo pgid=,stat=,args= | awk -v group=$pid '$1 == group && $2 !~ /^Z/') # Z: init has not looked yet
  if [[ -n $left ]]; then
    complain "$name: SIG$signal leaves processes: $left"
    kill -KILL -- -$pid
  fi
  local file
  for file in out/result.json out/manifest.json sweep.csv profile.yaml imported.yaml imported.csv report.html; do
    # A sweep that is interrupted writes what it has, and says of the rest that it was interrupted.
    [[ ! -e $file ]] || { [[ $file == sweep.csv ]] && grep -q ',interrupted$' $file; } ||
      complain "$name: SIG$signal leaves $file"
  done
  file=$(find . -name '.*.tmp')
  [[ -z $file ]] || complain "$name: SIG$signal leaves $file"
  grep -q "error of replisim itself" "$log.err" && complain "$name: SIG$signal is taken for an error: $(cat "$log.err")"
  cd ..
}

names=("$@")
((${#names[@]} > 0)) || mapfile -t names < <(printf '%s\n' "${!line[@]}" | sort)
for name in "${names[@]}"; do
  [[ -n ${line[$name]:-} ]] || {
    complain "there is no command '$name'"
    continue
  }
  # Ctrl-C is how a server is meant to end.
  if [[ $name == explore ]]; then check "$name" INT 0; else check "$name" INT 130; fi
  check "$name" TERM 143
done
((failed == 0)) && echo "signals: ${#names[@]} commands end as they should"
exit $failed
