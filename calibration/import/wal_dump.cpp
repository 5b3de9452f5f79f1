#include "calibration/import/wal_dump.hpp"

#include <fmt/format.h>

#include <charconv>

namespace replisim {

namespace {

/// Takes a piece of text apart from the left.
class Cursor {
public:
  explicit Cursor(std::string_view text) : text_(text) {}

  bool skip(std::string_view expected) {
    if (not text_.starts_with(expected))
      return false;
    text_.remove_prefix(expected.size());
    return true;
  }
  bool skip_to(std::string_view mark) {
    const auto at = text_.find(mark);
    if (at == std::string_view::npos)
      return false;
    text_.remove_prefix(at + mark.size());
    return true;
  }
  void blanks() { text_.remove_prefix(std::min(text_.find_first_not_of(' '), text_.size())); }
  std::string_view word() {
    const auto end = std::min(text_.find_first_of(" ,;"), text_.size());
    const std::string_view found = text_.substr(0, end);
    text_.remove_prefix(end);
    return found;
  }
  template <typename Number>
  bool number(Number& out, int base = 10) {
    blanks();
    const auto [stop, error] = std::from_chars(text_.data(), text_.data() + text_.size(), out, base);
    if (error != std::errc())
      return false;
    text_.remove_prefix(static_cast<std::size_t>(stop - text_.data()));
    return true;
  }
  std::string_view rest() const { return text_; }

private:
  std::string_view text_;
};

bool parse_relation(Cursor& cursor, WalRelation& out) {
  std::uint32_t tablespace = 0;
  return cursor.number(tablespace) and cursor.skip("/") and cursor.number(out.database) and
         cursor.skip("/") and cursor.number(out.node);
}

void parse_blocks(std::string_view text, std::vector<WalBlock>& out) {
  out.clear();
  Cursor cursor(text);
  while (cursor.skip_to("blkref #")) {
    WalBlock block;
    int number = 0;
    if (not cursor.number(number) or not cursor.skip(": rel ") or not parse_relation(cursor, block.relation))
      return;
    if (cursor.skip(" fork ")) {
      block.main_fork = cursor.word() == "main";
    }
    if (not cursor.skip(" blk ") or not cursor.number(block.block))
      return;
    // "FPW for WAL verification" is logged and not restored: its data stay beside the image all the same.
    block.image = cursor.rest().starts_with(" FPW");
    out.push_back(block);
  }
}

std::int64_t days_from_civil(std::int64_t year, unsigned month, unsigned day) {
  // Days since 1970-01-01 in the proleptic Gregorian calendar (Fliegel and Van Flandern's method, shifted).
  const std::int64_t a = (14 - static_cast<std::int64_t>(month)) / 12;
  const std::int64_t y = year + 4800 - a;
  const std::int64_t m = static_cast<std::int64_t>(month) + 12 * a - 3;
  return static_cast<std::int64_t>(day) + (153 * m + 2) / 5 + 365 * y + y / 4 - y / 100 + y / 400 - 32045 -
         2440588;
}

} // namespace

std::optional<WalRelation> relation_in(std::string_view description) {
  Cursor cursor(description);
  WalRelation relation;
  if (not cursor.skip_to("rel"))
    return std::nullopt;
  cursor.skip(":");
  if (not parse_relation(cursor, relation))
    return std::nullopt;
  return relation;
}

std::optional<Lsn> wal_lsn(std::string_view text) {
  Cursor cursor(text);
  std::uint64_t high = 0, low = 0;
  if (text.empty() or not cursor.number(high, 16) or not cursor.skip("/") or not cursor.number(low, 16) or
      not cursor.rest().empty() or high > 0xffffffffU or low > 0xffffffffU)
    return std::nullopt;
  return Lsn{(high << 32U) | low};
}

std::optional<unsigned> WalLine::flags() const {
  for (const std::string_view mark : {"flags 0x", "flags: 0x"}) {
    Cursor cursor(description);
    unsigned value = 0;
    if (cursor.skip_to(mark) and cursor.number(value, 16))
      return value;
  }
  return std::nullopt;
}

std::optional<std::int64_t> WalLine::tuples() const {
  std::int64_t value = 0;
  Cursor labelled(description); // 16 and later
  if (labelled.skip_to("ntuples: ") and labelled.number(value))
    return value;
  Cursor plain(description);
  plain.word();
  if (plain.number(value) and plain.rest().starts_with(" tuples"))
    return value;
  return std::nullopt;
}

Bytes WalLine::bare_bytes() const {
  constexpr Bytes image_header_bytes = 5;
  Bytes bytes = record_bytes;
  for (const WalBlock& block : blocks)
    bytes -= block.image ? image_header_bytes : 0;
  return bytes;
}

bool parse_wal_line(std::string_view line, WalLine& out, std::string& why) {
  Cursor cursor(line);
  const auto wrong = [&](std::string_view part) {
    why = fmt::format("this is no record of pg_waldump: no {} where one is expected", part);
    return false;
  };
  if (not cursor.skip("rmgr: "))
    return wrong("'rmgr: '");
  out.manager = cursor.word();
  if (not cursor.skip_to("len (rec/tot):") or not cursor.number(out.record_bytes) or not cursor.skip("/") or
      not cursor.number(out.total_bytes))
    return wrong("'len (rec/tot): RECORD/TOTAL'");
  if (not cursor.skip_to("tx:") or not cursor.number(out.xid))
    return wrong("'tx: NUMBER'");
  if (not cursor.skip_to("lsn: "))
    return wrong("'lsn: '");
  const auto lsn = wal_lsn(cursor.word());
  if (not lsn)
    return wrong("LSN");
  out.lsn = *lsn;
  if (not cursor.skip_to("desc: "))
    return wrong("'desc: '");
  out.description = cursor.rest();
  out.action = cursor.word();
  parse_blocks(out.description, out.blocks);
  return true;
}

bool is_waldump_remark(std::string_view line) {
  return line.empty() or line.starts_with("pg_waldump: ") or line.starts_with("first record is after ");
}

std::optional<std::int64_t> parse_wal_time(std::string_view text) {
  Cursor cursor(text);
  std::int64_t year = 0, microseconds = 0;
  unsigned month = 0, day = 0, hour = 0, minute = 0, second = 0;
  if (not cursor.number(year) or not cursor.skip("-") or not cursor.number(month) or not cursor.skip("-") or
      not cursor.number(day) or not cursor.skip(" ") or not cursor.number(hour) or not cursor.skip(":") or
      not cursor.number(minute) or not cursor.skip(":") or not cursor.number(second))
    return std::nullopt;
  if (cursor.skip(".")) {
    const std::string_view digits = cursor.word();
    std::int64_t unit = 100000;
    for (const char c : digits) {
      if (c < '0' or c > '9')
        return std::nullopt;
      microseconds += unit * (c - '0');
      unit /= 10;
    }
  }
  if (month < 1 or month > 12 or day < 1 or day > 31 or hour > 23 or minute > 59 or second > 60)
    return std::nullopt;
  const std::int64_t seconds = days_from_civil(year, month, day) * 86400 + hour * 3600 + minute * 60 + second;
  return seconds * 1'000'000 + microseconds;
}

std::vector<std::uint32_t> subxacts_of(std::string_view description) {
  std::vector<std::uint32_t> out;
  Cursor cursor(description);
  std::uint32_t xid = 0;
  if (cursor.skip_to("subxacts:"))
    while (cursor.number(xid))
      out.push_back(xid);
  return out;
}

std::int64_t invalidations_of(std::string_view description) {
  std::int64_t count = 0;
  Cursor cursor(description);
  if (not cursor.skip_to("inval msgs:"))
    return 0;
  for (const std::string_view kind : {"catcache", "catalog", "relcache", "snapshot", "smgr", "relmap"}) {
    Cursor each(cursor.rest());
    const std::string mark = " " + std::string(kind);
    while (each.skip_to(mark))
      ++count;
  }
  return count;
}

} // namespace replisim
