-- Gathers the statistics views that concern logical replication, again and again, as one JSON object a row.
-- Read-only: a role in pg_monitor is enough. For PostgreSQL 14 to 19, on publishers and subscribers alike.
--
--   psql -XqAt -v interval=10 -f calibration/collect.sql mydb > pub.views    # until Ctrl-C
--   timeout 1h psql -XqAt -f calibration/collect.sql mydb | zstd > pub.views.zst
--
-- `replisim observe pub.views` reads it. The columns are those that the server has.
\set ON_ERROR_STOP on
\if :{?interval}
\else
  \set interval 10
\endif
set application_name = 'replisim collect';
set statement_timeout = '30s';
select current_setting('server_version_num')::int >= 140000 as has_14,
       current_setting('server_version_num')::int >= 150000 as has_15,
       current_setting('server_version_num')::int >= 160000 as has_16
\gset
\if :has_14
\else
  \warn 'collect.sql needs PostgreSQL 14 or later'
  \quit
\endif
-- What a server lacks reads as nothing.
\set subscription_stats 'select null::text, null::json where false'
\set io 'select null::text, null::json where false'
\if :has_15
  \set subscription_stats 'select ''pg_stat_subscription_stats'', row_to_json(v) from pg_stat_subscription_stats v'
\endif
\if :has_16
  \set io 'select ''pg_stat_io'', row_to_json(v) from pg_stat_io v where coalesce(reads, 0) + coalesce(writes, 0) + coalesce(extends, 0) + coalesce(fsyncs, 0) > 0'
\endif
select json_build_object('collected_at', statement_timestamp(), 'view', sampled.view, 'row', sampled.row)
  from (select 'server'::text as view,
               json_build_object('server_version_num', current_setting('server_version_num')::int,
                                 'in_recovery', pg_is_in_recovery(),
                                 'wal_lsn', case when not pg_is_in_recovery() then pg_current_wal_lsn() end) as row
        union all select 'pg_stat_replication', row_to_json(v) from pg_stat_replication v
        union all select 'pg_replication_slots', row_to_json(v) from pg_replication_slots v
        union all select 'pg_stat_replication_slots', row_to_json(v) from pg_stat_replication_slots v
        union all select 'pg_stat_subscription', row_to_json(v) from pg_stat_subscription v
        union all :subscription_stats
        union all select 'pg_stat_wal', row_to_json(v) from pg_stat_wal v
        union all :io
        union all select 'pg_stat_database', row_to_json(v) from pg_stat_database v where datname = current_database()
        union all select 'pg_locks', row_to_json(v) from pg_locks v
                   where not granted or locktype = 'applytransaction') as sampled
\watch :interval
