// Promises as people write them: "lag_s p99 < 5s", "disk never above 80 %".
#pragma once

#include "sim/scenario/plan_question.hpp"

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace replisim {

/// Reads one promise. Without one `problem` is a sentence: what was found, what is allowed.
std::optional<Promise> parse_promise(std::string_view text, std::string& problem);

/// "lag_s p99" is lag_s_p99; the statistic it names, if any, is left in `statistic`.
std::string metric_name(std::string_view words, std::string& statistic);

/// A sentence when no run can keep both, else empty.
std::string contradiction(const Promise& one, const Promise& other);

/// A figure of this metric as people read it: "4.8 s", "1.2 GB", "80 %", "5,000".
std::string metric_text(std::string_view metric, double value);

} // namespace replisim
