// Sizes in the parallel worker's ring and in the subscriber's files.
#include "models/protocol.hpp"

#include "models/base/check.hpp"

namespace replisim::protocol {

Bytes ring_occupied_bytes(Rows messages, Bytes body_bytes) {
  REPLISIM_REQUIRE(messages >= 0 and body_bytes >= 0, "{} messages of {} bytes", messages, body_bytes);
  if (messages == 0)
    return 0;
  constexpr Bytes length_word_bytes = 8;     // shm_mq.c: a size_t before each message
  constexpr Bytes message_header_bytes = 25; // 'w', two LSNs and the send time travel along
  const Bytes mean_body = (body_bytes + messages - 1) / messages;
  const Bytes aligned = (message_header_bytes + mean_body + 7) / 8 * 8;
  return messages * (length_word_bytes + aligned);
}

Bytes subxacts_file_bytes(int subtransactions) {
  constexpr Bytes count_bytes = 4;
  constexpr Bytes entry_bytes = 16; // xid, file number, offset
  return subtransactions > 0 ? count_bytes + entry_bytes * subtransactions : 0;
}

} // namespace replisim::protocol
