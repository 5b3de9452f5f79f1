// The publisher's half of the reference model: what stands in the WAL, in which order, and from when on a
// walsender may read it. Nothing of it depends on what happens behind.
#pragma once

#include "tests/reference/pipeline_model.hpp"

#include <map>
#include <vector>

namespace reference {

/// A WAL record, or the records of one row.
struct Record {
  enum class Kind { Change, Abort, Commit } kind = Kind::Change;
  double inserted_s = 0;
  double flushed_s = -1;
  std::int64_t bytes = 0, records = 1;
  std::int64_t end = 0;           ///< LSN
  std::size_t transaction = 0;    ///< index in the input
  int top = 0, xid = 0;           ///< numbered in order of their first row
  std::vector<int> released = {}; ///< an abort: the subtransactions that had become part of it
  Row row = {};
};

struct Publisher {
  std::vector<Record> wal;
  std::map<int, double> aborted_s; ///< in the commit log, by xid
  std::vector<Dates> transactions;
};

Publisher publish(const Input& input);

} // namespace reference
