#include "calibration/readers/input.hpp"

#include "calibration/readers/utf8.hpp"
#include "models/base/units.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <optional>
#include <utility>

namespace replisim::readers {

namespace {

constexpr std::size_t block_bytes = std::size_t{256} << 10;

struct Signature {
  std::string_view bytes;
  std::string_view what;
};

using namespace std::string_view_literals;

constexpr std::array<Signature, 8> foreign_formats = {{
    {"BZh"sv, "compressed with bzip2"sv},
    {"\xFD"
     "7zXZ"sv,
     "compressed with xz"sv},
    {"\x04\x22\x4D\x18"sv, "compressed with lz4"sv},
    {"PK\x03\x04"sv, "a zip archive"sv},
    {"7z\xBC\xAF"sv, "a 7-Zip archive"sv},
    {"PGDMP"sv, "a dump of pg_dump in custom format"sv},
    {"SQLite format 3"sv, "an SQLite database"sv},
    {"\x7F"
     "ELF"sv,
     "a program"sv},
}};

/// Why a file that starts like this holds no lines of text; nothing when it may.
std::optional<std::pair<std::string, std::string>> why_no_text(std::string_view head) {
  for (const Signature& signature : foreign_formats)
    if (head.starts_with(signature.bytes))
      return {
          {"foreign_format",
           fmt::format("is {}; unpack or convert it first: text, gzip and zstd are read", signature.what)}};
  if (head.starts_with("\xFF\xFE") or head.starts_with("\xFE\xFF"))
    return {{"utf16", "is UTF-16 text; convert it first: iconv -f UTF-16 -t UTF-8"}};
  if (head.size() > 262 and head.substr(257, 5) == "ustar")
    return {{"foreign_format", "is a tar archive; unpack it first"}};
  const auto is_control = [](char c) {
    const auto byte = static_cast<unsigned char>(c);
    return (byte < 0x20 and "\t\n\r\f\b\x1b"sv.find(c) == std::string_view::npos) or byte == 0x7F;
  };
  const auto controls = std::count_if(head.begin(), head.end(), is_control);
  if (static_cast<std::size_t>(controls) * 50 > head.size())
    return {{"binary", fmt::format("is binary: {} of its first {} bytes are control characters or NUL",
                                   controls, head.size())}};
  return {};
}

} // namespace

LineInput LineInput::open(const std::filesystem::path& file, Problems& problems, Progress progress) {
  return {file.string(), open_bytes(file), problems, std::move(progress)};
}

LineInput LineInput::over_text(std::string name, std::string text, Problems& problems) {
  return {std::move(name), bytes_of(std::move(text)), problems, {}};
}

LineInput::LineInput(std::string file, std::unique_ptr<ByteSource> source, Problems& problems,
                     Progress progress)
    : file_(std::move(file)), source_(std::move(source)), problems_(&problems),
      progress_(std::move(progress)) {
  while (end_ < head_bytes and not ended_)
    fill();
  usable_ = look_at_head();
}

bool LineInput::look_at_head() {
  if (end_ == 0) {
    if (source_->failure().empty())
      report_file("empty", source_->packing().empty() ? "is empty" : "is empty once it is unpacked");
    else
      report_file("unreadable", source_->failure());
    finished_ = true;
    return false;
  }
  if (auto why = why_no_text(head())) {
    report_file(std::move(why->first), std::move(why->second));
    finished_ = true;
    return false;
  }
  if (head().starts_with("\xEF\xBB\xBF"))
    begin_ = 3; // a byte order mark, which some editors write
  return true;
}

void LineInput::fill() {
  if (begin_ > 0) {
    std::memmove(buffer_.data(), buffer_.data() + begin_, end_ - begin_);
    end_ -= begin_;
    begin_ = 0;
  }
  if (buffer_.size() < end_ + block_bytes)
    buffer_.resize(end_ + block_bytes);
  const std::size_t n = source_->read(buffer_.data() + end_, block_bytes);
  end_ += n;
  text_bytes_ += n;
  ended_ = n == 0;
  if (progress_)
    progress_(source_->position_bytes());
}

/// Makes the next line, or as much of it as is wanted, stand in the buffer from begin_ to `end`; false when
/// the line goes on behind `end` (it is too long, or the file ends without a line end).
bool LineInput::find_line_end(std::size_t& end) {
  std::size_t searched = 0; // bytes behind begin_ that hold no line end
  while (true) {
    const char* from = buffer_.data() + begin_ + searched;
    const void* found = std::memchr(from, '\n', end_ - begin_ - searched);
    if (found != nullptr) {
      end = static_cast<std::size_t>(static_cast<const char*>(found) - buffer_.data());
      if (end - begin_ <= max_line_bytes_)
        return true;
    }
    searched = end_ - begin_;
    if (found != nullptr or searched > max_line_bytes_) {
      end = begin_ + max_line_bytes_;
      return false;
    }
    if (ended_) {
      end = end_;
      return false;
    }
    fill();
  }
}

/// Drops everything up to and with the next line end; `taken_bytes` of the line were used.
void LineInput::skip_rest_of_line(std::size_t taken_bytes) {
  std::uint64_t dropped = 0;
  while (true) {
    const void* found = std::memchr(buffer_.data() + begin_, '\n', end_ - begin_);
    if (found != nullptr) {
      const auto at = static_cast<std::size_t>(static_cast<const char*>(found) - buffer_.data());
      dropped += at - begin_;
      begin_ = at + 1;
      break;
    }
    dropped += end_ - begin_;
    begin_ = end_;
    if (ended_)
      break;
    fill();
  }
  report("line_too_long", fmt::format("the line has {} bytes; its first {} were read, the rest was left out",
                                      format_count(static_cast<std::int64_t>(dropped + taken_bytes)),
                                      format_count(static_cast<std::int64_t>(taken_bytes))));
}

bool LineInput::next(std::string_view& line) {
  if (finished_)
    return false;
  std::size_t end = 0;
  const bool is_whole = find_line_end(end);
  if (not is_whole and end == begin_ and ended_) {
    finish();
    return false;
  }
  ++line_number_;
  std::string_view text(buffer_.data() + begin_, end - begin_);
  if (is_whole) {
    begin_ = end + 1;
    if (text.ends_with('\r')) {
      text.remove_suffix(1);
      ++crlf_lines_;
    }
  } else if (end == end_ and ended_) {
    begin_ = end;
  } else {
    repaired_.assign(text); // the buffer moves on while the rest is skipped
    begin_ = end;
    skip_rest_of_line(repaired_.size());
    // A character that the cut went through is no fault of the file.
    while (not repaired_.empty() and (static_cast<unsigned char>(repaired_.back()) & 0xC0U) == 0x80U)
      repaired_.pop_back();
    if (not repaired_.empty() and (static_cast<unsigned char>(repaired_.back()) & 0x80U) != 0)
      repaired_.pop_back();
    text = repaired_;
  }
  line = clean(text);
  return true;
}

std::string_view LineInput::clean(std::string_view line) {
  const std::size_t at = find_unclean_byte(line);
  if (at == std::string_view::npos)
    return line;
  const auto byte = static_cast<unsigned>(static_cast<unsigned char>(line[at]));
  if (line.find('\0') != std::string_view::npos)
    report("nul_bytes",
           fmt::format("NUL bytes in the line, the first at byte {}; they were dropped", at + 1));
  else
    report("invalid_utf8",
           fmt::format("byte {} (0x{:02X}) is no UTF-8: the file mixes encodings; shown as \xEF\xBF\xBD",
                       at + 1, byte));
  repaired_ = make_clean_utf8(line);
  return repaired_;
}

void LineInput::finish() {
  finished_ = true;
  if (not source_->failure().empty())
    problems_->add({.file = file_,
                    .line = line_number_,
                    .kind = "truncated",
                    .message = fmt::format("{}; the {} lines before were read", source_->failure(),
                                           format_count(static_cast<std::int64_t>(line_number_)))});
  if (crlf_lines_ > 0)
    problems_->add(
        {.file = file_,
         .line = 0,
         .kind = "crlf",
         .message = fmt::format("{} of {} lines end in CR LF (written or copied on Windows); read as "
                                "if they ended in LF",
                                crlf_lines_, line_number_)});
}

void LineInput::report(std::string kind, std::string message) const {
  problems_->add(
      {.file = file_, .line = line_number_, .kind = std::move(kind), .message = std::move(message)});
}

void LineInput::report_file(std::string kind, std::string message) const {
  problems_->add({.file = file_, .line = 0, .kind = std::move(kind), .message = std::move(message)});
}

} // namespace replisim::readers
