// Lines of a text file of any size in bounded memory: plain, gzip or zstd, LF or CR LF, repaired where bytes
// are no UTF-8, cut where a line is endless. Whatever is repaired or cut is a counted problem.
#pragma once

#include "calibration/readers/byte_source.hpp"
#include "calibration/readers/problem.hpp"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace replisim::readers {

class LineInput {
public:
  /// Called with the bytes of the file taken so far (packed ones), now and then.
  using Progress = std::function<void(std::uint64_t position_bytes)>;

  /// Opens `file` ("-" is standard input). What is wrong goes to `problems`, which must live longer.
  static LineInput open(const std::filesystem::path& file, Problems& problems, Progress progress = {});
  /// The same over a text in memory; `name` stands for the file in problems.
  static LineInput over_text(std::string name, std::string text, Problems& problems);

  /// False when there is nothing to read: unreadable, empty, binary, an archive, UTF-16. The problem is
  /// booked already.
  bool usable() const { return usable_; }

  /// The first bytes, at most `head_bytes`, raw and unpacked, without consuming them; for telling what a file
  /// is. Only before the first next(); a byte order mark is left out.
  std::string_view head() const { return {buffer_.data() + begin_, std::min(end_ - begin_, head_bytes)}; }
  /// Whether head() is all there is.
  bool head_is_all() const { return ended_ and end_ - begin_ <= head_bytes; }

  /// The next line without its end, valid UTF-8 without NUL, in `line`, which is good until the next call.
  /// False at the end.
  bool next(std::string_view& line);
  std::uint64_t line_number() const { return line_number_; } ///< of the line last read, 1-based

  /// Longer lines are cut (default 1 MiB). Call before the first next().
  void limit_lines(std::size_t max_line_bytes) { max_line_bytes_ = max_line_bytes; }

  /// Books a problem at the line last read.
  void report(std::string kind, std::string message) const;
  /// Books a problem of the whole file.
  void report_file(std::string kind, std::string message) const;

  const std::string& file() const { return file_; }
  std::string_view packing() const { return source_->packing(); } ///< "gzip", "zstd" or empty
  std::uint64_t text_bytes() const { return text_bytes_; }        ///< unpacked bytes taken so far

  static constexpr std::size_t head_bytes = std::size_t{64} << 10;

private:
  LineInput(std::string file, std::unique_ptr<ByteSource> source, Problems& problems, Progress progress);

  bool look_at_head();
  void fill();
  bool find_line_end(std::size_t& end);
  void skip_rest_of_line(std::size_t taken_bytes);
  std::string_view clean(std::string_view line);
  void finish();

  std::string file_;
  std::unique_ptr<ByteSource> source_;
  Problems* problems_;
  Progress progress_;
  std::vector<char> buffer_;
  std::size_t begin_ = 0; ///< the part of the buffer not yet handed out: [begin_, end_)
  std::size_t end_ = 0;
  bool ended_ = false; ///< the source has no more
  bool usable_ = false;
  bool finished_ = false;
  std::size_t max_line_bytes_ = std::size_t{1} << 20;
  std::uint64_t line_number_ = 0;
  std::uint64_t text_bytes_ = 0;
  std::uint64_t crlf_lines_ = 0;
  std::string repaired_;
};

} // namespace replisim::readers
