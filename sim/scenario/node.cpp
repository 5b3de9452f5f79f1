#include "sim/scenario/node.hpp"

#include <algorithm>
#include <cctype>
#include <utility>

namespace replisim {

const Node* Node::find(std::string_view key) const {
  for (const MapEntry& entry : entries)
    if (entry.key == key)
      return &entry.value;
  return nullptr;
}

Node* Node::find(std::string_view key) { return const_cast<Node*>(std::as_const(*this).find(key)); }

void Node::put(std::string_view key, Node value, const Position& key_at) {
  for (MapEntry& entry : entries) {
    if (entry.key == key) {
      entry.at = key_at;
      entry.value = std::move(value);
      return;
    }
  }
  entries.push_back({std::string(key), key_at, std::move(value)});
}

void Node::remove(std::string_view key) {
  std::erase_if(entries, [key](const MapEntry& entry) { return entry.key == key; });
}

std::vector<std::string> Node::keys() const {
  std::vector<std::string> out;
  out.reserve(entries.size());
  for (const MapEntry& entry : entries)
    out.push_back(entry.key);
  return out;
}

std::string describe(const Node& node) {
  constexpr std::size_t longest = 60;
  switch (node.kind) {
  case Node::Kind::Null:
    return "nothing";
  case Node::Kind::Map:
    return "a map";
  case Node::Kind::List:
    return "a list";
  case Node::Kind::Scalar:
    break;
  }
  if (node.text.size() > longest)
    return "'" + node.text.substr(0, longest) + "...'";
  return "'" + node.text + "'";
}

void merge_over(Node& base, const Node& child) {
  if (base.is_map() and child.kind == Node::Kind::Null)
    return; // `servers:` with nothing below says nothing
  if (not base.is_map() or not child.is_map() or child.shorthand) {
    base = child;
    return;
  }
  for (const MapEntry& entry : child.entries) {
    if (Node* known = base.find(entry.key))
      merge_over(*known, entry.value);
    else
      base.entries.push_back(entry);
  }
}

namespace {

bool is_plain(const std::string& text) {
  static const std::string reserved_words[] = {"null", "Null", "NULL", "~", ""};
  if (std::find(std::begin(reserved_words), std::end(reserved_words), text) != std::end(reserved_words))
    return false;
  const auto first = static_cast<unsigned char>(text.front());
  if (std::isalnum(first) == 0 and first != '.' and first != '_' and first != '/')
    return false;
  return text.back() != ' ' and std::all_of(text.begin(), text.end(), [](unsigned char c) {
           return std::isalnum(c) != 0 or
                  std::string_view("._-/%+() ").find(static_cast<char>(c)) != std::string_view::npos;
         });
}

std::string scalar_text(const std::string& text) {
  if (is_plain(text))
    return text;
  static constexpr char hex[] = "0123456789abcdef";
  std::string out = "\"";
  for (const char c : text) {
    if (c == '"' or c == '\\')
      out += std::string("\\") + c;
    else if (static_cast<unsigned char>(c) < 0x20)
      out += std::string("\\x") + hex[static_cast<unsigned char>(c) >> 4U] +
             hex[static_cast<unsigned char>(c) & 15U];
    else
      out += c;
  }
  return out + "\"";
}

std::string render(const Node& node, bool canonical, bool keep_order) {
  std::string out;
  if (node.is_scalar())
    return scalar_text(node.text);
  if (node.is_list()) {
    for (const Node& item : node.items)
      out += (out.empty() ? "" : ", ") + render(item, canonical, false);
    return "[" + out + "]";
  }
  if (not node.is_map())
    return "null";
  std::vector<const MapEntry*> entries;
  for (const MapEntry& entry : node.entries)
    if (not canonical or entry.value.kind != Node::Kind::Null)
      entries.push_back(&entry);
  if (canonical and not keep_order)
    std::sort(entries.begin(), entries.end(),
              [](const MapEntry* a, const MapEntry* b) { return a->key < b->key; });
  for (const MapEntry* entry : entries)
    out += (out.empty() ? "" : ", ") + scalar_text(entry->key) + ": " +
           render(entry->value, canonical, entry->key == "columns");
  return "{" + out + "}";
}

} // namespace

std::string flow_text(const Node& node) { return render(node, false, false); }

std::string canonical_text(const Node& node) { return render(node, true, false); }

} // namespace replisim
