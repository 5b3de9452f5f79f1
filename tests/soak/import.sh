#!/usr/bin/env bash
# replisim import of a real server's WAL: a throwaway PostgreSQL, a pgbench run, one large transaction, wide
# rows and a rollback; then pg_waldump, import and run. Transactions and rows must be those that a logical slot
# decodes and that pg_stat_database counts.
#
# Usage: import.sh PROGRAM [SECONDS]
# Needs a PostgreSQL 15 or later (pg_config, /usr/lib/postgresql or $PG_BIN); without one it is skipped (77).
set -euo pipefail

program=$(realpath "$1")
seconds=${2:-30}
tables_sql=$(realpath "$(dirname "$0")/../../calibration/tables.sql")

bin=${PG_BIN:-$(ls -d /usr/lib/postgresql/*/bin 2>/dev/null | sort -V | tail -n 1)}
bin=${bin:-$(pg_config --bindir 2>/dev/null || true)}
for tool in initdb pg_ctl psql pgbench pg_waldump; do
  if [ ! -x "$bin/$tool" ]; then
    echo "import: no PostgreSQL server found ($tool); skipped"
    exit 77
  fi
done

folder=$(mktemp -d)
chmod 755 "$folder"
if [ "$(id -u)" = 0 ]; then # a server does not run as root
  owner=postgres
  as() { runuser -u "$owner" -- "$@"; }
else
  owner=$(id -un)
  as() { "$@"; }
fi
mkdir "$folder/server"
[ "$owner" = "$(id -un)" ] || chown "$owner" "$folder/server"
stop() {
  as "$bin/pg_ctl" -D "$folder/server/data" -m immediate stop >/dev/null 2>&1 || true
  rm -rf "$folder"
}
trap stop EXIT
sql() { as "$bin/psql" -XqAt -v ON_ERROR_STOP=1 -h "$folder/server" -p 54399 "$@" bench; }

as "$bin/initdb" -D "$folder/server/data" -A trust -N >/dev/null
as tee -a "$folder/server/data/postgresql.conf" >/dev/null <<CONF
wal_level = logical
listen_addresses = ''
unix_socket_directories = '$folder/server'
port = 54399
max_wal_size = 8GB
wal_keep_size = 8GB
checkpoint_timeout = 1d
autovacuum = off
fsync = off
CONF
as "$bin/pg_ctl" -D "$folder/server/data" -l "$folder/server/log" -w start >/dev/null
as "$bin/createdb" -h "$folder/server" -p 54399 bench
as "$bin/pgbench" -i -q -s 5 -h "$folder/server" -p 54399 bench 2>/dev/null
sql -c "create table big (a int primary key, b text, c timestamptz default now(), d bigint default 999);
        create table doc (id int primary key, title text, body text);
        alter table doc alter body set storage external" -c "vacuum analyze" -c checkpoint
sql -o /dev/null -c "select pg_create_logical_replication_slot('truth', 'test_decoding')"
counters="select xact_commit, xact_rollback, tup_inserted, tup_updated, tup_deleted from pg_stat_database
          where datname = 'bench'"
rows="select sum(n_tup_ins), sum(n_tup_upd), sum(n_tup_del) from pg_stat_user_tables"
flush() { sleep 1.5; } # sessions report their counters at their end; others within a second
flush
start=$(sql -c "select pg_current_wal_insert_lsn()")
sql -c "$counters" >"$folder/before"
sql -c "$rows" >"$folder/rows_before"

as "$bin/pgbench" -n -c 4 -T "$seconds" -h "$folder/server" -p 54399 bench >"$folder/pgbench" 2>/dev/null &
load=$!
sleep "$((seconds / 3))"
sql -c "insert into big (a, b) select i, md5(i::text) from generate_series(1, 200000) i"
sql -c "begin; update big set d = d + 1 where a <= 50000; savepoint s; delete from big where a <= 10000;
        rollback to s; delete from big where a > 190000; commit"
sql -c "begin; insert into big (a, b) select i, 'x' from generate_series(300001, 305000) i; rollback"
sql -c "insert into doc select i, 'title ' || i, repeat(md5(i::text), 400) from generate_series(1, 500) i"
sql -c "update doc set title = upper(title) where id <= 100"
sql -c "update doc set body = repeat(md5(title), 800) where id > 400"
wait "$load"
flush

end=$(sql -c "select pg_current_wal_insert_lsn()")
sql -c "$counters" >"$folder/after"
sql -c "$rows" >"$folder/rows_after"
sql -c "select data from pg_logical_slot_peek_changes('truth', null, null)" |
  awk '/^(BEGIN|COMMIT)/ {n[$1]++} /^table / {n[$3]++} END {for (k in n) print k, n[k]}' >"$folder/truth"
flush
sql -c "select total_bytes from pg_stat_replication_slots where slot_name = 'truth'" >"$folder/decoded_bytes"
as "$bin/psql" -XAtq -h "$folder/server" -p 54399 -f - bench <"$tables_sql" >"$folder/tables.txt"
sql -o /dev/null -c "select pg_switch_wal()"
as "$bin/pg_waldump" -p "$folder/server/data/pg_wal" --start "$start" --end "$end" >"$folder/wal.txt" 2>/dev/null

begin=$SECONDS
"$program" import "$folder/wal.txt" --tables "$folder/tables.txt" --out "$folder/mine.yaml" --server-version 15 \
  --format json >"$folder/import.json"
"$program" run "$folder/mine.yaml" --format json >"$folder/run.json"
echo "import and run: $((SECONDS - begin)) s for $(stat -c %s "$folder/wal.txt") bytes of dump"
if [ -n "${KEEP:-}" ]; then
  mkdir -p "$KEEP"
  cp "$folder"/*.{txt,yaml,csv,json} "$folder"/{truth,decoded_bytes,pgbench,before,after} "$KEEP"
fi

/usr/bin/env python3 - "$folder" <<'PY'
import json, re, sys
folder = sys.argv[1]
read = lambda name: open(f"{folder}/{name}").read()
cells = lambda name: [int(cell) for cell in read(name).strip().split("|")]
commits, rollbacks, *database_rows = [b - a for a, b in zip(cells("before"), cells("after"))]
rows = [b - a for a, b in zip(cells("rows_before"), cells("rows_after"))]
decoded_bytes = int(read("decoded_bytes"))
truth = {line.split()[0].rstrip(":"): int(line.split()[1]) for line in read("truth").splitlines()}
pgbench = int(re.search(r"actually processed: (\d+)", read("pgbench")).group(1))
found = json.loads(read("import.json"))
figures, run = found["figures"], json.loads(read("run.json"))["metrics"]
decoded = sum(truth.get(kind, 0) for kind in ("INSERT", "UPDATE", "DELETE"))
print(f"pg_stat_database: {commits} commits, {rollbacks} rollbacks; pgbench: {pgbench} transactions")
print(f"user tables: {rows} rows inserted, updated, deleted, rolled back ones included")
print(f"slot: {truth}")
with_rows = figures["committed_transactions"] - figures["committed_without_rows"]
print(f"import: {figures['committed_transactions']:.0f} commits, {with_rows:.0f} with rows, "
      f"{figures['rolled_back_transactions']:.0f} rolled back, {figures['committed_changes']:.0f} changes")
print(f"run: {run['committed_transactions']:.0f} transactions, {run['committed_changes']:.0f} changes")
wal_error = run["wal_bytes"] / figures["change_wal_bytes"] - 1
# A server's total_bytes leaves out the chunks of wide values once they are put together; a run's has them.
chunks = figures["out_of_line_bytes"] + 140 * figures["out_of_line_chunks"]
size_error = (run["total_bytes"] - chunks) / decoded_bytes - 1
print(f"WAL of the changes, page images left out: {figures['change_wal_bytes']:.0f} B recorded, "
      f"{run['wal_bytes']:.0f} B in the run ({100 * wal_error:+.2f} %)")
print(f"decoded (total_bytes of the slot): {decoded_bytes} B on the server, {run['total_bytes']:.0f} B in the run, "
      f"of it {chunks:.0f} B chunks ({100 * size_error:+.2f} %)")
for line in found["notes"]:
    print("  " + line)
wrong = []
def same(what, a, b, off=0):
    if abs(a - b) > off:
        wrong.append(f"{what}: {a:.0f} against {b:.0f}")
same("transactions with rows, import against the slot", with_rows, pgbench + 5)
same("changes, import against the slot", figures["committed_changes"], decoded)
same("changes, run against import", run["committed_changes"], figures["committed_changes"])
same("transactions, run against import", run["committed_transactions"], with_rows)
# Rolled back: 10,000 deleted rows after the savepoint, 5,000 inserted ones.
same("rows of user tables", sum(rows), decoded + 15000)
# Sessions that only read commit without a record: a few queries of this script and of pgbench's own.
if not 0 <= commits - figures["committed_transactions"] <= 60:
    wrong.append(f"commits: pg_stat_database {commits}, WAL {figures['committed_transactions']:.0f}")
same("rolled back transactions", figures["rolled_back_transactions"], rollbacks)
# Widths are those of a mean row; index records are modelled.
if abs(wal_error) > 0.03 or abs(size_error) > 0.02:
    wrong.append("sizes of the run are not near those of the server")
sys.exit("import: " + "; ".join(wrong) if wrong else 0)
PY
