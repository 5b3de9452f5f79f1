// JSON that others wrote: read within limits, so that no file exhausts memory or the stack.
#pragma once

#include <nlohmann/json.hpp>

#include <cstddef>
#include <filesystem>
#include <string>
#include <string_view>

namespace replisim {

/// Levels of arrays and objects in one another: far above what replisim writes. Printing is recursive.
inline constexpr int deepest_json = 100;
inline constexpr std::size_t largest_json_bytes = std::size_t{256} << 20;

/// Whether `text`, taken as JSON, nests deeper than deepest_json.
bool is_too_deep(std::string_view text);

/// The value, or a discarded one where `text` is no JSON or nests too deeply.
template <class Json = nlohmann::json>
Json parse_json(std::string_view text) {
  if (is_too_deep(text))
    return Json(Json::value_t::discarded);
  return Json::parse(text.begin(), text.end(), nullptr, false);
}

/// The text of a file, or of what else can be read to its end. Throws UsageError with a sentence where it
/// cannot be read or is larger than largest_json_bytes.
std::string read_json_text(const std::filesystem::path& file);

} // namespace replisim
