// Bytes to the text of a scenario that nearly always is accepted: what a fuzz target changes is then what
// happens in a run, and not the spelling of a file.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

namespace replisim::fuzz {

/// A pair of servers with everything the format knows: loads, consumers, faults, settings. Small enough that
/// a run takes a moment. Equal bytes give equal text.
std::string random_scenario(const std::uint8_t* data, std::size_t size);

} // namespace replisim::fuzz
