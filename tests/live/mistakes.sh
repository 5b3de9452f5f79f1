#!/usr/bin/env bash
# What goes wrong with collect and lab: each one sentence with a next step, exit code 2.
#
# Usage: mistakes.sh REPLISIM SERVERS_FOLDER
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
replisim=${1:?which program}
servers=${2:?folder of the servers}
. "$here/lib.sh"
"$here/servers.sh" "$servers" 18

work=$(scratch)
pids=()
# shellcheck disable=SC2317
clean() {
  for pid in "${pids[@]}"; do kill "$pid" 2>/dev/null || true; done
  wait || true
  [[ ! -e $work/small ]] || ! mountpoint -q "$work/small" || umount "$work/small"
  rm -rf "$work"
}
trap clean EXIT

# The programs where the unprivileged user can run them.
cp -a "$servers/node_modules/postgres-18/native" "$work/native"
programs=$work/native/bin
mkdir "$work/server"
chmod 711 "$work/server"
[[ $(id -u) != 0 ]] || chown nobody:nogroup "$work/server"
port=$(free_port)
# A server that is no publisher, with a role that may look at nothing.
unprivileged "$programs/initdb" -D "$work/server/data" -U postgres -A trust -N --locale=C >"$work/initdb.txt"
printf 'create role app login;\n' |
  unprivileged "$programs/postgres" --single -D "$work/server/data" postgres >/dev/null
unprivileged "$programs/postgres" -D "$work/server/data" -p "$port" -c "unix_socket_directories=$work/server" \
  -c listen_addresses=127.0.0.1 >"$work/server.txt" 2>&1 &
pids+=($!)
for _ in $(seq 100); do
  ! grep -q 'ready to accept' "$work/server.txt" || break
  sleep 0.1
done
here_is="host=127.0.0.1 port=$port dbname=postgres"
collect=("$replisim" collect --duration 1s --out "$work/out")

expect_error "no connection string" "is no connection string" \
  "${collect[@]}" --publisher "host=a secret-word" --subscriber "$here_is"
expect_error "nobody listens" "check host and port" \
  "${collect[@]}" --publisher "host=127.0.0.1 port=1 user=postgres password=secret-word" --subscriber "$here_is"
expect_error "no such database" "check dbname" \
  "${collect[@]}" --publisher "host=127.0.0.1 port=$port user=postgres dbname=nowhere" --subscriber "$here_is"
expect_error "no such user" "check user" \
  "${collect[@]}" --publisher "host=127.0.0.1 port=$port user=nobody-known dbname=postgres" --subscriber "$here_is"
expect_error "missing rights" 'grant pg_monitor to "app"' \
  "${collect[@]}" --publisher "$here_is user=app" --subscriber "$here_is user=postgres"
expect_error "wal_level" "wal_level = replica" \
  "${collect[@]}" --publisher "$here_is user=postgres" --subscriber "$here_is user=postgres"
old_port=$(free_port)
python3 "$here/old_server.py" "$old_port" 13.22 >"$work/old.txt" &
pids+=($!)
for _ in $(seq 50); do
  [[ ! -s $work/old.txt ]] || break
  sleep 0.1
done
expect_error "too old a server" "needs 14 or later" \
  "${collect[@]}" --publisher "host=127.0.0.1 port=$old_port user=postgres" --subscriber "$here_is user=postgres"
! grep -r -q secret-word "$work/out" 2>/dev/null || complain "a password was written"

lab=("$replisim" lab --plan "$here/one_run.yaml" --no-fit --out "$work/lab" --work "$work")
expect_error "a port in use" "is in use by another program" "${lab[@]}" --bin "$work/native" --port "$port"
expect_error "no programs" "no programs initdb and postgres" "${lab[@]}" --bin "$here"
expect_error "no such folder" "there is no folder" "$replisim" lab --plan "$here/one_run.yaml" --out "$work/lab" \
  --bin "$work/native" --work "$work/nowhere"
sed 's/rows": [0-9]*/rows": 10000000000/' "$here/one_run.yaml" >"$work/large.yaml"
expect_error "a disk too small for the plan" "are free" "$replisim" lab --plan "$work/large.yaml" --no-fit \
  --bin "$work/native" --out "$work/lab" --work "$work"
printf 'replisim_lab_plan: 1\nname: x\nexperiment: []\n' >"$work/wrong.yaml"
code=0
"$replisim" lab --plan "$work/wrong.yaml" --bin "$work/native" --out "$work/lab" >"$work/wrong.txt" 2>&1 || code=$?
[[ $code == 2 ]] && grep -q "wrong.yaml:3:1: experiment: .*did you mean 'experiments'" "$work/wrong.txt" ||
  complain "a mistake in a plan: exit code $code: $(cat "$work/wrong.txt")"
if [[ $(id -u) == 0 ]] && mkdir "$work/small" &&
  mount -t tmpfs -o size=300m,mode=711 none "$work/small" 2>/dev/null; then
  # Enough for what the plan seems to need, but something else fills the disk meanwhile.
  (
    for _ in $(seq 600); do
      if [[ -e $(echo "$work"/small/replisim-lab-0/run-*/sub.log) ]]; then
        sleep 2
        dd if=/dev/zero of="$work/small/filler" bs=1M count=300 2>/dev/null || true
        break
      fi
      sleep 0.1
    done
  ) &
  pids+=($!)
  expect_error "a disk that fills" "free some" "$replisim" lab --plan "$here/one_run.yaml" --no-fit --repeats 40 \
    --bin "$work/native" --out "$work/lab" --work "$work/small"
else
  echo "skipped: a disk that fills (only root can make a small one)"
fi
[[ -z $(servers_below "$work/replisim-lab-$(id -u)") ]] || complain "servers are left"
exit "$failed"
