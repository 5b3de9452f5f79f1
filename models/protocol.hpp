// Sizes on the wire, in the parallel worker's ring and in the subscriber's files.
#pragma once

#include "models/base/units.hpp"

namespace replisim::protocol {

/// CopyData frame (5) plus 'w', two LSNs and the send time (25): walsender.c, WalSndPrepareWrite.
inline constexpr Bytes frame_bytes = 30;
inline constexpr Bytes begin_body_bytes = 21;
inline constexpr Bytes commit_body_bytes = 26;
/// Two-phase messages carry the transaction's name, here of 16 characters and a zero (proto.c,
/// logicalrep_write_begin_prepare and those after it).
inline constexpr Bytes prepared_name_bytes = 17;
inline constexpr Bytes begin_prepare_body_bytes = 29 + prepared_name_bytes;
inline constexpr Bytes prepare_body_bytes = 30 + prepared_name_bytes;
inline constexpr Bytes commit_prepared_body_bytes = 30 + prepared_name_bytes;
inline constexpr Bytes rollback_prepared_body_bytes = 38 + prepared_name_bytes;
inline constexpr Bytes stream_start_body_bytes = 6;
inline constexpr Bytes stream_stop_body_bytes = 1;
inline constexpr Bytes stream_commit_body_bytes = 30;
inline constexpr Bytes stream_abort_body_bytes = 9;
inline constexpr Bytes stream_abort_parallel_body_bytes = 25;
inline constexpr Bytes streamed_xid_bytes = 4; ///< added to each row message of a streamed transaction

/// The shared-memory queue between leader and parallel apply worker (applyparallelworker.c).
inline constexpr Bytes ring_bytes = 16 * 1024 * 1024;
/// What the leader finds of it on average when it is the faster one: the reader returns space only by
/// quarters of the ring, so that a full ring drains to three quarters before the leader may go on.
inline constexpr Bytes ring_window_bytes = ring_bytes - ring_bytes / 8;

/// Bytes `messages` row messages with `body_bytes` in sum occupy in the ring: each entry is
/// 8 + MAXALIGN(25 + body); uses the mean body, rounded up per entry.
Bytes ring_occupied_bytes(Rows messages, Bytes body_bytes);

/// The subscriber's streamed-changes file: a 4-byte length before each body (worker.c).
inline constexpr Bytes changes_file_length_bytes = 4;
/// The subxacts file: 4 bytes and 16 per subtransaction of the transaction; nothing without any.
Bytes subxacts_file_bytes(int subtransactions);

/// Changes restored from a spill file per refill and (sub)transaction (reorderbuffer.c).
inline constexpr Rows restore_batch_changes = 4096;

} // namespace replisim::protocol
