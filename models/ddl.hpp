// Catalog-changing statements: which invalidation messages each of them leaves behind, and what those
// messages make a decoder forget.
//
// Counts of messages were read off real servers (one column, one key, one publication); where nobody counted,
// they are derived from the catalog rows a statement touches, and marked as guesses.
#pragma once

#include "models/invalidation.hpp"
#include "models/version.hpp"
#include "models/workload.hpp"

#include <string_view>
#include <vector>

namespace replisim {

/// What a statement's messages are about, as far as the caches of a decoder are concerned.
enum class DdlScope {
  Elsewhere,       ///< relations and types that nobody decodes
  OneTable,        ///< the relcache entry of the table it names
  Membership,      ///< a table that joins or leaves a publication
  PublicationRow,  ///< a row of pg_publication, and its members where the statement says so
  PublicationName, ///< the name of a publication
  PublicationOwner,
  Schema ///< a row of pg_namespace
};

struct DdlFacts {
  DdlKind kind;
  std::string_view name; ///< as scenario files write it
  DdlScope scope;
  int messages;          ///< of one statement on one relation
  int relcache_messages; ///< among them
  bool counted;          ///< on a real server; else derived
  std::string_view sentence;
};

/// All kinds, in the order of enumeration.
const std::vector<DdlFacts>& ddl_facts();
const DdlFacts& facts_of(DdlKind kind);
/// Null when there is no kind of that name.
const DdlFacts* find_ddl(std::string_view name);

/// The messages of one run of `load`. `table` is the one it names (or null), `members` are the tables of the
/// publication it names.
Invalidations invalidations_of(const DdlLoad& load, const Table* table,
                               const std::vector<const Table*>& members, const VersionTraits& traits);

/// Commands of one run that change the catalog: one for each relation the statement goes over.
std::int64_t catalog_commands(const DdlLoad& load);

/// WAL of the statement: catalog rows with their index entries, and from 14 on the invalidation record of
/// each command.
struct DdlWal {
  Bytes statement_bytes = 0;
  std::int64_t statement_records = 0;
  Bytes commit_bytes = 0;
};
DdlWal ddl_wal(const DdlLoad& load, const Invalidations& messages, const VersionTraits& traits);

} // namespace replisim
