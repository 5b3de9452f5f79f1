#!/usr/bin/env bash
# Nothing of the lab stays: after Ctrl-C at once, after kill -9 at the next start, which ends what the dead run had
# started and nothing else.
#
# Usage: lifecycle.sh REPLISIM SERVERS_FOLDER [MOMENT ...]   seconds after which it is killed
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
replisim=${1:?which program}
servers=${2:?folder of the servers}
shift 2
moments=("$@")
((${#moments[@]})) || moments=(0.3 2 5)
. "$here/lib.sh"
"$here/servers.sh" "$servers" 18
work=$(scratch)
trap 'rm -rf "$work"' EXIT
base=$work/replisim-lab-$(id -u)
lab=("$replisim" lab --plan "$here/one_run.yaml" --no-fit --bin "$servers/node_modules/postgres-18" --work "$work")
shm_before=$(find /dev/shm -name 'PostgreSQL.*' -printf '%f\n' | sort)

nothing_left() {
  [[ -z $(servers_below "$base") ]] || complain "$1: servers are left: $(servers_below "$base")"
  [[ -z $(find "$base" -mindepth 1 -name 'run-*' 2>/dev/null) ]] || complain "$1: a folder is left in $base"
  [[ $(ls "$work") == "$(printf '%s\n' "replisim-lab-$(id -u)" results | sort)" ]] ||
    complain "$1: files beside the folders: $(ls "$work")"
}

mkdir "$work/results"
# A run that was killed and left two processes in its list; one is another one meanwhile, by its start time.
mkdir -p "$base/run-killed"
chmod 711 "$base"
setsid sleep 1000 & left=$!
setsid sleep 1000 & stranger=$!
ticks() { sed 's/.*) //' "/proc/$1/stat" | cut -d' ' -f20; }
printf '%s\n%s %s pub\n%s 12345 sub\n' "$(cat /proc/sys/kernel/random/boot_id)" "$left" "$(ticks "$left")" "$stranger" \
  >"$base/run-killed/processes"

for moment in "${moments[@]}"; do
  "${lab[@]}" --out "$work/results/killed" >"$work/results/out.txt" 2>&1 &
  pid=$!
  sleep "$moment"
  kill -9 "$pid" 2>/dev/null || echo "it had ended before $moment s"
  wait "$pid" 2>/dev/null || true
done
"${lab[@]}" --out "$work/results/whole" >"$work/results/out.txt" 2>&1 ||
  complain "the run after: $(cat "$work/results/out.txt")"
nothing_left "kill -9"
! kill -0 "$left" 2>/dev/null || complain "a process of a dead run was not ended"
kill -0 "$stranger" 2>/dev/null || complain "a process that was not its own was ended"
kill "$stranger" 2>/dev/null || true

# A shell has background programs ignore SIGINT; this one shall not.
env --default-signal=INT "${lab[@]}" --repeats 50 --out "$work/results/interrupted" \
  >"$work/results/out.txt" 2>"$work/results/err.txt" &
pid=$!
for _ in $(seq 600); do
  ! grep -q 'insert-off' "$work/results/err.txt" || break
  sleep 0.1
done
kill -INT "$pid"
code=0
wait "$pid" || code=$?
[[ $code == 130 ]] || complain "Ctrl-C: exit code $code: $(cat "$work/results/err.txt")"
nothing_left "Ctrl-C"
grep -q '^insert-off,predict,spill_count' "$work/results/interrupted/measurements.csv" ||
  complain "Ctrl-C: what was finished is not there"
"$replisim" observe "$work/results/interrupted/artefacts" >/dev/null || complain "Ctrl-C: the artefacts cannot be read"
# Other programs' segments come and go meanwhile.
[[ -z $(comm -13 <(echo "$shm_before") <(find /dev/shm -name 'PostgreSQL.*' -printf '%f\n' | sort)) ]] ||
  complain "shared memory is left in /dev/shm"
((failed)) || echo "nothing is left after ${#moments[@]} kills and Ctrl-C"
exit "$failed"
