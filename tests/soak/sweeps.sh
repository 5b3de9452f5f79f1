#!/usr/bin/env bash
# Long tests of sweeps into results databases, with the real program.
#
# Usage: tests/soak/sweeps.sh PROGRAM PART...
# Parts: kill slurm parallel disk speed workers. Each says what it saw and fails with a sentence.
set -euo pipefail
program=$(realpath "${1:?which program}")
shift
here=$(cd "$(dirname "$0")" && pwd)
root=$(cd "$here/../.." && pwd)
export REPLISIM_HOME=$root
scenario=$root/scenarios/lab/streaming_insert.yaml
memory=servers.pub.settings.logical_decoding_work_mem
undone='workload.batch.transaction[0].rolled_back'
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT

say() { printf 'soak: %s\n' "$*"; }
fail() {
  printf 'soak: FAILED: %s\n' "$*" >&2
  exit 1
}
now() { date +%s.%N; }
calc() { awk "BEGIN { printf \"%.3f\", $1 }"; }
holds() { awk "BEGIN { exit !($1) }"; }
rows() { sqlite3 "$1" 'SELECT count(*) FROM run' 2>/dev/null || echo 0; }
same() {
  "$program" results "$1" export --format json >"$scratch/a.json"
  "$program" results "$2" export --format json >"$scratch/b.json"
  cmp "$scratch/a.json" "$scratch/b.json" || fail "$1 and $2 differ"
}
# points COUNT: the options of a sweep of COUNT points (a multiple of 10) over memory and rolled-back share.
points() {
  printf '%s\n' --vary "$memory=64kB..64MB/$(($1 / 10))" --vary "$undone=0%..45%/10" \
    --set subscriptions.s.streaming=parallel
}
# With pieces of work of 40 ms: times within 0.1 % of those at the automatic resolution, four times as fast.
coarse() { points "$1" && printf '%s\n' --set simulation.time_resolution=40ms; }
small() { points "$1" && printf '%s\n' --set 'workload.batch.transaction[0].rows=20000'; }

part_kill() {
  mapfile -t options < <(small 2000)
  "$program" sweep "$scenario" "${options[@]}" --db "$scratch/whole.db" >/dev/null
  RANDOM=${SOAK_SEED:-20260}
  local targets kept=0
  targets=$(for _ in $(seq 10); do echo $((RANDOM % 1900 + 10)); done | sort -n)
  for target in $targets; do
    "$program" sweep "$scenario" "${options[@]}" --db "$scratch/killed.db" >/dev/null 2>&1 &
    local pid=$!
    while kill -0 "$pid" 2>/dev/null && (($(rows "$scratch/killed.db") < target)); do sleep 0.02; done
    sleep "0.0$((RANDOM % 100 + 100))"
    kill -9 "$pid" 2>/dev/null || true
    wait "$pid" 2>/dev/null || true
    local found
    found=$(rows "$scratch/killed.db")
    ((found >= kept)) || fail "$found rows after a kill, $kept before: finished points were lost"
    kept=$found
    say "killed at $found rows"
  done
  "$program" sweep "$scenario" "${options[@]}" --db "$scratch/killed.db" >/dev/null
  same "$scratch/whole.db" "$scratch/killed.db"
  say "kill: ten kills, 2000 points, the content is that of the uninterrupted sweep"
}

part_slurm() {
  mapfile -t options < <(small 400)
  "$program" sweep "$scenario" "${options[@]}" --db "$scratch/whole.db" >/dev/null
  mkdir "$scratch/slurm"
  "$here/slurm.sh" "$scratch/slurm" "$program" sweep "$scenario" "${options[@]}" --jobs 1 \
    --db "$scratch/array.db" --slurm --shards 4 --wait --slurm-options '--cpus-per-task=1'
  same "$scratch/whole.db" "$scratch/array.db"
  say "slurm: four shards of 400 points as a job array, merged: equal to the unsharded sweep"
}

part_parallel() {
  mapfile -t options < <(small 400)
  "$program" sweep "$scenario" "${options[@]}" --db "$scratch/whole.db" >/dev/null
  parallel --will-cite --quote "$program" sweep "$scenario" "${options[@]}" --jobs 1 \
    --shard '{}/4' --db "$scratch/local-{}.db" ::: 1 2 3 4 >/dev/null
  "$program" results merge "$scratch/local.db" "$scratch"/local-?.db >/dev/null
  same "$scratch/whole.db" "$scratch/local.db"
  say "parallel: four shards on this machine, merged: equal to the unsharded sweep"
  if [[ ! -x /usr/sbin/sshd ]]; then
    say "parallel: no sshd here, so not over ssh"
    return
  fi
  mkdir "$scratch/ssh"
  export program scenario scratch
  # shellcheck disable=SC2016
  "$here/sshd.sh" "$scratch/ssh" bash -c 'parallel --will-cite --quote --ssh "$SOAK_SSH" -S 2/127.0.0.1 \
    --env REPLISIM_HOME "$program" sweep "$scenario" "$@" --jobs 1 --shard "{}/4" --db "$scratch/ssh-{}.db" \
    ::: 1 2 3 4' soak "${options[@]}" >/dev/null
  "$program" results merge "$scratch/ssh.db" "$scratch"/ssh-?.db >/dev/null
  same "$scratch/whole.db" "$scratch/ssh.db"
  say "parallel: four shards over ssh, merged: equal to the unsharded sweep"
}

part_disk() {
  mapfile -t options < <(small 400)
  mkdir "$scratch/small"
  mount -t tmpfs -o size=300k tmpfs "$scratch/small" || fail "cannot mount a small file system (root?)"
  local code=0 message
  message=$("$program" sweep "$scenario" "${options[@]}" --db "$scratch/small/x.db" 2>&1 >/dev/null) || code=$?
  cp "$scratch/small"/x.db* "$scratch" || true
  umount "$scratch/small"
  ((code == 2)) || fail "a full disk gives exit code $code"
  [[ $message == *x.db* && $(wc -l <<<"$message") == 1 ]] || fail "a full disk says: $message"
  local found
  found=$(rows "$scratch/x.db")
  ((found > 0 && found < 400)) || fail "$found rows after a full disk"
  "$program" sweep "$scenario" "${options[@]}" --db "$scratch/x.db" >/dev/null
  "$program" sweep "$scenario" "${options[@]}" --db "$scratch/whole.db" >/dev/null
  same "$scratch/whole.db" "$scratch/x.db"
  say "disk: full after $found of 400 rows, exit code 2, '$message'; continued elsewhere: equal"
}

part_speed() {
  local count=${SOAK_POINTS:-10000} limit_s=${SOAK_LIMIT_S:-90}
  mapfile -t options < <(coarse "$count")
  local start end wall cpu
  start=$(now)
  "$program" sweep "$scenario" "${options[@]}" --jobs 2 --db "$scratch/speed.db" >"$scratch/speed.txt" &
  local pid=$! peak=0
  while kill -0 "$pid" 2>/dev/null; do
    local rss
    rss=$(awk '/VmRSS/ { print $2 }' "/proc/$pid/status" 2>/dev/null || true)
    ((${rss:-0} > peak)) && peak=$rss
    sleep 0.5
  done
  wait "$pid"
  end=$(now)
  wall=$(calc "$end - $start")
  cpu=$(sqlite3 "$scratch/speed.db" 'SELECT round(avg(cpu_s) * 1000, 2) FROM cost')
  local share
  share=$(sqlite3 "$scratch/speed.db" "SELECT round(sum(cpu_s) / $wall, 2) FROM cost")
  local size
  size=$(stat -c %s "$scratch/speed.db")
  say "speed: $(rows "$scratch/speed.db") points in $wall s on 2 workers; $cpu ms of CPU a point in the workers," \
    "which got $share CPUs;" \
    "largest parent $peak kB; $((size / count)) bytes a point on disk; load $(cut -d' ' -f1-3 /proc/loadavg)"
  holds "$wall < $limit_s" || fail "$count points took $wall s, more than $limit_s s"
}

spin() { awk 'BEGIN { for (i = 0; i < 60000000; i++) x += i }'; }

part_workers() {
  mapfile -t options < <(points 1000)
  local round best=0
  for round in 1 2 3; do
    local a b c d e
    a=$(now)
    spin
    b=$(now)
    { spin & spin; wait; }
    c=$(now)
    "$program" sweep "$scenario" "${options[@]}" --jobs 1 --db "$scratch/one-$round.db" >/dev/null
    d=$(now)
    "$program" sweep "$scenario" "${options[@]}" --jobs 2 --db "$scratch/two-$round.db" >/dev/null
    e=$(now)
    local loop sweep ratio
    loop=$(calc "2 * ($b - $a) / ($c - $b)")
    sweep=$(calc "($d - $c) / ($e - $d)")
    ratio=$(calc "$sweep / $loop")
    say "workers: two copies of a loop gain $loop, two workers $sweep: $ratio of it"
    holds "$ratio > $best" && best=$ratio
  done
  holds "$best >= 0.92" || fail "two workers gain $best of what two copies of a loop gain, not 0.92"
}

for part in "$@"; do
  "part_$part"
done
