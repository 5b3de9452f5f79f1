-- Names, columns, keys and sizes of the tables of one database, for `replisim import --tables`. Read-only.
--
--   psql -AtX -f calibration/tables.sql mydb > tables.txt
--
-- One line a table: relfilenode|schema.table|column type, ...|key column, ...|rows. It must be taken while the
-- tables have the files that the WAL speaks of: VACUUM FULL, CLUSTER, TRUNCATE and some ALTER TABLE give new ones.
select pg_relation_filenode(c.oid),
       n.nspname || '.' || c.relname,
       (select string_agg(replace(a.attname, ' ', '_') || ' ' || t.typname, ', ' order by a.attnum)
          from pg_attribute a join pg_type t on t.oid = a.atttypid
         where a.attrelid = c.oid and a.attnum > 0 and not a.attisdropped),
       (select string_agg(replace(a.attname, ' ', '_'), ', ' order by array_position(i.indkey::int2[], a.attnum))
          from pg_index i join pg_attribute a on a.attrelid = i.indrelid and a.attnum = any (i.indkey)
         where i.indrelid = c.oid and i.indisprimary),
       case when c.reltuples >= 0 then c.reltuples::bigint end
  from pg_class c join pg_namespace n on n.oid = c.relnamespace
 where c.relkind in ('r', 'm', 't') and pg_relation_filenode(c.oid) is not null
   and c.oid >= 16384 and n.nspname not in ('pg_catalog', 'information_schema')
 order by 2;
