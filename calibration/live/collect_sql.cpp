#include "calibration/live/collect_sql.hpp"

#include "calibration/live/connection.hpp"
#include "models/settings.hpp"

#include <vector>

#include <fmt/format.h>

namespace replisim::live {

namespace {

/// Settings the model knows. Whatever could hold a connection string or a command stays where it is.
std::string setting_names() {
  std::vector<std::string> names;
  for (const GucDescriptor& guc : guc_table()) {
    const std::string name(guc.name);
    bool is_telling = false;
    for (const char* part : {"conninfo", "command", "passphrase", "password", "_file", "_directory"})
      is_telling = is_telling or name.find(part) != std::string::npos;
    if (not is_telling)
      names.push_back(quoted_text(name));
  }
  return fmt::format("{}", fmt::join(names, ", "));
}

constexpr const char* columns_json =
    R"((select json_agg(json_build_object('name', a.attname, 'type', t.typname,
      'width', s.avg_width, 'null_frac', s.null_frac) order by a.attnum)
    from pg_attribute a join pg_type t on t.oid = a.atttypid
    left join pg_stats s on s.schemaname = n.nspname and s.tablename = c.relname and s.attname = a.attname
      and not s.inherited
    where a.attrelid = c.oid and a.attnum > 0 and not a.attisdropped))";

constexpr const char* key_json =
    R"((select json_agg(a.attname order by array_position(i.indkey::int2[], a.attnum))
    from pg_index i join pg_attribute a on a.attrelid = i.indrelid and a.attnum = any (i.indkey)
    where i.indrelid = c.oid and i.indisprimary))";

std::string tables_json() {
  return fmt::format(R"((select coalesce(json_agg(json_build_object('schema', n.nspname, 'name', c.relname,
    'rows', greatest(c.reltuples, u.n_live_tup), 'bytes', pg_relation_size(c.oid), 'identity', c.relreplident,
    'indexes', (select count(*) from pg_index i where i.indrelid = c.oid and not i.indisprimary),
    'triggers', (select count(*) from pg_trigger g where g.tgrelid = c.oid and not g.tgisinternal),
    'foreign_keys', (select count(*) from pg_constraint k where k.conrelid = c.oid and k.contype = 'f'),
    'inserted', u.n_tup_ins, 'updated', u.n_tup_upd, 'deleted', u.n_tup_del, 'hot', u.n_tup_hot_upd,
    'index_scans', u.idx_scan, 'columns', {}, 'key', {}) order by n.nspname, c.relname), '[]')
    from pg_class c join pg_namespace n on n.oid = c.relnamespace
    join pg_stat_user_tables u on u.relid = c.oid where c.relkind = 'r'))",
                     columns_json, key_json);
}

std::string subscriptions_json(int version) {
  constexpr int parallel_since = 160000;
  const char* streaming = version >= parallel_since
                              ? "case s.substream when 'f' then 'off' when 't' then 'on' else 'parallel' end"
                              : "case when s.substream then 'on' else 'off' end";
  return fmt::format(
      R"((select coalesce(json_agg(json_build_object('name', s.subname, 'enabled', s.subenabled,
    'streaming', {}, 'binary', s.subbinary, 'synchronous_commit', s.subsynccommit, 'slot', s.subslotname,
    'publications', s.subpublications) order by s.subname), '[]')
    from pg_subscription s where s.subdbid = (select oid from pg_database where datname = current_database())))",
      streaming);
}

constexpr const char* publications_json = R"((select coalesce(json_agg(json_build_object('name', p.pubname,
    'insert', p.pubinsert, 'update', p.pubupdate, 'delete', p.pubdelete,
    'tables', (select json_agg(json_build_object('schema', t.schemaname, 'name', t.tablename))
               from pg_publication_tables t where t.pubname = p.pubname)) order by p.pubname), '[]')
    from pg_publication p))";

} // namespace

std::string views_sql(int version) {
  std::string out =
      R"(select json_build_object('collected_at', statement_timestamp(), 'view', v.view, 'row', v.row)::text
    from (select 'server'::text as view,
      json_build_object('server_version_num', current_setting('server_version_num')::int,
      'in_recovery', pg_is_in_recovery(),
      'wal_lsn', case when not pg_is_in_recovery() then pg_current_wal_lsn() end) as row)";
  std::vector<std::string> views = {"pg_stat_replication", "pg_replication_slots",
                                    "pg_stat_replication_slots", "pg_stat_subscription", "pg_stat_wal"};
  constexpr int since_15 = 150000;
  constexpr int since_16 = 160000;
  if (version >= since_15)
    views.emplace_back("pg_stat_subscription_stats");
  for (const std::string& view : views)
    out += fmt::format("\n union all select '{0}', row_to_json(x) from {0} x", view);
  out += "\n union all select 'pg_stat_database', row_to_json(x) from pg_stat_database x where datname = "
         "current_database()";
  if (version >= since_16)
    out += "\n union all select 'pg_stat_io', row_to_json(x) from pg_stat_io x where coalesce(reads, 0) + "
           "coalesce(writes, 0) + coalesce(extends, 0) + coalesce(fsyncs, 0) > 0";
  out += "\n union all select 'pg_locks', row_to_json(x) from pg_locks x where not granted or locktype = "
         "'applytransaction'";
  return out + ") v";
}

std::string facts_sql(int version) {
  return fmt::format(R"(select json_build_object('version', current_setting('server_version_num')::int,
    'taken_at', extract(epoch from clock_timestamp()), 'database', current_database(),
    'settings', (select json_object_agg(name, current_setting(name)) from pg_settings
                 where name in ({}) and setting is distinct from boot_val and source <> 'session'),
    'committed', (select xact_commit from pg_stat_database where datname = current_database()),
    'decoded', (select coalesce(json_object_agg(slot_name, total_txns), '{{}}') from pg_stat_replication_slots),
    'clients', (select count(*) from pg_stat_activity where backend_type = 'client backend'
                and datname = current_database() and pid <> pg_backend_pid()
                and (state <> 'idle' or state_change > clock_timestamp() - interval '1 s')),
    'tables', {}, 'publications', {}, 'subscriptions', {})::text)",
                     setting_names(), tables_json(), publications_json, subscriptions_json(version));
}

std::string tables_sql() {
  return R"(select concat_ws('|', pg_relation_filenode(c.oid), n.nspname || '.' || c.relname,
       (select string_agg(replace(a.attname, ' ', '_') || ' ' || t.typname, ', ' order by a.attnum)
          from pg_attribute a join pg_type t on t.oid = a.atttypid
         where a.attrelid = c.oid and a.attnum > 0 and not a.attisdropped),
       coalesce((select string_agg(replace(a.attname, ' ', '_'), ', '
                                   order by array_position(i.indkey::int2[], a.attnum))
          from pg_index i join pg_attribute a on a.attrelid = i.indrelid and a.attnum = any (i.indkey)
         where i.indrelid = c.oid and i.indisprimary), ''),
       coalesce(case when c.reltuples >= 0 then c.reltuples::bigint::text end, ''))
  from pg_class c join pg_namespace n on n.oid = c.relnamespace
 where c.relkind in ('r', 'm', 't') and pg_relation_filenode(c.oid) is not null
   and c.oid >= 16384 and n.nspname not in ('pg_catalog', 'information_schema')
 order by 1)";
}

} // namespace replisim::live
