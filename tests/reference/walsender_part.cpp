#include "tests/reference/walsender_part.hpp"

#include <algorithm>

namespace reference {

namespace {
constexpr std::size_t restored_at_once = 4096; // changes of each (sub)transaction
constexpr std::int64_t begin_bytes = 21, commit_bytes = 26;
constexpr std::int64_t start_bytes = 6, stop_bytes = 1, stream_commit_bytes = 30;
constexpr std::int64_t stream_abort_bytes = 9, stream_abort_bytes_to_workers = 25;
} // namespace

void Walsender::run() {
  for (const Record& record : publisher_.wal) {
    if (record.flushed_s > now_s_) // it sleeps until the flush wakes it
      now_s_ = record.flushed_s + input_.wakeup_s;
    decode(record);
  }
}

void Walsender::decode(const Record& record) {
  const double read_s = now_s_;
  now_s_ += static_cast<double>(record.bytes) * input_.read_byte_s +
            static_cast<double>(record.records) * input_.read_record_s;
  switch (record.kind) {
  case Record::Kind::Change:
    now_s_ += input_.decode_s;
    queue(record);
    make_room(read_s);
    break;
  case Record::Kind::Abort:
    abort(record);
    report();
    break;
  case Record::Kind::Commit:
    commit(record);
    report();
    break;
  }
}

void Walsender::queue(const Record& record) {
  Queue& top = queues_[record.top];
  top.xid = top.top = record.top;
  Queue& own = queues_[record.xid];
  own.xid = record.xid;
  own.top = record.top;
  if (own.known_aborted)
    return;
  own.changes.push_back({&record});
  own.memory_bytes += record.row.memory_bytes;
}

std::int64_t Walsender::all_bytes() const {
  std::int64_t bytes = 0;
  for (const auto& [xid, queue] : queues_)
    bytes += queue.memory_bytes;
  return bytes;
}

std::int64_t Walsender::tree_bytes(int top) const {
  std::int64_t bytes = 0;
  for (const auto& [xid, queue] : queues_)
    bytes += queue.top == top ? queue.memory_bytes : 0;
  return bytes;
}

/// A top-level transaction and its subtransactions.
std::vector<Walsender::Queue*> Walsender::tree(int top) {
  std::vector<Queue*> members;
  for (auto& [xid, queue] : queues_)
    if (queue.top == top)
      members.push_back(&queue);
  return members;
}

/// Who holds most: top-level transactions with all that is theirs, unless known to be aborted; or each by
/// itself. Of equally large ones the oldest.
Walsender::Queue* Walsender::largest(bool trees) {
  Queue* found = nullptr;
  std::int64_t most = 0;
  for (auto& [xid, queue] : queues_) {
    if (trees and (xid != queue.top or queue.known_aborted))
      continue;
    const std::int64_t bytes = trees ? tree_bytes(xid) : queue.memory_bytes;
    if (bytes > most) {
      most = bytes;
      found = &queue;
    }
  }
  return found;
}

/// After every queued change. Where nothing can be streamed, somebody spills.
void Walsender::make_room(double read_s) {
  while (all_bytes() >= input_.work_mem_bytes) {
    Queue* victim = input_.mode == Mode::Off ? nullptr : largest(true);
    const bool streams = victim != nullptr;
    if (not streams)
      victim = largest(false);
    ++out_.evictions;
    now_s_ += streams ? 0 : static_cast<double>(queues_.size()) * input_.search_s;
    if (input_.looks_up_aborted) {
      const auto aborted = publisher_.aborted_s.find(victim->xid);
      const double aborted_s = aborted == publisher_.aborted_s.end() ? -1 : aborted->second;
      if (found_aborted(aborted_s, read_s)) {
        victim->known_aborted = true;
        drop(*victim);
        continue;
      }
    }
    evict(*victim, streams);
    report();
  }
}

/// The look into the commit log, for a transaction that aborts at a date, if ever.
bool Walsender::found_aborted(double aborted_s, double read_s) {
  const bool found = aborted_s >= 0 and aborted_s <= now_s_;
  const bool close =
      aborted_s >= 0 and aborted_s >= read_s - input_.slack_s and aborted_s <= now_s_ + input_.slack_s;
  if (not close)
    return found;
  const std::size_t known = out_.races.size();
  out_.races.push_back(known < input_.answers.size() ? input_.answers[known] : found);
  return out_.races.back();
}

void Walsender::evict(Queue& victim, bool streams) {
  if (streams)
    stream(victim.xid);
  else
    spill(victim);
}

/// To a file, children first.
void Walsender::spill(Queue& queue) {
  if (queue.xid == queue.top)
    for (Queue* child : tree(queue.top))
      if (child->xid != queue.top)
        spill(*child);
  if (queue.memory_bytes == 0)
    return;
  for (Change& change : queue.changes)
    if (not change.on_disk) {
      change.on_disk = true;
      now_s_ += input_.spill_s;
    }
  ++counters_.spill_count;
  counters_.spill_bytes += queue.memory_bytes;
  counters_.spill_txns += queue.ever_serialized ? 0 : 1;
  now_s_ += queue.ever_serialized ? 0 : input_.spill_file_s;
  queue.memory_bytes = 0;
  queue.serialized = queue.ever_serialized = true;
}

/// One chunk: whatever is queued of the transaction and its subtransactions.
void Walsender::stream(int top) {
  const bool again = queues_.at(top).streamed;
  std::vector<const Record*> content;
  std::int64_t bytes = 0;
  for (Queue* member : tree(top)) {
    for (const Change& change : member->changes) {
      content.push_back(change.record);
      bytes += change.record->row.memory_bytes;
    }
    member->streamed = member->streamed or not member->changes.empty();
    member->changes.clear();
    member->memory_bytes = 0;
  }
  ++counters_.stream_count;
  counters_.stream_bytes += bytes;
  counters_.total_bytes += bytes;
  if (not again) {
    ++counters_.stream_txns;
    ++counters_.total_txns;
  }
  queues_.at(top).streamed = true;
  if (content.empty())
    return;
  std::sort(content.begin(), content.end()); // the WAL is one array: in order of LSN
  const bool published =
      std::any_of(content.begin(), content.end(), [](const Record* record) { return record->row.published; });
  now_s_ += input_.stream_chunk_s;
  const Record& first = *content.front();
  if (published or input_.brackets_empty_chunks)
    send(Message::Kind::StreamStart, first, start_bytes, 0);
  for (const Record* record : content)
    send_row(*record, true);
  if (published or input_.brackets_empty_chunks)
    send(Message::Kind::StreamStop, first, stop_bytes, 0);
}

/// What was queued goes; what lies in files costs nothing to forget.
void Walsender::drop(Queue& queue) {
  if (queue.xid == queue.top)
    for (Queue* child : tree(queue.top))
      if (child->xid != queue.top)
        drop(*child);
  for (const Change& change : queue.changes)
    now_s_ += change.on_disk ? 0 : input_.discard_s;
  queue.changes.clear();
  queue.memory_bytes = 0;
}

void Walsender::abort(const Record& record) {
  for (const int xid : record.released)
    abort_one(record, xid);
  abort_one(record, record.xid);
}

void Walsender::abort_one(const Record& record, int xid) {
  const auto found = queues_.find(xid);
  if (found == queues_.end())
    return;
  const bool streamed = found->second.streamed;
  drop(found->second);
  std::erase_if(queues_, [&](const auto& entry) { return entry.first == xid or entry.second.top == xid; });
  if (not streamed)
    return;
  Record undone = record;
  undone.xid = xid;
  send(Message::Kind::StreamAbort, undone,
       input_.mode == Mode::Workers ? stream_abort_bytes_to_workers : stream_abort_bytes,
       input_.send_control_s);
}

void Walsender::commit(const Record& record) {
  const auto found = queues_.find(record.top);
  if (found == queues_.end())
    return;
  if (found->second.streamed) {
    stream(record.top);
    send(Message::Kind::StreamCommit, record, stream_commit_bytes, input_.send_control_s);
  } else {
    replay(record);
  }
  std::erase_if(queues_, [&](const auto& entry) { return entry.second.top == record.top; });
}

/// The rest of what was spilled is spilled, then all is merged in order of LSN; what lies in files comes back
/// 4,096 changes of each (sub)transaction at a time.
void Walsender::replay(const Record& record) {
  const auto members = tree(record.top);
  Queue& top = queues_.at(record.top);
  if (not top.changes.empty() and top.serialized)
    spill(top);
  for (Queue* member : members)
    if (not member->changes.empty() and member->serialized)
      spill(*member);
  ++counters_.total_txns;
  now_s_ += input_.send_transaction_s;
  bool begun = false;
  const auto begin = [&] {
    if (not begun)
      send(Message::Kind::Begin, record, begin_bytes, input_.send_control_s);
    begun = true;
  };
  if (not input_.skips_empty)
    begin();
  std::map<Queue*, std::size_t> sent, restored;
  const auto refill = [&](Queue* member) {
    const std::size_t count =
        std::min(restored_at_once, member->serialized ? member->changes.size() - restored[member] : 0);
    restored[member] += count;
    now_s_ += static_cast<double>(count) * input_.restore_s;
  };
  for (Queue* member : members)
    refill(member);
  while (true) {
    Queue* next = nullptr;
    for (Queue* member : members)
      if (sent[member] < member->changes.size() and
          (next == nullptr or member->changes[sent[member]].record < next->changes[sent[next]].record))
        next = member;
    if (next == nullptr)
      break;
    const Record& change = *next->changes[sent[next]++].record;
    counters_.total_bytes += change.row.memory_bytes;
    if (change.row.published) {
      begin();
      send_row(change, false);
    }
    if (next->serialized and sent[next] == restored[next])
      refill(next);
  }
  if (begun)
    send(Message::Kind::Commit, record, commit_bytes, input_.send_control_s);
}

void Walsender::send_row(const Record& record, bool streamed) {
  const Row& row = record.row;
  if (not row.published)
    return;
  const bool first =
      streamed ? announced_in_.insert({record.top, row.table}).second : announced_.insert(row.table).second;
  Message message{Message::Kind::Relation, record.transaction, record.top, record.xid, streamed};
  if (first) {
    message.body_bytes = input_.relation_bytes.at(static_cast<std::size_t>(row.table));
    now_s_ = subscriber_.deliver(message, now_s_);
  }
  message.kind = Message::Kind::Row;
  message.body_bytes = row.body_bytes;
  message.row = &row;
  now_s_ = subscriber_.deliver(message, now_s_ + row.send_s);
}

void Walsender::send(Message::Kind kind, const Record& record, std::int64_t body_bytes, double cost_s) {
  Message message{kind, record.transaction, record.top, record.xid};
  message.streamed = kind != Message::Kind::Begin and kind != Message::Kind::Commit;
  message.body_bytes = body_bytes;
  now_s_ = subscriber_.deliver(message, now_s_ + cost_s);
}

/// UpdateDecodingStats: counts go to the statistics once bytes go with them.
void Walsender::report() {
  const Counters& known = out_.counters;
  if (counters_.spill_bytes > known.spill_bytes or counters_.stream_bytes > known.stream_bytes or
      counters_.total_bytes > known.total_bytes)
    out_.counters = counters_;
}

Output solve(const Input& input) {
  Output out;
  const Publisher publisher = publish(input);
  out.transactions = publisher.transactions;
  for (const Record& record : publisher.wal)
    out.wal_bytes += record.bytes;
  Walsender(input, publisher, out).run();
  return out;
}

} // namespace reference
