#!/usr/bin/env bash
# The statements that `replisim plan` prints run on a real server: a throwaway PostgreSQL with the tables,
# publications and subscriptions of a scenario, every statement of the plan by psql, and the settings as the
# server then sees them.
#
# Usage: statements.sh PROGRAM SCENARIO_FOLDER
# Needs a PostgreSQL 15 or later (/usr/lib/postgresql, pg_config or $PG_BIN); without one it is skipped (77).
set -euo pipefail

program=$(realpath "$1")
scenarios=$(realpath "$2")

bin=${PG_BIN:-$(ls -d /usr/lib/postgresql/*/bin 2>/dev/null | sort -V | tail -n 1)}
bin=${bin:-$(pg_config --bindir 2>/dev/null || true)}
for tool in initdb pg_ctl psql; do
  if [ ! -x "$bin/$tool" ]; then
    echo "statements: no PostgreSQL server found ($tool); skipped"
    exit 77
  fi
done

folder=$(mktemp -d)
chmod 755 "$folder"
if [ "$(id -u)" = 0 ]; then # a server does not run as root
  owner=postgres
  id "$owner" >/dev/null 2>&1 || owner=nobody
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
sql() { as "$bin/psql" -XqAt -v ON_ERROR_STOP=1 -h "$folder/server" -p 54398 "$@" postgres; }

as env LC_ALL=C "$bin/initdb" -D "$folder/server/data" -A trust -N >/dev/null
as tee -a "$folder/server/data/postgresql.conf" >/dev/null <<CONF
wal_level = logical
listen_addresses = ''
unix_socket_directories = '$folder/server'
port = 54398
fsync = off
max_replication_slots = 20
CONF
as env LC_ALL=C "$bin/pg_ctl" -D "$folder/server/data" -l "$folder/server/log" -w start >/dev/null

failed=0
# expect WHAT IS WANTED
expect() {
  if [ "$2" != "$3" ]; then
    echo "statements: $1 is '$2', expected '$3'"
    failed=1
  fi
}

# One subscription into several: publications, slots and subscriptions.
sql -c "create table t1 (id bigint primary key); create table t2 (like t1 including all);
        create table t3 (like t1 including all); create table t4 (like t1 including all);
        create table t5 (like t1 including all); create table t6 (like t1 including all);
        create table t7 (like t1 including all); create table t8 (like t1 including all)" \
  -c "create publication p for table t1, t2, t3, t4, t5, t6, t7, t8" \
  -c "create subscription s connection 'dbname=postgres' publication p with (connect = false, slot_name = none)" \
  2>/dev/null
"$program" plan "$scenarios/planning/one_or_eight_subscriptions.yaml" --set observe.until=5s \
  --sql "$folder/split.sql" >"$folder/split.txt"
cat "$folder/split.sql"
chmod 644 "$folder/split.sql"
sql -f "$folder/split.sql" >/dev/null 2>"$folder/split.err" || { cat "$folder/split.err"; failed=1; }
wanted=$(grep -c '^CREATE SUBSCRIPTION' "$folder/split.sql")
expect "the number of new subscriptions" \
  "$(sql -c "select count(*) from pg_subscription where subname <> 's'")" "$wanted"
expect "the number of slots" "$(sql -c 'select count(*) from pg_replication_slots')" "$wanted"
per_table="select count(*) n from pg_publication_tables group by tablename"
expect "every table's number of publications" \
  "$(sql -c "select string_agg(n::text, ',') from ($per_table) x")" "1,1,1,1,1,1,1,1"

# Every kind of statement: settings, options of a subscription, replica identity, a publication's operations.
cat >"$folder/all.yaml" <<'YAML'
replisim: 1
name: statements of every kind
profile: lab-2core
hosts: {db: lab-2core}
servers: {pub: {host: db, version: 15}, sub: {host: db, version: 15}}
tables: {t1: {columns: {id: int8}, primary_key: [id]}, t2: {columns: {id: int8}, primary_key: [id]}}
publications: {p: {server: pub, tables: [t1, t2]}}
subscriptions: {s: {server: sub, publication: p, streaming: off}}
workload: {w: {server: pub, transaction: [{insert: t1, rows: 1000}]}}
plan:
  find: cheapest
  promises: [total_s < 1h]
  knobs:
    - {field: subscriptions.s.streaming, values: [{value: on, cost: 1}]}
    - {field: subscriptions.s.binary, values: [on]}
    - {field: subscriptions.s.synchronous_commit, values: [on]}
    - {field: subscriptions.s.disable_on_error, values: [on]}
    - {field: tables.t2.replica_identity, values: [full]}
    - {field: publications.p.publish, values: ["insert, update"]}
    - {field: servers.pub.settings.logical_decoding_work_mem, values: [256MB]}
    - {field: servers.pub.settings.max_slot_wal_keep_size, values: [50GB]}
    - {field: servers.pub.settings.wal_sender_timeout, values: [5min]}
    - {field: servers.pub.settings.max_wal_size, values: [8GB]}
    - {field: servers.pub.settings.wal_compression, values: [on]}
    - {field: servers.pub.settings.checkpoint_timeout, values: [15min]}
    - {field: servers.sub.settings.max_logical_replication_workers, values: [8]}
    - {field: servers.sub.settings.deadlock_timeout, values: [500ms]}
YAML
chmod 644 "$folder/all.yaml"
"$program" plan "$folder/all.yaml" --sql "$folder/all.sql" >"$folder/all.txt"
cat "$folder/all.sql"
chmod 644 "$folder/all.sql"
sql -f "$folder/all.sql" >/dev/null 2>"$folder/all.err" || { cat "$folder/all.err"; failed=1; }
sleep 1 # the reload
expect "logical_decoding_work_mem" "$(sql -c 'show logical_decoding_work_mem')" 256MB
expect "max_slot_wal_keep_size" "$(sql -c 'show max_slot_wal_keep_size')" 50GB
expect "wal_sender_timeout" "$(sql -c 'show wal_sender_timeout')" 5min
expect "max_wal_size" "$(sql -c 'show max_wal_size')" 8GB
expect "checkpoint_timeout" "$(sql -c 'show checkpoint_timeout')" 15min
expect "deadlock_timeout" "$(sql -c 'show deadlock_timeout')" 500ms
expect "pending restarts" "$(sql -c 'select string_agg(name, $$,$$) from pg_settings where pending_restart')" \
  max_logical_replication_workers
expect "options of the subscription" \
  "$(sql -c "select substream, subbinary, subsynccommit, subdisableonerr from pg_subscription where subname = 's'")" \
  "t|t|on|t"
expect "the replica identity" "$(sql -c "select relreplident from pg_class where relname = 't2'")" f
expect "the published operations" \
  "$(sql -c "select pubinsert, pubupdate, pubdelete from pg_publication where pubname = 'p'")" "t|t|f"
exit $failed
