#include "sim/run/json_reading.hpp"

#include "models/base/errors.hpp"

#include <fmt/format.h>

#include <cerrno>
#include <cstring>
#include <fstream>
#include <vector>

namespace replisim {

bool is_too_deep(std::string_view text) {
  int depth = 0;
  bool in_string = false;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (in_string) {
      if (c == '\\')
        ++i;
      else if (c == '"')
        in_string = false;
    } else if (c == '"') {
      in_string = true;
    } else if (c == '[' or c == '{') {
      if (++depth > deepest_json)
        return true;
    } else if (c == ']' or c == '}') {
      --depth;
    }
  }
  return false;
}

std::string read_json_text(const std::filesystem::path& file) {
  constexpr std::size_t block_bytes = std::size_t{64} << 10;
  std::error_code ignored;
  if (std::filesystem::is_directory(file, ignored))
    throw UsageError(fmt::format("'{}' is a folder", file.string()));
  errno = 0;
  std::ifstream stream(file, std::ios::binary);
  if (not stream)
    throw UsageError(fmt::format("'{}' cannot be read: {}", file.string(), std::strerror(errno)));
  std::string text;
  std::vector<char> block(block_bytes);
  while (stream) {
    stream.read(block.data(), static_cast<std::streamsize>(block.size()));
    text.append(block.data(), static_cast<std::size_t>(stream.gcount()));
    if (text.size() > largest_json_bytes)
      throw UsageError(
          fmt::format("'{}' is larger than {} MB; results as large as that belong into a database "
                      "(sweep --db)",
                      file.string(), largest_json_bytes >> 20));
  }
  return text;
}

} // namespace replisim
