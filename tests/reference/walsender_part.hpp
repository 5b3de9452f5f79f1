// The walsender of the reference model: reads record by record, keeps a queue of changes for each
// (sub)transaction, and empties the largest whenever the memory of all is full.
#pragma once

#include "tests/reference/publisher_part.hpp"
#include "tests/reference/subscriber_part.hpp"

#include <map>
#include <set>
#include <vector>

namespace reference {

class Walsender {
public:
  Walsender(const Input& input, const Publisher& publisher, Output& out)
      : input_(input), publisher_(publisher), subscriber_(input, out), out_(out) {}
  void run();

private:
  struct Change {
    const Record* record = nullptr;
    bool on_disk = false;
  };
  /// A transaction or subtransaction in the reorder buffer.
  struct Queue {
    int xid = 0, top = 0;
    std::vector<Change> changes;
    std::int64_t memory_bytes = 0;
    bool serialized = false; ///< part of it lies in a file
    bool ever_serialized = false;
    bool streamed = false; ///< changes of it were in a chunk; a top-level one: there was a chunk
    bool known_aborted = false;
  };

  void decode(const Record& record);
  void queue(const Record& record);
  Queue* largest(bool trees);
  void make_room(double read_s);
  bool found_aborted(double aborted_s, double read_s);
  void evict(Queue& victim, bool streams);
  void spill(Queue& queue);
  void stream(int top);
  void abort(const Record& record);
  void abort_one(const Record& record, int xid);
  void commit(const Record& record);
  void replay(const Record& record);
  void drop(Queue& queue);
  void send_row(const Record& record, bool streamed);
  void send(Message::Kind kind, const Record& record, std::int64_t body_bytes, double cost_s);
  void report();
  std::int64_t tree_bytes(int top) const;
  std::int64_t all_bytes() const;
  std::vector<Queue*> tree(int top);

  const Input& input_;
  const Publisher& publisher_;
  Subscriber subscriber_;
  Output& out_;
  double now_s_ = 0;
  std::map<int, Queue> queues_;
  Counters counters_;                          ///< not all of them reported yet
  std::set<int> announced_;                    ///< tables, in this session
  std::set<std::pair<int, int>> announced_in_; ///< ... in a streamed transaction
};

} // namespace reference
