// The subscriber's half of the reference model, with the connection before it: given when a message is sent,
// it says when there is room for the next one.
#pragma once

#include "tests/reference/pipeline_model.hpp"

#include <deque>
#include <map>
#include <vector>

namespace reference {

struct Message {
  enum class Kind { Begin, Row, Commit, StreamStart, StreamStop, StreamAbort, StreamCommit, Relation };
  Kind kind = Kind::Begin;
  std::size_t transaction = 0;
  int top = 0, xid = 0;
  bool streamed = false;
  std::int64_t body_bytes = 0; ///< without the xid of a streamed message
  const Row* row = nullptr;
};

class Subscriber {
public:
  Subscriber(const Input& input, Output& out) : input_(input), out_(out) {}
  /// The walsender has made `message` by `sent_s`. Returns when it may go on: at once, or when enough of what
  /// was sent is taken.
  double deliver(const Message& message, double sent_s);

private:
  struct Streamed {
    int worker = -1;                              ///< -1: to a file
    std::vector<std::pair<int, const Row*>> file; ///< (sub)transaction and row
    std::map<int, std::int64_t> applied;          ///< by a worker, of each (sub)transaction
  };
  struct Worker {
    enum class State { Absent, Idle, Busy } state = State::Absent;
    double free_s = 0;
  };

  double arrival(std::int64_t bytes, double sent_s);
  void take(const Message& message);
  void take_streamed(const Message& message);
  void apply_file(const Message& message, Streamed& streamed);
  void first_chunk(const Message& message);
  void cut_file(Streamed& streamed, int xid);
  void release(Streamed& streamed);
  int alive() const;
  void begin_applying(const Message& message, double at_s);
  void committed(const Message& message, double at_s);

  const Input& input_;
  Output& out_;
  double link_free_s_ = 0;
  std::int64_t outstanding_bytes_ = 0;
  std::deque<std::pair<double, std::int64_t>> taken_; ///< when room for how much comes back, in order
  double free_s_ = 0;                                 ///< the leader
  std::map<int, Streamed> streamed_;
  std::vector<Worker> workers_;
};

} // namespace reference
