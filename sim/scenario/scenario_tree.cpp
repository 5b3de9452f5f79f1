#include "sim/scenario/scenario_tree.hpp"

#include "sim/scenario/field_path.hpp"
#include "sim/scenario/format_check.hpp"
#include "sim/scenario/yaml_document.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace replisim {

namespace {

namespace fs = std::filesystem;

class ChainReader {
public:
  explicit ChainReader(Problems& problems) : problems_(problems) {}

  /// The merged tree of `file` and its bases; throws when there is none.
  Node read(const fs::path& file) {
    Position origin{std::make_shared<const std::string>(file.string()),
                    override_layer - 1 - static_cast<int>(chain_.size()), 1, 1};
    std::error_code error;
    chain_.push_back(fs::weakly_canonical(file, error));
    const std::string text = read_text_file(file);
    auto root = parse_yaml(text, origin, problems_);
    if (not root)
      problems_.throw_if_any();
    require_scenario(*root, origin);
    expand_shorthands(*root, object_of("scenario"));
    const Node* extends = root->find("extends");
    if (extends == nullptr)
      return *root;
    Node base = read_base(*extends, file);
    root->remove("extends");
    // What is missing is missing from the file the user named.
    base.at = root->at;
    merge_over(base, *root);
    return base;
  }

private:
  Node read_base(const Node& extends, const fs::path& file) {
    if (not extends.is_scalar() or extends.text.empty())
      fail(extends, fmt::format("{} stands where the path of a scenario file is wanted", describe(extends)));
    const fs::path base = (file.parent_path() / extends.text).lexically_normal();
    std::error_code error;
    const fs::path canonical = fs::weakly_canonical(base, error);
    if (std::find(chain_.begin(), chain_.end(), canonical) != chain_.end())
      fail(extends, fmt::format("{} already stands in this chain of `extends`: the files extend each other",
                                base.string()));
    if (chain_.size() >= static_cast<std::size_t>(longest_extends_chain))
      fail(extends, fmt::format("a chain of more than {} files", longest_extends_chain));
    if (not fs::is_regular_file(base, error))
      fail(extends, fmt::format("there is no file {}", base.string()));
    return read(base);
  }

  void require_scenario(const Node& root, const Position& origin) {
    if (root.kind == Node::Kind::Null) {
      problems_.add(origin, "", "the file is empty; a scenario begins with `replisim: 1`");
      problems_.throw_if_any();
    }
    if (not root.is_map()) {
      problems_.add(root.at, "",
                    fmt::format("{} stands where a scenario is wanted: a map that begins with "
                                "`replisim: 1`",
                                describe(root)));
      problems_.throw_if_any();
    }
    for (const auto& [key, what] : {std::pair("replisim_machine", "a machine: name it in `hosts`"),
                                    std::pair("replisim_profile", "a cost profile: name it in `profile`")}) {
      if (root.find(key) == nullptr)
        continue;
      problems_.add(root.at, "", fmt::format("this file describes {}; it is no scenario", what));
      problems_.throw_if_any();
    }
  }

  [[noreturn]] void fail(const Node& node, const std::string& message) {
    problems_.add(node.at, "extends", message);
    throw ScenarioError(problems_.sorted());
  }

  Problems& problems_;
  std::vector<fs::path> chain_;
};

void apply_override(Node& root, const Override& change, Problems& problems) {
  const Position at{std::make_shared<const std::string>("--set " + change.path), override_layer, 0, 0};
  std::string problem;
  const auto path = parse_path(change.path, problem);
  if (not path) {
    problems.add(at, "", problem);
    return;
  }
  if (path->front().key == "extends") {
    problems.add(at, "", "`extends` says how the file itself is read; it cannot be overridden");
    return;
  }
  const auto value = parse_yaml(change.value, at, problems);
  if (not value)
    return;
  problem = put_node(root, *path, *value, at);
  if (not problem.empty())
    problems.add(at, change.path, problem);
  else
    expand_shorthands(root, object_of("scenario"));
}

} // namespace

Node read_tree(const fs::path& file, Problems& problems) { return ChainReader(problems).read(file); }

void apply_overrides(Node& root, const std::vector<Override>& overrides, Problems& problems) {
  for (const Override& change : overrides)
    apply_override(root, change, problems);
}

} // namespace replisim
