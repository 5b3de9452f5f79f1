#include "sim/scenario/problems.hpp"

#include <algorithm>
#include <tuple>

namespace replisim {

namespace {
bool same(const Diagnostic& a, const Diagnostic& b) {
  return std::tie(a.file, a.line, a.column, a.path, a.message) ==
         std::tie(b.file, b.line, b.column, b.path, b.message);
}
} // namespace

void Problems::add(const Position& at, std::string path, std::string message) {
  Diagnostic diagnostic{at.file ? *at.file : "", at.line, at.column, std::move(path), std::move(message)};
  const bool known = std::any_of(found_.begin(), found_.end(),
                                 [&](const Entry& entry) { return same(entry.diagnostic, diagnostic); });
  if (not known)
    found_.push_back({at.layer, std::move(diagnostic)});
}

void Problems::add_found(const Position& at, std::vector<Diagnostic> diagnostics) {
  for (Diagnostic& diagnostic : diagnostics)
    found_.push_back({at.layer, std::move(diagnostic)});
}

std::vector<Diagnostic> Problems::sorted() const {
  std::vector<Entry> entries = found_;
  const auto rank = [](const Entry& entry) {
    const int layer_rank = entry.layer == override_layer ? 1 : -entry.layer;
    return std::tuple(layer_rank, entry.diagnostic.file, entry.diagnostic.line, entry.diagnostic.column);
  };
  std::stable_sort(entries.begin(), entries.end(),
                   [&](const Entry& a, const Entry& b) { return rank(a) < rank(b); });
  std::vector<Diagnostic> out;
  out.reserve(entries.size());
  for (Entry& entry : entries)
    out.push_back(std::move(entry.diagnostic));
  return out;
}

void Problems::throw_if_any() const {
  if (not empty())
    throw ScenarioError(sorted());
}

void Problems::add_new(const Problems& other, const Problems& known) {
  for (const Entry& entry : other.found_) {
    const auto is_same = [&](const Entry& old) { return same(old.diagnostic, entry.diagnostic); };
    if (std::none_of(known.found_.begin(), known.found_.end(), is_same) and
        std::none_of(found_.begin(), found_.end(), is_same))
      found_.push_back(entry);
  }
}

std::string join_path(const std::string& parent, const std::string& key) {
  return parent.empty() ? key : parent + "." + key;
}

} // namespace replisim
