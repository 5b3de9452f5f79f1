// A run as a trace in the object form of the Trace Event Format, which Perfetto (ui.perfetto.dev) and
// chrome://tracing open: a track per process, arrows that follow a batch of rows from backend to apply,
// counters of queues and cursors.
#pragma once

#include "models/base/units.hpp"
#include "sim/run/result.hpp"

#include <cstdint>
#include <string>

namespace replisim {

class TraceRecorder;

inline constexpr Bytes smallest_trace_bytes = 1'000'000;

/// The text of the trace. At most `most_bytes`: what does not fit is sampled, and `otherData` says how.
std::string trace_text(TraceRecorder& recorder, const RunResult& result, Bytes most_bytes);

struct Trace {
  std::string text;
  std::uint64_t fingerprint = 0; ///< of the run: that of an untraced one
};

/// Simulates in a child of its own, and writes down what happens.
Trace traced_simulation(const Scenario& scenario, std::uint64_t seed, Bytes most_bytes);

} // namespace replisim
