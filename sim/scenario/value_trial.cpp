#include "sim/scenario/value_trial.hpp"

#include "sim/scenario/field_path.hpp"
#include "sim/scenario/format_check.hpp"

#include <utility>

namespace replisim {

ValueTrial::ValueTrial(const Library& library, Node tree, Problems& problems)
    : library_(library), tree_(std::move(tree)), problems_(problems) {
  for (const char* question : {"sweep", "break_even", "plan"})
    tree_.remove(question);
  Node copy = tree_;
  FormatCheck(library_, own_).check(copy, object_of("scenario"));
}

bool ValueTrial::is_path(const std::string& text, const Position& at, const std::string& where) {
  std::string problem;
  const bool is = parse_path(text, problem).has_value();
  if (not is)
    problems_.add(at, where, problem);
  return is;
}

void ValueTrial::put(const std::string& path_text, const Node& value, const Position& key_at) {
  std::string problem;
  const FieldPath path = *parse_path(path_text, problem);
  Node copy = tree_;
  problem = put_node(copy, path, value, key_at);
  if (not problem.empty()) {
    problems_.add(key_at, path_text, problem);
    return;
  }
  const ObjectDescriptor& object = object_of("scenario");
  expand_shorthands(copy, object);
  Problems found;
  FormatCheck(library_, found).check(copy, object);
  problems_.add_new(found, own_);
}

} // namespace replisim
