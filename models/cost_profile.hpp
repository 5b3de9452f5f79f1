// The price list: what each elementary act of the pipeline costs on the reference core.
#pragma once

#include "models/base/units.hpp"

#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace replisim {

/// Costs in seconds of reference CPU per unit. Every field has a row in cost_parameters() with its
/// plain meaning, plausible range and where one can measure it; profiles (calibration/profiles) give
/// values with their source. A machine's `speed` divides them all.
struct CostParameters {
  // Publisher backend: executing the statement, WAL insertion included.
  double backend_insert_row_s = 0;
  double backend_update_row_s = 0;
  double backend_delete_row_s = 0;
  double backend_transaction_s = 0; ///< begin, commit and client handling of one transaction, flush excluded
  double backend_statement_s = 0;   ///< one statement sent by a client: parse, plan, start, answer; no rows
  double backend_index_entry_s = 0; ///< each secondary index entry of an insert or update
  double foreign_key_check_s = 0;   ///< looking up and locking the referenced row; on any server

  // Walsender: reading WAL and decoding.
  double wal_read_byte_s = 0;   ///< read and CRC, per WAL byte (all records, all databases)
  double wal_read_record_s = 0; ///< find, assemble, parse and dispatch one record of any kind
  double decode_change_s = 0;   ///< decode one row change and queue it in the reorder buffer
  double discard_change_s = 0;  ///< free one queued change of an aborted (sub)transaction
  double spill_change_s = 0;    ///< serialise one change to the spill file (one write())
  double restore_change_s = 0;  ///< read one change back (two read()s)

  // Walsender: output plugin and socket.
  double send_change_s = 0;        ///< relation lookup, publication filter, message frame, send()
  double send_column_s = 0;        ///< one column's output function and copy
  double send_byte_s = 0;          ///< per byte of the message
  double send_transaction_s = 0;   ///< replaying one committed transaction: snapshot, begin and commit
  double loopback_message_s = 0;   ///< the client is on the same host: its kernel work for one message
  double send_column_binary_s = 0; ///< one column's send function and copy, with binary = true
  double spill_file_s = 0;         ///< creating, writing once, reading once and removing one spill file
  double search_transaction_s = 0; ///< looking at one (sub)transaction in search of the largest (before 17)
  double sender_wakeup_s = 0;      ///< one sleep and wake-up of an idle walsender: latch, keepalive, reply
  double status_request_s = 0;     ///< answering one request for the publisher's status (retain_dead_tuples)
  double stream_chunk_s = 0; ///< opening and closing one streamed chunk, both ends of it in the walsender

  // Decoding: what catalog changes cost besides.
  double decoding_start_s = 0;             ///< one call of the SQL decoding interface, its changes excluded
  double invalidation_message_s = 0;       ///< executing one invalidation message once
  double invalidation_change_s = 0;        ///< queueing one set of messages in one transaction
  double invalidation_rebuild_entry_s = 0; ///< one entry of the relation-sync cache, built again
  double invalidation_rebuild_relation_s = 0; ///< one relcache entry, built again
  double invalidation_map_entry_s = 0;        ///< looking at one cached relation, per relcache message

  // Subscriber: leader apply worker.
  double receive_change_s = 0; ///< recv(), libpq frame, dispatch
  double receive_byte_s = 0;
  double forward_change_s = 0;    ///< copy one message into a parallel apply worker's ring
  double file_write_change_s = 0; ///< append one message to the streamed-changes file
  double file_read_change_s = 0;  ///< read it back at commit
  double receiver_wakeup_s = 0;   ///< one sleep and wake-up of an idle leader: socket, keepalive, status
  double chunk_dispatch_s = 0;    ///< stream start/stop bookkeeping per chunk (locks, file open/close)

  // Applying a row (leader or parallel apply worker), one primary-key index included.
  double ring_read_change_s = 0; ///< parallel worker: take one message from the ring
  double apply_insert_row_s = 0;
  double apply_delete_row_s = 0;
  double apply_row_overhead_s = 0; ///< part of both: executor state, snapshot, relation map, filling the slot
  double apply_update_extra_s = 0; ///< an update beyond deleting one version and inserting another
  double apply_scan_row_s = 0;     ///< one row passed by in a scan for REPLICA IDENTITY FULL
  double apply_index_entry_s = 0;  ///< each secondary index entry
  double dead_version_s = 0; ///< one dead version of a row, passed on the way to the live one; on any server
  double apply_transaction_s = 0; ///< begin and local commit of one transaction

  // The subscriber's launcher.
  double slot_update_s = 0; ///< advancing and saving slot pg_conflict_detection, the flush excluded

  // The client program.
  double client_statement_s = 0; ///< one statement: compose, send, wait for and read the answer

  // Process and file-system latencies that do not scale with CPU speed.
  double wakeup_latency_s = 0; ///< from a latch or socket event until the sleeper runs
  double worker_start_s = 0;   ///< launching a parallel apply worker until it is attached
};

/// Describes one field of CostParameters.
struct CostParameter {
  std::string_view name; ///< as written in profiles: "backend.insert_row"
  double CostParameters::*field;
  std::string_view unit; ///< "s per row", "s per byte", "s"
  double low;            ///< plausible range, s
  double high;
  std::string_view sentence; ///< meaning and how to measure it alone
};

const std::vector<CostParameter>& cost_parameters();
const CostParameter* find_cost_parameter(std::string_view name);

/// How a parameter's value came about.
enum class Provenance { Measured, Fitted, Literature, Guess };

struct ParameterOrigin {
  Provenance provenance = Provenance::Guess;
  std::string source; ///< a phrase: file, thread, mechanism
};

struct CostProfile {
  std::string name;
  std::string machine;        ///< the machine it was measured on
  std::string server_version; ///< of the measurements
  double cpu_speed = 1.0;     ///< all CPU costs are divided by it (one common ratio to the base profile)
  CostParameters costs;       ///< as written, before `cpu_speed`
  std::map<std::string, ParameterOrigin, std::less<>> origins; ///< by parameter name
  std::vector<std::string> fitted; ///< names of the parameters fitted for this profile, `cpu_speed` included
};

} // namespace replisim
