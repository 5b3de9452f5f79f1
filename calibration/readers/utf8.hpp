// UTF-8 as logs contain it: mostly ASCII, now and then broken.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace replisim::readers {

/// Position of the first byte that is NUL or no part of valid UTF-8; npos when there is none.
std::size_t find_unclean_byte(std::string_view text);

/// `text` with each such byte replaced by U+FFFD; NUL bytes are dropped.
std::string make_clean_utf8(std::string_view text);

} // namespace replisim::readers
