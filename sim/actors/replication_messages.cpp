#include "sim/actors/replication_messages.hpp"

#include <algorithm>

namespace replisim {

Xid top_of(const ReplicationMessage& message) {
  return std::visit([](const auto& any) { return any.top; }, message);
}

std::vector<ChangeRun> part_of(const std::vector<ChangeRun>& runs, Rows first_message, Rows messages) {
  std::vector<ChangeRun> part;
  Rows skip = first_message;
  for (const auto& run : runs) {
    if (messages == 0)
      break;
    if (skip >= run.rows.count) {
      skip -= run.rows.count;
      continue;
    }
    ChangeRun piece = run;
    piece.rows.first += skip;
    piece.rows.count = std::min(run.rows.count - skip, messages);
    skip = 0;
    messages -= piece.rows.count;
    part.push_back(piece);
  }
  return part;
}

Rows rows_of(const std::vector<ChangeRun>& runs) {
  Rows rows = 0;
  for (const auto& run : runs)
    rows += run.rows.count;
  return rows;
}

Bytes body_bytes_of(const std::vector<ChangeRun>& runs) {
  Bytes bytes = 0;
  for (const auto& run : runs)
    bytes +=
        message_body_bytes(run.wire_table(), run.statement->operation, run.rows, run.statement->assignments);
  return bytes;
}

} // namespace replisim
