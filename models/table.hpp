// Tables: columns, and every size that follows from them (heap tuple, reorder buffer, wire, file).
#pragma once

#include "models/base/units.hpp"

#include <string>
#include <string_view>
#include <vector>

namespace replisim {

enum class ColumnType {
  Bool,
  Int2,
  Int4,
  Int8,
  Float4,
  Float8,
  Date,
  Timestamp,
  Timestamptz,
  Uuid,
  Text,
  Bytea,
  Numeric,
  Jsonb
};

/// Which columns an UPDATE or DELETE carries to identify the old row.
enum class ReplicaIdentity { Default, Full, Nothing };

enum class Operation { Insert, Update, Delete };

std::string_view to_string(Operation operation);

/// ALTER TABLE ... ENABLE [REPLICA | ALWAYS] TRIGGER: for whom a trigger fires. Apply workers run with
/// session_replication_role = replica, clients with origin.
enum class TriggerEnabled { Origin, Replica, Always };
constexpr bool fires_on_origin(TriggerEnabled enabled) { return enabled != TriggerEnabled::Replica; }
constexpr bool fires_on_replica(TriggerEnabled enabled) { return enabled != TriggerEnabled::Origin; }

/// What the values of a column look like, as far as sizes need it.
struct ColumnValue {
  enum class Kind {
    Typical,  ///< only the type's typical text length is known (see typical_text_bytes)
    Sequence, ///< integers 1, 2, 3, ... in row order, as a key filled from a series
    Constant  ///< one integer for all rows
  } kind = Kind::Typical;
  std::int64_t constant = 0;
};

struct Column {
  std::string name;
  ColumnType type = ColumnType::Int4;
  int width_bytes = 0; ///< bytes of data of a variable-width type (text(32): 32); 0 for fixed ones
  ColumnValue value;
};

struct Table {
  std::string name;
  std::string schema = "public";
  std::vector<Column> columns;
  std::vector<int> primary_key; ///< column positions; empty: no key
  int secondary_indexes = 0;    ///< btree indexes besides the primary key
  double hot_updates = 0;       ///< share of the updates that are heap-only (HOT)
  ReplicaIdentity replica_identity = ReplicaIdentity::Default;
  /// How its rows travel to one subscription: which columns (empty: all), and whether in binary form.
  std::vector<bool> published_columns = {};
  bool binary = false;
  Rows initial_rows = 0;     ///< rows present on both sides before the run
  int triggers = 0;          ///< row triggers, each fired by every INSERT, UPDATE and DELETE
  double trigger_cost_s = 0; ///< CPU of one call, reference core
  TriggerEnabled triggers_enabled = TriggerEnabled::Origin;
  int foreign_keys = 0; ///< constraints of this table that refer to others
  TriggerEnabled foreign_keys_enabled = TriggerEnabled::Origin;
  std::int64_t copies = 1; ///< stands for so many tables alike, over which rows are spread evenly
};

/// A contiguous run of rows that one statement touches in one table. Row numbers are 1-based and
/// are the values of a Sequence column.
struct RowRange {
  Rows first = 1;
  Rows count = 0;
};

/// Values an UPDATE assigns, where they change a size: column position and new value.
struct Assignment {
  int column = 0;
  ColumnValue value;
};

inline constexpr Bytes toast_chunk_bytes = 1996; ///< data of one row of a TOAST table (heaptoast.h)

/// Columns whose values are stored out of line, largest first: as many as bring a row of more than 2,032
/// bytes down to that (heaptoast.c, toast_helper.c). A column's width is that of the stored value: what
/// compression saves is for whoever states it.
std::vector<int> out_of_line_columns(const Table& table);

/// Heap tuple length t_len: MAXALIGN(23-byte header) plus aligned data (heaptup.c: heap_form_tuple).
/// Short variable-width values (up to 126 bytes) have a 1-byte header and no alignment; a value out of line
/// leaves a pointer of 18 bytes.
Bytes tuple_len(const Table& table);

/// t_len of the tuple that holds only the replica identity columns (the others null), as logged for
/// DELETE. The null bitmap is not counted while it fits the header's padding (up to 8 columns).
Bytes key_tuple_len(const Table& table);

/// Aligned data of the primary-key columns alone, without a tuple header: what an index entry and
/// key_tuple_len hold. 0 without a primary key.
Bytes key_data_bytes(const Table& table);

/// t_len of the old tuple that an operation logs and decodes: the whole row with replica identity
/// full (update, delete), values out of line included, the key for a delete with a primary key,
/// otherwise 0 (heapam.c: ExtractReplicaIdentity).
Bytes old_tuple_len(const Table& table, Operation operation);

/// Accounted memory of one change in the reorder buffer (reorderbuffer.c: ReorderBufferChangeSize):
/// 80 + (24 + t_len) per tuple present. INSERT and UPDATE carry the new tuple, UPDATE also the old
/// row with replica identity full; DELETE carries the key (or the whole row with full).
Bytes change_bytes(const Table& table, Operation operation);

/// Text length of one value of a column whose values are not stated: exact for types of fixed text
/// form, a mean otherwise (see table.cpp for each).
Bytes typical_text_bytes(const Column& column);

/// Sum over `rows` of the text length of column `column`, headers not included.
Bytes column_text_bytes(const Column& column, RowRange rows);

/// Length of one value of a column as its send function writes it.
Bytes binary_bytes(const Column& column);

/// Whether the column is sent.
bool is_published(const Table& table, int column);

/// Sum over `rows` of the pgoutput message bodies (type byte included, xid of streamed messages not
/// included): proto.c. Insert and delete 8 + columns; update likewise (plus 3 + old columns when an
/// old tuple is sent). Each published column is 1 byte (null, or an unchanged value out of line) or 5 + text
/// length.
Bytes message_body_bytes(const Table& table, Operation operation, RowRange rows,
                         const std::vector<Assignment>& assignments);

/// Body of the Relation message: 'R', oid 4, names with terminators, replica identity 1, count 2 and
/// per column flags 1, name, type 4, typmod 4.
Bytes relation_message_bytes(const Table& table);

/// Columns that carry a value in the message of `operation` (4 for an insert into test_tab, 1 for its
/// delete): the number of output and input function calls per row.
int columns_sent(const Table& table, Operation operation);

/// Rows per 8 kB heap page: (8192 - 24) / (4 + MAXALIGN(t_len)).
int rows_per_heap_page(const Table& table);

} // namespace replisim
