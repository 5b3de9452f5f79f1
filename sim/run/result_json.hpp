// RunResult as JSON: the public object that `run --format json` prints, and a complete binary form for
// the way from a forked child to its parent.
#pragma once

#include "sim/run/result.hpp"

#include <nlohmann/json.hpp>

#include <string>
#include <string_view>

namespace replisim {

/// A number as results print it: whole numbers below 2^53 without a fraction, others so that they
/// read back exactly, what is not finite as null.
nlohmann::json number_json(double value);

/// Metrics by name, sorted.
nlohmann::json metrics_json(const Metrics& metrics);

nlohmann::json guesses_json(const std::vector<Guess>& guesses);

/// The public form: scenario, scenario_hash, version, seed, metrics, subscriptions, stages, bottleneck,
/// bottleneck_reason, transactions, statistics, analytic, warnings, guesses, fingerprint. No timeline,
/// nothing of the wall clock.
nlohmann::json result_json(const RunResult& result);

/// Reads the public form back; what it does not carry stays at its default. Throws UsageError on
/// missing keys or wrong types.
RunResult result_from_json(const nlohmann::json& object);

/// JSON text of results: indented by 2, keys sorted, bytes that are no UTF-8 replaced, newline at the end.
std::string json_text(const nlohmann::json& object);

/// A hash as 16 hex digits.
std::string hex64(std::uint64_t value);

/// Everything, timeline and wall-clock figures included, as CBOR.
std::string encode_result(const RunResult& result);

/// The inverse of encode_result(). Throws InvariantViolation on bytes it did not write.
RunResult decode_result(std::string_view bytes);

} // namespace replisim
