#!/usr/bin/env bash
# replisim observe over logs of 1 GB, as stderr, csvlog and jsonlog: bounded memory, and fast enough.
#
# Usage: observe.sh PROGRAM [LEAST_MB_PER_S]   (0: only the memory is judged)
set -euo pipefail

program=$1
least=${2:-0}
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT

# Lines as a busy server with log_min_duration_statement = 0 writes them, with decoding starts now and then.
awk -v folder="$folder" 'BEGIN {
  after = "Streaming transactions committing after"
  for (i = 0; i < 80000; i++) {
    t = sprintf("2026-01-01 %02d:%02d:%02d.%03d UTC", i / 3600 % 24, i / 60 % 60, i % 60, i % 1000)
    pid = 1000 + i % 50
    text = sprintf("duration: %d.%03d ms  statement: UPDATE pgbench_accounts SET abalance = abalance + %d", \
                   i % 9, i % 1000, i % 4000) sprintf(" WHERE aid = %d;", i)
    printf "%s [%d] LOG:  %s\n", t, pid, text > folder "/stderr.log"
    session = sprintf("6925a1b4.%x", pid)
    printf "%s,\"u\",\"db\",%d,\"[local]\",%s,%d,\"UPDATE\",%s,3/%d,0,LOG,00000,", \
           t, pid, session, i, t, i > folder "/csv.csv"
    printf "\"%s\",,,,,,,,,\"app\",\"client backend\",,0\n", text > folder "/csv.csv"
    printf "{\"timestamp\":\"%s\",\"user\":\"u\",\"dbname\":\"db\",\"pid\":%d,\"session_id\":\"%s\",\"line_num\":%d,", \
           t, pid, session, i > folder "/json.json"
    printf "\"ps\":\"UPDATE\",\"vxid\":\"3/%d\",\"txid\":0,\"error_severity\":\"LOG\",\"message\":\"%s\",", \
           i, text > folder "/json.json"
    printf "\"detail\":\"Parameters: $1 = \\\"x\\\"\",\"backend_type\":\"client backend\",\"query_id\":0}\n" \
           > folder "/json.json"
    if (i % 1000 == 0) {
      printf "%s [7] LOG:  starting logical decoding for slot \"s\"\n", t > folder "/stderr.log"
      printf "%s [7] DETAIL:  %s 1/%X, reading WAL from 0/%X.\n", t, after, i, i > folder "/stderr.log"
    }
  }
}'

for form in stderr.log csv.csv json.json; do
  copies=$((1000000000 / $(stat -c %s "$folder/$form") + 1))
  for ((i = 0; i < copies; i++)); do cat "$folder/$form"; done >"$folder/server.log"
  /usr/bin/env python3 - "$program" "$folder/server.log" "$least" "$form" <<'PY'
import os, resource, subprocess, sys, time
program, log, least, form = sys.argv[1], sys.argv[2], float(sys.argv[3]), sys.argv[4]
begin = time.monotonic()
out = subprocess.run([program, "observe", log], capture_output=True, text=True, check=True).stdout
passed = time.monotonic() - begin
usage = resource.getrusage(resource.RUSAGE_CHILDREN)
cpu, memory_mb, mb = usage.ru_utime + usage.ru_stime, usage.ru_maxrss / 1024, os.path.getsize(log) / 1e6
print(f"{form} of {mb:.0f} MB: {passed:.1f} s, {cpu:.1f} s of CPU ({mb / cpu:.0f} MB/s a core), {memory_mb:.0f} MB")
lines = [line for line in out.splitlines() if "statement_s" in line]
if not lines or memory_mb > 200 or mb / cpu < least:
    sys.exit("observe: too much memory, too slow, or nothing found")
PY
done
