#include "calibration/readers/byte_source.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <utility>
#include <vector>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>
#include <zstd.h>

namespace replisim::readers {

namespace {

constexpr std::size_t packed_block_bytes = std::size_t{128} << 10;

class FileSource final : public ByteSource {
public:
  explicit FileSource(const std::filesystem::path& file) {
    if (file == "-") {
      descriptor_ = STDIN_FILENO;
      return;
    }
    descriptor_ = ::open(file.c_str(), O_RDONLY | O_CLOEXEC);
    struct stat status {};
    if (descriptor_ < 0)
      failure_ = fmt::format("cannot be opened: {}", std::strerror(errno));
    else if (::fstat(descriptor_, &status) == 0 and S_ISDIR(status.st_mode))
      failure_ = "is a folder";
  }
  ~FileSource() override {
    if (descriptor_ > STDIN_FILENO)
      ::close(descriptor_);
  }
  FileSource(const FileSource&) = delete;
  FileSource& operator=(const FileSource&) = delete;

  std::size_t read(char* to, std::size_t size) override {
    while (failure_.empty()) {
      const ssize_t n = ::read(descriptor_, to, size);
      if (n >= 0) {
        position_bytes_ += static_cast<std::uint64_t>(n);
        return static_cast<std::size_t>(n);
      }
      if (errno != EINTR)
        failure_ = fmt::format("cannot be read on: {}", std::strerror(errno));
    }
    return 0;
  }
  std::uint64_t position_bytes() const override { return position_bytes_; }
  const std::string& failure() const override { return failure_; }
  std::string_view packing() const override { return {}; }

private:
  int descriptor_ = -1;
  std::uint64_t position_bytes_ = 0;
  std::string failure_;
};

class TextSource final : public ByteSource {
public:
  explicit TextSource(std::string text) : text_(std::move(text)) {}
  std::size_t read(char* to, std::size_t size) override {
    const std::size_t n = std::min(size, text_.size() - at_);
    std::memcpy(to, text_.data() + at_, n);
    at_ += n;
    return n;
  }
  std::uint64_t position_bytes() const override { return at_; }
  const std::string& failure() const override { return failure_; }
  std::string_view packing() const override { return {}; }

private:
  std::string text_;
  std::size_t at_ = 0;
  std::string failure_;
};

/// The packed bytes of a stream, block by block, with a look at the first ones.
class PackedBlocks {
public:
  explicit PackedBlocks(std::unique_ptr<ByteSource> from) : from_(std::move(from)) {}

  /// Makes the rest non-empty unless the stream has ended.
  bool fill() {
    if (begin_ == end_) {
      begin_ = 0;
      end_ = from_->read(block_.data(), block_.size());
    }
    return begin_ < end_;
  }
  /// Reads until `size` bytes are there or the stream ends; for magic numbers.
  std::string_view head(std::size_t size) {
    if (begin_ > 0 and end_ - begin_ < size) {
      std::memmove(block_.data(), block_.data() + begin_, end_ - begin_);
      end_ -= begin_;
      begin_ = 0;
    }
    while (end_ - begin_ < size) {
      const std::size_t n = from_->read(block_.data() + end_, block_.size() - end_);
      if (n == 0)
        break;
      end_ += n;
    }
    return rest().substr(0, size);
  }
  std::string_view rest() const { return {block_.data() + begin_, end_ - begin_}; }
  char* data() { return block_.data() + begin_; }
  void take(std::size_t size) { begin_ += size; }
  std::uint64_t position_bytes() const { return from_->position_bytes(); }
  const std::string& failure() const { return from_->failure(); }

private:
  std::unique_ptr<ByteSource> from_;
  std::vector<char> block_ = std::vector<char>(packed_block_bytes);
  std::size_t begin_ = 0;
  std::size_t end_ = 0;
};

/// Not packed after all: passes the bytes on, the first ones included.
class PlainSource final : public ByteSource {
public:
  explicit PlainSource(PackedBlocks blocks) : blocks_(std::move(blocks)) {}
  std::size_t read(char* to, std::size_t size) override {
    if (not blocks_.fill())
      return 0;
    const std::size_t n = std::min(size, blocks_.rest().size());
    std::memcpy(to, blocks_.data(), n);
    blocks_.take(n);
    return n;
  }
  std::uint64_t position_bytes() const override { return blocks_.position_bytes(); }
  const std::string& failure() const override { return blocks_.failure(); }
  std::string_view packing() const override { return {}; }

private:
  PackedBlocks blocks_;
};

class GzipSource final : public ByteSource {
public:
  explicit GzipSource(PackedBlocks blocks) : blocks_(std::move(blocks)) {
    if (inflateInit2(&state_, 15 + 16) != Z_OK)
      failure_ = "cannot be unpacked: zlib has no memory";
  }
  ~GzipSource() override { inflateEnd(&state_); }
  GzipSource(const GzipSource&) = delete;
  GzipSource& operator=(const GzipSource&) = delete;

  std::size_t read(char* to, std::size_t size) override {
    size = std::min(size, std::size_t{1} << 30);
    state_.next_out = reinterpret_cast<Bytef*>(to);
    state_.avail_out = static_cast<uInt>(size);
    while (state_.avail_out == size and failure_.empty() and step()) {
    }
    return size - state_.avail_out;
  }
  std::uint64_t position_bytes() const override { return blocks_.position_bytes(); }
  const std::string& failure() const override { return failure_; }
  std::string_view packing() const override { return "gzip"; }

private:
  /// Unpacks some; false at the end.
  bool step() {
    if (not blocks_.fill()) {
      if (not blocks_.failure().empty())
        failure_ = blocks_.failure();
      else if (not between_members_)
        failure_ = "is cut short: the gzip data ends in the middle";
      return false;
    }
    if (between_members_ and is_after_first_) {
      // Zeros behind the last member are padding (tar, tapes); all else must be one more member.
      if (blocks_.head(2) != "\x1f\x8b") {
        if (blocks_.rest().find_first_not_of('\0') != std::string_view::npos)
          failure_ = "has bytes behind the gzip data that are none";
        return false;
      }
      inflateReset(&state_);
    }
    between_members_ = false;
    state_.next_in = reinterpret_cast<Bytef*>(blocks_.data());
    state_.avail_in = static_cast<uInt>(blocks_.rest().size());
    const std::size_t before = state_.avail_in;
    const int code = inflate(&state_, Z_NO_FLUSH);
    blocks_.take(before - state_.avail_in);
    if (code == Z_STREAM_END)
      between_members_ = is_after_first_ = true;
    else if (code != Z_OK and code != Z_BUF_ERROR)
      failure_ = fmt::format("has damaged gzip data ({})", state_.msg != nullptr ? state_.msg : "zlib error");
    return failure_.empty();
  }

  PackedBlocks blocks_;
  z_stream state_{};
  bool between_members_ = true;
  bool is_after_first_ = false;
  std::string failure_;
};

class ZstdSource final : public ByteSource {
public:
  explicit ZstdSource(PackedBlocks blocks) : blocks_(std::move(blocks)), state_(ZSTD_createDStream()) {
    if (state_ == nullptr)
      failure_ = "cannot be unpacked: zstd has no memory";
  }
  ~ZstdSource() override { ZSTD_freeDStream(state_); }
  ZstdSource(const ZstdSource&) = delete;
  ZstdSource& operator=(const ZstdSource&) = delete;

  std::size_t read(char* to, std::size_t size) override {
    ZSTD_outBuffer out{to, size, 0};
    while (out.pos == 0 and failure_.empty()) {
      const bool has_input = blocks_.fill();
      if (not has_input and frame_is_complete_)
        break;
      ZSTD_inBuffer in{blocks_.data(), blocks_.rest().size(), 0};
      const std::size_t code = ZSTD_decompressStream(state_, &out, &in);
      blocks_.take(in.pos);
      if (ZSTD_isError(code) != 0)
        failure_ = fmt::format("has damaged zstd data ({})", ZSTD_getErrorName(code));
      else if (not has_input and out.pos == 0)
        failure_ =
            blocks_.failure().empty() ? "is cut short: the zstd data ends in the middle" : blocks_.failure();
      frame_is_complete_ = code == 0;
    }
    return out.pos;
  }
  std::uint64_t position_bytes() const override { return blocks_.position_bytes(); }
  const std::string& failure() const override { return failure_; }
  std::string_view packing() const override { return "zstd"; }

private:
  PackedBlocks blocks_;
  ZSTD_DStream* state_;
  bool frame_is_complete_ = false;
  std::string failure_;
};

std::unique_ptr<ByteSource> unpacked(std::unique_ptr<ByteSource> from) {
  PackedBlocks blocks(std::move(from));
  const std::string_view head = blocks.head(4);
  if (head.starts_with("\x1f\x8b"))
    return std::make_unique<GzipSource>(std::move(blocks));
  if (head == "\x28\xb5\x2f\xfd")
    return std::make_unique<ZstdSource>(std::move(blocks));
  return std::make_unique<PlainSource>(std::move(blocks));
}

} // namespace

std::unique_ptr<ByteSource> open_bytes(const std::filesystem::path& file) {
  return unpacked(std::make_unique<FileSource>(file));
}

std::unique_ptr<ByteSource> bytes_of(std::string text) {
  return unpacked(std::make_unique<TextSource>(std::move(text)));
}

} // namespace replisim::readers
