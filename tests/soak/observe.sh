#!/usr/bin/env bash
# replisim observe over a log of 1 GB: bounded memory, and fast enough.
#
# Usage: observe.sh PROGRAM [LEAST_MB_PER_S]   (0: only the memory is judged)
set -euo pipefail

program=$1
least=${2:-0}
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT

# Lines as a busy server with log_min_duration_statement = 0 writes them, with decoding starts now and then.
awk 'BEGIN {
  for (i = 0; i < 80000; i++) {
    t = sprintf("2026-01-01 %02d:%02d:%02d.%03d UTC", i / 3600 % 24, i / 60 % 60, i % 60, i % 1000)
    printf "%s [%d] LOG:  duration: %d.%03d ms  statement: ", t, 1000 + i % 50, i % 9, i % 1000
    printf "UPDATE pgbench_accounts SET abalance = abalance + %d WHERE aid = %d;\n", i % 4000, i
    if (i % 1000 == 0) {
      printf "%s [7] LOG:  starting logical decoding for slot \"s\"\n", t
      printf "%s [7] DETAIL:  Streaming transactions committing after 1/%X, reading WAL from 0/%X.\n", t, i, i
    }
  }
}' >"$folder/block"
copies=$((1000000000 / $(stat -c %s "$folder/block") + 1))
for ((i = 0; i < copies; i++)); do cat "$folder/block"; done >"$folder/server.log"
bytes=$(stat -c %s "$folder/server.log")

/usr/bin/env python3 - "$program" "$folder/server.log" "$bytes" "$least" <<'PY'
import resource, subprocess, sys, time
program, log, size, least = sys.argv[1], sys.argv[2], int(sys.argv[3]), float(sys.argv[4])
begin = time.monotonic()
out = subprocess.run([program, "observe", log], capture_output=True, text=True, check=True).stdout
passed = time.monotonic() - begin
usage = resource.getrusage(resource.RUSAGE_CHILDREN)
cpu, memory_mb, rate = usage.ru_utime + usage.ru_stime, usage.ru_maxrss / 1024, size / 1e6
print(f"{rate:.0f} MB: {passed:.1f} s, {cpu:.1f} s of CPU ({rate / cpu:.0f} MB/s a core), {memory_mb:.0f} MB of memory")
lines = [line for line in out.splitlines() if "statement_s" in line]
if not lines or memory_mb > 200 or rate / cpu < least:
    sys.exit("observe: too much memory, too slow, or nothing found")
PY
