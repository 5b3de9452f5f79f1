#include "models/ddl.hpp"

#include "models/base/check.hpp"
#include "models/wal_volume.hpp"

#include <algorithm>

namespace replisim {

namespace {

using K = DdlKind;
using S = DdlScope;

/// A catalog row changed through its caches leaves a message in each of pg_class's two catalog caches and one
/// for the relcache.
constexpr int class_row_messages = 3;

/// From so many relations on, one relcache message for all replaces theirs (publicationcmds.c,
/// MAX_RELCACHE_INVAL_MSGS).
constexpr std::int64_t most_single_messages = 4096;

/// Heap and index records per message, and their mean size: a GRANT on 18,523 tables wrote 180,000 heap
/// records and some 100,000 messages, each row with its index entries besides.
constexpr std::int64_t records_per_message = 3;
constexpr Bytes catalog_record_bytes = 100;
constexpr Bytes invalidation_record_header_bytes = 32; ///< header 24, main data header 2, count 4, aligned

const std::vector<DdlFacts> facts = {
    {K::AddTable, "alter_publication_add_table", S::Membership, 4, 1, true,
     "ALTER PUBLICATION ... ADD TABLE"},
    {K::DropMember, "alter_publication_drop_table", S::Membership, 4, 1, true,
     "ALTER PUBLICATION ... DROP TABLE"},
    {K::PublicationSet, "alter_publication_set", S::PublicationRow, 2, 0, true,
     "ALTER PUBLICATION ... SET (publish = ...); one message more for each member"},
    {K::PublicationRename, "alter_publication_rename", S::PublicationName, 3, 0, true,
     "ALTER PUBLICATION ... RENAME"},
    {K::PublicationOwner, "alter_publication_owner", S::PublicationOwner, 5, 0, true,
     "ALTER PUBLICATION ... OWNER TO"},
    {K::Grant, "grant", S::OneTable, class_row_messages, 1, true, "GRANT or REVOKE on a table"},
    {K::AddColumn, "add_column", S::OneTable, 5, 1, true, "ALTER TABLE ... ADD COLUMN"},
    {K::AlterType, "alter_type", S::Elsewhere, 2, 0, true, "ALTER TYPE ... ADD VALUE"},
    {K::CreateIndex, "create_index", S::OneTable, 12, 2, true, "CREATE INDEX"},
    {K::Analyze, "analyze", S::OneTable, 12, 1, true, "ANALYZE, by hand or by autovacuum"},
    {K::Vacuum, "vacuum", S::OneTable, class_row_messages, 1, false,
     "VACUUM, by hand or by autovacuum: it updates pg_class"},
    {K::Truncate, "truncate", S::OneTable, 21, 3, true, "TRUNCATE"},
    {K::CreateTable, "create_table", S::Elsewhere, 80, 4, true, "CREATE TABLE with a key and a TOAST table"},
    {K::DropTable, "drop_table", S::Elsewhere, 80, 4, true, "DROP TABLE of such a table"},
    {K::TemporaryTable, "temporary_table", S::Elsewhere, 125, 8, true,
     "CREATE TEMPORARY TABLE and its DROP, in one transaction"},
    {K::CreateSchema, "create_schema", S::Schema, 2, 0, false,
     "CREATE SCHEMA, or the first temporary table of a new session slot"},
    {K::CreatePartition, "create_partition", S::OneTable, 80 + class_row_messages, 5, false,
     "CREATE TABLE ... PARTITION OF the table"},
    {K::DropPartition, "drop_partition", S::OneTable, 80 + class_row_messages, 5, false,
     "DROP TABLE of a partition of the table"},
};

void touch_members(Invalidations& out, const std::vector<const Table*>& members, bool relation) {
  for (const Table* member : members)
    out.touch(member, member->copies, relation);
}

} // namespace

const std::vector<DdlFacts>& ddl_facts() { return facts; }

const DdlFacts& facts_of(DdlKind kind) {
  const auto index = static_cast<std::size_t>(kind);
  REPLISIM_REQUIRE(index < facts.size() and facts[index].kind == kind, "DDL kind {}", index);
  return facts[index];
}

const DdlFacts* find_ddl(std::string_view name) {
  const auto found =
      std::find_if(facts.begin(), facts.end(), [name](const DdlFacts& row) { return row.name == name; });
  return found == facts.end() ? nullptr : &*found;
}

std::int64_t catalog_commands(const DdlLoad& load) { return std::max<std::int64_t>(1, load.relations); }

Invalidations invalidations_of(const DdlLoad& load, const Table* table,
                               const std::vector<const Table*>& members, const VersionTraits& traits) {
  const DdlFacts& row = facts_of(load.kind);
  const std::int64_t relations = catalog_commands(load);
  Invalidations out;
  out.messages = row.messages * relations;
  out.relcache = row.relcache_messages * relations;
  if (load.other_database) {
    out.foreign = out.messages;
    out.messages = out.relcache = 0;
    return out;
  }
  std::int64_t member_relations = 0;
  for (const Table* member : members)
    member_relations += member->copies;
  switch (row.scope) {
  case DdlScope::Elsewhere:
    break;
  case DdlScope::OneTable:
    if (table != nullptr)
      out.touch(table, relations, true);
    break;
  case DdlScope::Membership:
    out.all_entries = not traits.membership_invalidates_members;
    if (table != nullptr)
      out.touch(table, relations, true);
    break;
  case DdlScope::PublicationRow:
    out.all_entries = not traits.membership_invalidates_members;
    if (member_relations >= most_single_messages) {
      out.everything = true;
      ++out.messages;
      ++out.relcache;
    } else {
      out.messages += member_relations;
      out.relcache += member_relations;
      touch_members(out, members, true);
    }
    break;
  case DdlScope::PublicationName:
    out.all_entries = not traits.membership_invalidates_members;
    if (traits.membership_invalidates_members) {
      out.messages += member_relations;
      touch_members(out, members, false);
    }
    break;
  case DdlScope::PublicationOwner:
    out.all_entries = not traits.membership_invalidates_members;
    break;
  case DdlScope::Schema:
    out.all_entries = traits.namespace_invalidates_all;
    break;
  }
  return out;
}

DdlWal ddl_wal(const DdlLoad& load, const Invalidations& messages, const VersionTraits& traits) {
  const std::int64_t all = messages.messages + messages.foreign;
  DdlWal out;
  out.statement_records = records_per_message * all;
  out.statement_bytes = out.statement_records * catalog_record_bytes;
  if (traits.queues_invalidations) {
    out.statement_records += catalog_commands(load);
    out.statement_bytes +=
        catalog_commands(load) * invalidation_record_header_bytes + all * invalidation_message_bytes;
  }
  constexpr Bytes commit_header_bytes = 8; // count and flags of the messages (xl_xact_invals)
  out.commit_bytes = commit_record_bytes() + commit_header_bytes + all * invalidation_message_bytes;
  return out;
}

} // namespace replisim
