// Machine files and cost profile files: reading, checking, building.
#pragma once

#include "models/cost_profile.hpp"
#include "models/hardware.hpp"
#include "sim/scenario/envelope.hpp"
#include "sim/scenario/fields.hpp"
#include "sim/scenario/loader.hpp"
#include "sim/scenario/problems.hpp"

#include <filesystem>
#include <optional>
#include <string>
#include <string_view>

namespace replisim {

/// Reads and checks one file against `object`. `format_key` is the key that says what kind of file it is; the
/// file's `name` must be that of the file. Mistakes go to `problems`; a file that cannot be read is one at
/// `named_by`, whose field path is `path`.
std::optional<Node> read_library_file(const std::filesystem::path& file, const Node& named_by,
                                      const std::string& path, const std::string& format_key,
                                      const ObjectDescriptor& object, const Library& library,
                                      Problems& problems);

/// The checked tree of the machine file that `named_by` names; mistakes go to `problems`, under the path
/// `path` where the name itself is wrong.
std::optional<Node> read_machine_file(const Node& named_by, const std::string& path, const Library& library,
                                      Problems& problems);

/// A machine from the checked tree of a machine file.
Machine machine_from(const Fields& fields);

/// Reads the profile that `named_by` names and all it extends.
///
/// A profile's `cpu_speed` is the ratio of its core to that of the profile it extends: it divides all
/// inherited CPU costs, and ratios along a chain multiply. A cost that a profile states itself is the cost on
/// its own machine; it is stored multiplied by the ratio, so that cost / cpu_speed is what was stated.
/// Latencies are no CPU costs and stay as written.
/// `envelope`, where given, becomes what the file itself states.
std::optional<CostProfile> read_profile_file(const Node& named_by, const std::string& path,
                                             const Library& library, Problems& problems,
                                             Envelope* envelope = nullptr);

/// Whether a cost parameter is a latency, which cpu_speed does not scale.
bool is_latency(std::string_view parameter);

/// A provenance as files write it.
Provenance provenance_of(const std::string& word);
std::string to_string(Provenance provenance);

/// Lays `cpu_speed` and `costs` (a checked Costs map of objects `cost_object`; may be null) over a profile.
void refine_profile(CostProfile& profile, double cpu_speed, const Node* costs,
                    const ObjectDescriptor& cost_object);

/// The cost as it acts on the reference core, after cpu_speed, in s.
double effective_cost_s(const CostProfile& profile, const CostParameter& parameter);

} // namespace replisim
