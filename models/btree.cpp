// B-tree indexes as WAL sees them.
#include "models/btree.hpp"

#include <algorithm>
#include <cmath>

namespace replisim {

namespace {

using wal::RecordSum;

constexpr Bytes special_bytes = 16; // BTPageOpaqueData
constexpr Bytes usable_bytes = wal::page_bytes - wal::page_header_bytes - special_bytes;
constexpr Bytes heap_tid_bytes = 8;             // a new high key may have to carry one
constexpr Bytes posting_tid_bytes = 6;          // ItemPointerData
constexpr Bytes minus_infinity_entry_bytes = 8; // first entry of an internal page: a bare header
constexpr Bytes split_main_bytes = 10;          // xl_btree_split
constexpr Bytes insert_main_bytes = 2;          // xl_btree_insert
constexpr Bytes metapage_bytes = 28;            // xl_btree_metadata
constexpr double leaf_fill = 0.90;
constexpr double internal_fill = 0.70;

Bytes item_bytes(const IndexShape& index) { return index.entry_bytes + wal::item_pointer_bytes; }

Rows leaf_capacity(const IndexShape& index) { return usable_bytes / item_bytes(index); }

// The first entry of an internal page has no key.
Rows internal_capacity(const IndexShape& index) {
  return 1 + (usable_bytes - minus_infinity_entry_bytes - wal::item_pointer_bytes) / item_bytes(index);
}

// Downlinks left behind when a rightmost internal page splits: the split that comes nearest to
// leaving the left page's free space and the right one's in the ratio 30 : 70.
Rows ascending_internal_entries(const IndexShape& index) {
  const Rows capacity = internal_capacity(index);
  const auto item = static_cast<double>(item_bytes(index));
  const auto space = static_cast<double>(usable_bytes - minus_infinity_entry_bytes - wal::item_pointer_bytes);
  const double right_if_none_left = space + item - item * static_cast<double>(capacity + 1);
  const double entries = (internal_fill * space - (1 - internal_fill) * right_if_none_left) / item;
  return std::clamp<Rows>(std::llround(entries), 1, capacity);
}

Bytes leaf_insert_length(const IndexShape& index) {
  return wal::record_length(insert_main_bytes, index.entry_bytes);
}

// The child page is a block reference: its incomplete-split flag is cleared.
Bytes parent_insert_length(const IndexShape& index) {
  return wal::record_length(insert_main_bytes, index.entry_bytes, 1);
}

// The left page's new high key and all entries of the right page. A page that is not the rightmost
// has a high key among the latter and touches its right sibling, too.
Bytes leaf_split_length(const IndexShape& index, Rows right_entries, bool rightmost) {
  return wal::record_length(split_main_bytes, index.entry_bytes * (1 + right_entries + (rightmost ? 0 : 1)),
                            rightmost ? 1 : 2);
}

Bytes internal_split_length(const IndexShape& index, Rows right_entries, bool rightmost) {
  const Bytes right = minus_infinity_entry_bytes + index.entry_bytes * (right_entries - 1);
  return wal::record_length(split_main_bytes, index.entry_bytes * (rightmost ? 1 : 2) + right,
                            rightmost ? 2 : 3);
}

// Splits among `entries` ascending inserts: one when the page overflows, then whenever what was left
// behind has been added again.
std::int64_t ascending_splits(Rows entries, Rows capacity, Rows left_behind) {
  return entries <= capacity ? 0 : 1 + (entries - capacity - 1) / left_behind;
}

std::int64_t ascending_leaf_splits(const IndexShape& index, Rows entries) {
  return ascending_splits(entries, leaf_capacity(index), ascending_leaf_entries(index));
}

// Everything written while an empty index grew to `entries` by ascending inserts.
RecordSum grown_ascending(const IndexShape& index, Rows entries) {
  RecordSum sum;
  if (entries <= 0)
    return sum;
  const Bytes root_length = wal::record_length(8, metapage_bytes, 1);
  sum.add(1, root_length);
  const Rows left = ascending_leaf_entries(index);
  std::int64_t splits = ascending_leaf_splits(index, entries);
  sum.add(entries - splits, leaf_insert_length(index));
  sum.add(splits, leaf_split_length(index, leaf_capacity(index) + 1 - left, true));

  const Rows capacity = internal_capacity(index);
  const Rows internal_left = ascending_internal_entries(index);
  while (splits > 0) { // one level up: a new root, then one more downlink per split below
    const std::int64_t above = ascending_splits(splits + 1, capacity, internal_left);
    sum.add(1, root_length + 8 + minus_infinity_entry_bytes + index.entry_bytes);
    sum.add(splits - 1 - above, parent_insert_length(index));
    sum.add(above, internal_split_length(index, capacity + 1 - internal_left, true));
    splits = above;
  }
  return sum;
}

double random_leaf_entries(const IndexShape& index) {
  return static_cast<double>(leaf_capacity(index)) * std::log(2.0);
}

std::int64_t random_splits(const IndexShape& index, Rows entries) {
  const Rows capacity = leaf_capacity(index);
  if (entries <= capacity)
    return 0;
  return 1 +
         static_cast<std::int64_t>(static_cast<double>(entries - capacity - 1) / random_leaf_entries(index));
}

RecordSum random_insert_wal(const IndexShape& index, Rows present, Rows inserted, bool full_page_images) {
  RecordSum sum;
  const std::int64_t splits = random_splits(index, present + inserted) - random_splits(index, present);
  sum.add(inserted - splits, leaf_insert_length(index));
  // The new entry is logged apart from the right page's when it lands on the left one: half the time.
  sum.add(splits - splits / 2, leaf_split_length(index, (leaf_capacity(index) + 1) / 2, false));
  sum.add(splits / 2, leaf_split_length(index, (leaf_capacity(index) + 1) / 2 + 1, false));
  sum.add(splits, parent_insert_length(index));
  if (full_page_images and present > 0 and inserted > 0) {
    const std::int64_t leaves = 1 + random_splits(index, present);
    const auto pages = static_cast<double>(leaves);
    const double missed = leaves == 1 ? 0 : std::exp(static_cast<double>(inserted) * std::log1p(-1 / pages));
    const double entries = std::min(static_cast<double>(present), random_leaf_entries(index));
    const Bytes image = wal::page_bytes - usable_bytes + std::llround(entries) * item_bytes(index);
    sum.add_images(std::llround(pages * (1 - missed)), leaf_insert_length(index), image);
  }
  return sum;
}

// A leaf whose entries, in key order, each get a second version next to them.
class VersionedLeaf {
public:
  VersionedLeaf(const IndexShape& index, Rows updates)
      : index_(index), item_(item_bytes(index)), left_(updates) {}

  // `rightmost`: without a high key.
  void walk(Rows entries, bool rightmost) {
    walk_page({entries, 0, 0, usable_bytes - (rightmost ? 0 : item_) - entries * item_});
  }

  const RecordSum& written() const { return sum_; }
  std::int64_t splits() const { return splits_; }

private:
  struct Page {
    Rows single;  // entries still without a second version
    Rows doubled; // pairs of plain entries
    Rows merged;  // pairs in a posting list
    Bytes free;
  };

  Bytes merged_item_bytes() const {
    return wal::max_align(index_.entry_bytes + 2 * posting_tid_bytes) + wal::item_pointer_bytes;
  }

  void walk_page(Page page) {
    while (page.single > 0 and left_ > 0) {
      const Rows fitting = std::min({page.free / item_, page.single, left_});
      if (fitting > 0) {
        sum_.add(fitting, leaf_insert_length(index_));
        page.single -= fitting;
        page.doubled += fitting;
        page.free -= fitting * item_;
        left_ -= fitting;
      } else if (index_.deduplicates and page.doubled > 0) {
        sum_.add(1, wal::record_length(2, 4 * page.doubled)); // an interval of 4 bytes per pair
        page.free += page.doubled * (2 * item_ - merged_item_bytes());
        page.merged += page.doubled;
        page.doubled = 0;
        if (page.free < item_)
          return split(page);
      } else {
        return split(page);
      }
    }
  }

  // In the middle of the bytes, the new entry counted, which goes to the left page; both halves go on.
  void split(const Page& page) {
    const Bytes data = page.merged * merged_item_bytes() + (2 * page.doubled + page.single + 1) * item_;
    const Rows right = std::max<Rows>((data + heap_tid_bytes + item_) / (2 * item_), 1);
    sum_.add(1, leaf_split_length(index_, right, false) + index_.entry_bytes);
    sum_.add(1, parent_insert_length(index_));
    ++splits_;
    --left_;
    const Rows moved = std::min(right, page.single - 1);
    walk_page({page.single - 1 - moved, page.doubled + 1, page.merged,
               usable_bytes - item_ - (data - moved * item_)});
    if (moved > 0)
      walk_page({moved, 0, 0, usable_bytes - item_ - moved * item_});
  }

  const IndexShape& index_;
  Bytes item_;
  Rows left_;
  RecordSum sum_;
  std::int64_t splits_ = 0;
};

void add_update_images(const IndexShape& index, Rows full_leaves, Rows last_leaf_entries, RecordSum& sum) {
  const Bytes overhead = wal::page_bytes - usable_bytes;
  const Bytes item = item_bytes(index);
  // Entries and high key; the image comes with the split of the left neighbour or the first insert.
  const Bytes carrier = leaf_insert_length(index);
  sum.add_images(full_leaves, carrier, overhead + item * (ascending_leaf_entries(index) + 1));
  if (last_leaf_entries > 0)
    sum.add_images(1, carrier, overhead + item * last_leaf_entries);
  const Rows per_internal = ascending_internal_entries(index);
  if (full_leaves > 0) {
    const Bytes image = overhead + minus_infinity_entry_bytes + wal::item_pointer_bytes + item * per_internal;
    sum.add_images((full_leaves + per_internal - 1) / per_internal, carrier, image);
  }
}

} // namespace

Rows ascending_leaf_entries(const IndexShape& index) {
  // The split of a rightmost leaf that comes nearest to leaving free space in the ratio 10 : 90.
  const Rows capacity = leaf_capacity(index);
  const auto item = static_cast<double>(item_bytes(index));
  const auto space = static_cast<double>(usable_bytes);
  const double left_if_none_left = space - item - static_cast<double>(heap_tid_bytes);
  const double right_if_none_left = space - item * static_cast<double>(capacity + 1);
  const double entries = (leaf_fill * left_if_none_left - (1 - leaf_fill) * right_if_none_left) / item;
  return std::clamp<Rows>(std::llround(entries), 1, capacity);
}

RecordSum index_insert_wal(const IndexShape& index, Rows present, Rows inserted, bool full_page_images) {
  if (index.order == IndexShape::Order::Random)
    return random_insert_wal(index, present, inserted, full_page_images);
  RecordSum sum = grown_ascending(index, present + inserted);
  sum.add_all(grown_ascending(index, present), -1);
  return sum;
}

RecordSum index_update_wal(const IndexShape& index, Rows present, Rows updated, bool full_page_images) {
  if (index.order == IndexShape::Order::Random)
    return random_insert_wal(index, std::max(present, updated), updated, full_page_images);
  RecordSum sum;
  const Rows per_leaf = ascending_leaf_entries(index);
  const std::int64_t full_leaves =
      updated > present ? updated / per_leaf + 1 : ascending_leaf_splits(index, present);
  const std::int64_t walked = std::min(updated / per_leaf, full_leaves);
  VersionedLeaf whole(index, per_leaf);
  whole.walk(per_leaf, false);
  sum.add_all(whole.written(), walked);

  const Rows rest = updated - walked * per_leaf;
  const bool in_last = walked == full_leaves;
  const Rows last_entries = in_last ? present - full_leaves * per_leaf : per_leaf;
  VersionedLeaf partial(index, rest);
  partial.walk(last_entries, in_last);
  sum.add_all(partial.written());

  // Each internal page holds what an ascending fill left in it and splits once, in the middle.
  const std::int64_t splits = walked * whole.splits() + partial.splits();
  const Rows downlinks = ascending_internal_entries(index);
  const Rows room = internal_capacity(index) + 1 - downlinks;
  const std::int64_t internal_splits = (splits + downlinks - room) / downlinks;
  sum.add(internal_splits, internal_split_length(index, (internal_capacity(index) + 1) / 2, false));
  if (full_page_images)
    add_update_images(index, walked + (rest > 0 and not in_last ? 1 : 0),
                      in_last and rest > 0 ? last_entries : 0, sum);
  return sum;
}

} // namespace replisim
