// The format of scenario files as a JSON Schema, which editors use to complete, explain and check.
#pragma once

#include <nlohmann/json_fwd.hpp>

namespace replisim {

/// A JSON Schema (draft 7) of scenario files, generated from the field descriptors: names, types, units,
/// ranges that can be said of text, defaults, sentences. Values may be written as YAML has them: `64kB`,
/// `5_000_000`, `on`.
///
/// What a schema cannot say is left to the loader: names that must be defined elsewhere in the file,
/// contradictions between fields, ranges of quantities with units. A file that names `extends` may leave out
/// what the other one has.
nlohmann::ordered_json scenario_schema();

} // namespace replisim
