#include "sim/scenario/library_files.hpp"

#include "models/base/suggest.hpp"
#include "sim/scenario/envelope.hpp"
#include "sim/scenario/format_check.hpp"
#include "sim/scenario/library.hpp"
#include "sim/scenario/yaml_document.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace replisim {

namespace {

namespace fs = std::filesystem;

class ProfileReader {
public:
  ProfileReader(const Library& library, Problems& problems) : library_(library), problems_(problems) {}

  std::optional<CostProfile> read(const Node& named_by, const std::string& path, Envelope* envelope) {
    const fs::path file = library_file(profiles_folder(library_), named_by.text, named_by.at);
    std::error_code error;
    const fs::path canonical = fs::weakly_canonical(file, error);
    if (std::find(chain_.begin(), chain_.end(), canonical) != chain_.end()) {
      problems_.add(named_by.at, path, fmt::format("profile '{}' extends itself", named_by.text));
      return std::nullopt;
    }
    chain_.push_back(canonical);
    const auto& object = object_of("profile_file");
    const auto root =
        read_library_file(file, named_by, path, "replisim_profile", object, library_, problems_);
    if (not root)
      return std::nullopt;
    CostProfile profile;
    if (const Node* extends = root->find("extends")) {
      auto base = read(*extends, "extends", nullptr);
      if (not base)
        return std::nullopt;
      profile = std::move(*base);
    }
    build(profile, Fields(*root, object));
    if (envelope != nullptr)
      *envelope = envelope_from(Fields(*root, object));
    return require_complete(profile, *root) ? std::optional(profile) : std::nullopt;
  }

private:
  static void build(CostProfile& profile, const Fields& fields) {
    profile.name = fields.text("name");
    profile.machine = fields.text("machine");
    profile.server_version = fields.text("server_version");
    profile.fitted.clear();
    double cpu_speed = 1;
    if (fields.given("cpu_speed") != nullptr) {
      const Fields ratio = fields.child("cpu_speed");
      cpu_speed = ratio.number("value");
      const Provenance provenance = provenance_of(ratio.text("provenance"));
      profile.origins["cpu_speed"] = {provenance, ratio.text("source")};
      if (provenance == Provenance::Fitted)
        profile.fitted.emplace_back("cpu_speed");
    }
    const Node* costs = fields.given("parameters");
    refine_profile(profile, cpu_speed, costs, object_of("cost"));
    for (const CostParameter& parameter : cost_parameters()) {
      const std::string name(parameter.name);
      const Node* group = costs == nullptr ? nullptr : costs->find(name.substr(0, name.find('.')));
      const Node* cost = group == nullptr ? nullptr : group->find(name.substr(name.find('.') + 1));
      if (cost != nullptr and profile.origins[name].provenance == Provenance::Fitted)
        profile.fitted.push_back(name);
    }
  }

  bool require_complete(const CostProfile& profile, const Node& root) {
    std::vector<std::string_view> missing;
    for (const CostParameter& parameter : cost_parameters())
      if (not profile.origins.contains(parameter.name))
        missing.push_back(parameter.name);
    if (not missing.empty())
      problems_.add(
          root.at, "parameters",
          fmt::format("no value for {}; state them or extend a profile that does", fmt::join(missing, ", ")));
    return missing.empty();
  }

  const Library& library_;
  Problems& problems_;
  std::vector<fs::path> chain_;
};

} // namespace

bool is_latency(std::string_view parameter) { return parameter.starts_with("latency."); }

Provenance provenance_of(const std::string& word) {
  if (word == "measured")
    return Provenance::Measured;
  if (word == "fitted")
    return Provenance::Fitted;
  return word == "literature" ? Provenance::Literature : Provenance::Guess;
}

std::string to_string(Provenance provenance) {
  switch (provenance) {
  case Provenance::Measured:
    return "measured";
  case Provenance::Fitted:
    return "fitted";
  case Provenance::Literature:
    return "literature";
  case Provenance::Guess:
    break;
  }
  return "guess";
}

std::optional<Node> read_library_file(const fs::path& file, const Node& named_by, const std::string& path,
                                      const std::string& format_key, const ObjectDescriptor& object,
                                      const Library& library, Problems& problems) {
  const std::string key = format_key + " " + file.string();
  if (library.cache != nullptr)
    if (const auto known = library.cache->files.find(key); known != library.cache->files.end())
      return known->second;
  std::string text;
  try {
    text = read_text_file(file);
  } catch (const UsageError& error) {
    problems.add(named_by.at, path, error.what());
    return std::nullopt;
  }
  const Position origin{std::make_shared<const std::string>(file.string()), library_layer, 1, 1};
  Problems own;
  auto root = parse_yaml(text, origin, own);
  if (root and root->find(format_key) == nullptr) {
    own.add(origin, "", fmt::format("this file does not begin with `{}: 1`", format_key));
  } else if (root) {
    expand_shorthands(*root, object);
    FormatCheck(library, own).check(*root, object);
    const Node* name = root->find("name");
    if (name != nullptr and name->is_scalar() and name->text != file.stem().string())
      own.add(name->at, "name",
              fmt::format("'{}' differs from the file's name, '{}'", name->text, file.stem().string()));
  }
  problems.add_new(own, Problems());
  if (not own.empty())
    return std::nullopt;
  if (library.cache != nullptr and root)
    library.cache->files.emplace(key, *root);
  return root;
}

std::optional<Node> read_machine_file(const Node& named_by, const std::string& path, const Library& library,
                                      Problems& problems) {
  const fs::path file = library_file(machines_folder(library), named_by.text, named_by.at);
  return read_library_file(file, named_by, path, "replisim_machine", object_of("machine_file"), library,
                           problems);
}

Machine machine_from(const Fields& fields) {
  Machine machine;
  machine.name = fields.text("name");
  machine.sockets = static_cast<int>(fields.integer("sockets"));
  machine.cores_per_socket = static_cast<int>(fields.integer("cores_per_socket"));
  machine.threads_per_core = static_cast<int>(fields.integer("threads_per_core"));
  machine.smt_gain = fields.number("smt_gain");
  machine.speed = fields.number("speed");
  machine.baseline = fields.number("baseline");
  machine.cpu_credits_s = fields.number("cpu_credits");
  machine.memory_bytes = fields.integer("memory");
  if (const Node* disks = fields.given("disks")) {
    for (const Node& item : disks->items) {
      const Fields disk(item, object_of("disk"));
      machine.disks.push_back({disk.text("name"), disk.number("fsync_latency"),
                               disk.number("write_bandwidth"), disk.number("read_bandwidth"),
                               disk.integer("capacity"), disk.integer("used"), disk.number("read_latency")});
    }
  }
  return machine;
}

void refine_profile(CostProfile& profile, double cpu_speed, const Node* costs,
                    const ObjectDescriptor& cost_object) {
  profile.cpu_speed *= cpu_speed;
  if (costs == nullptr)
    return;
  for (const MapEntry& group : costs->entries) {
    for (const MapEntry& entry : group.value.entries) {
      const CostParameter* parameter = find_cost_parameter(group.key + "." + entry.key);
      if (parameter == nullptr)
        continue; // reported by the check
      const Fields cost(entry.value, cost_object);
      const double scale = is_latency(parameter->name) ? 1.0 : profile.cpu_speed;
      profile.costs.*parameter->field = cost.number("value") * scale;
      profile.origins[std::string(parameter->name)] = {provenance_of(cost.text("provenance")),
                                                       cost.text("source")};
    }
  }
}

double effective_cost_s(const CostProfile& profile, const CostParameter& parameter) {
  const double stored = profile.costs.*parameter.field;
  return is_latency(parameter.name) ? stored : stored / profile.cpu_speed;
}

std::optional<CostProfile> read_profile_file(const Node& named_by, const std::string& path,
                                             const Library& library, Problems& problems, Envelope* envelope) {
  return ProfileReader(library, problems).read(named_by, path, envelope);
}

namespace {

CostProfile load(const std::string& name, const Library& library, Envelope& envelope) {
  if (const fs::path file = library_file(profiles_folder(library), name, Position{});
      not name.ends_with(".yaml") and not fs::exists(file))
    throw UsageError(fmt::format("unknown profile '{}'{}", name, suggestion(name, profile_names(library))));
  Problems problems;
  Node named_by;
  named_by.kind = Node::Kind::Scalar;
  named_by.text = name;
  auto profile = read_profile_file(named_by, "", library, problems, &envelope);
  problems.throw_if_any();
  return *profile;
}

} // namespace

CostProfile load_profile(const std::string& name, const Library& library) {
  Envelope ignored;
  return load(name, library, ignored);
}

Envelope load_envelope(const std::string& profile, const Library& library) {
  Envelope envelope;
  load(profile, library, envelope);
  return envelope;
}

} // namespace replisim
