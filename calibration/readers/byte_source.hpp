// Bytes of a file, unpacked on the way when it is gzip or zstd.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>
#include <string_view>

namespace replisim::readers {

/// A stream of bytes. Errors do not throw: the stream ends, and failure() says why.
class ByteSource {
public:
  virtual ~ByteSource() = default;
  /// Up to `size` bytes (at least one, unless the stream has ended) to `to`; 0 at the end.
  virtual std::size_t read(char* to, std::size_t size) = 0;
  /// Bytes of the file taken so far, packed as they are: for progress.
  virtual std::uint64_t position_bytes() const = 0;
  /// Why the stream ended before its time: a phrase; empty when it did not.
  virtual const std::string& failure() const = 0;
  /// "gzip", "zstd" or empty.
  virtual std::string_view packing() const = 0;
};

/// Opens a file; "-" is standard input. Gzip (several members too) and zstd (several frames too) are told by
/// their first bytes and unpacked. Never null: a file that cannot be opened is an ended stream with a
/// failure.
std::unique_ptr<ByteSource> open_bytes(const std::filesystem::path& file);

/// The bytes of a text in memory, unpacked in the same way.
std::unique_ptr<ByteSource> bytes_of(std::string text);

} // namespace replisim::readers
