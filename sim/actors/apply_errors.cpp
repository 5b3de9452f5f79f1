#include "sim/actors/apply_errors.hpp"

#include <fmt/format.h>

namespace replisim {

const ApplyConflict* ApplyErrors::first(const std::vector<ChangeRun>& runs, double now_s,
                                        Rows& before) const {
  before = 0;
  if (subscription_ == nullptr)
    return nullptr;
  for (const auto& run : runs) {
    const ApplyConflict* found = nullptr;
    for (const auto& conflict : subscription_->conflicts) {
      const Rows at = conflict.row - run.rows.first;
      const bool there = conflict.table == run.table->name and at >= 0 and at < run.rows.count and
                         run.statement->operation != Operation::Delete and
                         (conflict.resolved_s <= 0 or now_s < conflict.resolved_s);
      if (there and (found == nullptr or conflict.row < found->row))
        found = &conflict;
    }
    if (found != nullptr) {
      before += found->row - run.rows.first;
      return found;
    }
    before += run.rows.count;
  }
  return nullptr;
}

std::optional<Rows> ApplyErrors::applicable(const std::vector<ChangeRun>& runs, double now_s) const {
  Rows before = 0;
  return first(runs, now_s, before) != nullptr ? std::optional(before) : std::nullopt;
}

void ApplyErrors::raise(const std::vector<ChangeRun>& runs, double now_s) {
  Rows before = 0;
  const ApplyConflict* conflict = first(runs, now_s, before);
  ++count_;
  failed_ = true;
  if (raised_ and conflict != nullptr)
    raised_(fmt::format("row {} of table {} conflicts with one that {} holds already", conflict->row,
                        conflict->table, subscription_->server));
}

} // namespace replisim
