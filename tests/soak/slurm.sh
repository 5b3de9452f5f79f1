#!/usr/bin/env bash
# Starts a Slurm of one node on this machine (munged, slurmctld, slurmd) in a folder of its own, runs a command
# with it, and ends it again. Needs root and the packages slurm-wlm and munge.
#
# Usage: tests/soak/slurm.sh FOLDER COMMAND...
set -euo pipefail
folder=$(realpath "${1:?which folder}")
shift
host=$(hostname -s)
export SLURM_CONF=$folder/slurm.conf
mkdir -p "$folder"/{spool,state,munge}
chmod 700 "$folder/munge"

cpus=$(nproc)
cat >"$SLURM_CONF" <<CONF
ClusterName=soak
SlurmctldHost=$host(127.0.0.1)
SlurmUser=root
SlurmdUser=root
AuthType=auth/munge
AuthInfo=socket=$folder/munge/socket
CryptoType=crypto/munge
SlurmctldPort=26817
SlurmdPort=26818
StateSaveLocation=$folder/state
SlurmdSpoolDir=$folder/spool
SlurmctldPidFile=$folder/slurmctld.pid
SlurmdPidFile=$folder/slurmd.pid
SlurmctldLogFile=$folder/slurmctld.log
SlurmdLogFile=$folder/slurmd.log
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
JobAcctGatherType=jobacct_gather/none
AccountingStorageType=accounting_storage/none
MpiDefault=none
ReturnToService=2
SchedulerType=sched/backfill
SelectType=select/cons_tres
SelectTypeParameters=CR_CPU
NodeName=$host NodeAddr=127.0.0.1 CPUs=$cpus State=UNKNOWN
PartitionName=all Nodes=ALL Default=YES MaxTime=INFINITE State=UP
CONF

pids=()
stop() {
  for pid in "${pids[@]}"; do
    kill "$pid" 2>/dev/null || true
  done
  for pid in "${pids[@]}"; do
    wait "$pid" 2>/dev/null || true
  done
}
trap stop EXIT

dd if=/dev/urandom of="$folder/munge/key" bs=1024 count=1 status=none
chmod 400 "$folder/munge/key"
munged --foreground --force --key-file="$folder/munge/key" --socket="$folder/munge/socket" \
  --pid-file="$folder/munge/pid" --log-file="$folder/munge/log" --seed-file="$folder/munge/seed" \
  >"$folder/munged.out" 2>&1 &
pids+=($!)
for _ in $(seq 100); do
  [[ -S $folder/munge/socket ]] && break
  sleep 0.1
done
slurmctld -D >"$folder/slurmctld.out" 2>&1 &
pids+=($!)
slurmd -D -N "$host" >"$folder/slurmd.out" 2>&1 &
pids+=($!)

ready=0
for _ in $(seq 300); do
  if sinfo --noheader --format=%t 2>/dev/null | grep -qE '^(idle|mix|alloc)'; then
    ready=1
    break
  fi
  sleep 0.2
done
if ((ready == 0)); then
  echo "slurm: the node does not come up" >&2
  tail -n 20 "$folder"/*.out "$folder"/*.log >&2 || true
  exit 1
fi
"$@"
