#include "sim/scenario/yaml_document.hpp"

#include <fmt/format.h>
#include <yaml-cpp/eventhandler.h>
#include <yaml-cpp/exceptions.h>
#include <yaml-cpp/parser.h>

#include <array>
#include <fstream>
#include <map>
#include <sstream>

namespace replisim {

namespace {

/// Thrown out of yaml-cpp's event loop to stop at the first mistake that leaves no usable tree.
struct Stop {
  YAML::Mark mark;
  std::string message;
};

/// Builds nodes from yaml-cpp's events. yaml-cpp's own node tree would lose the positions of keys,
/// accept duplicate keys and guess types.
class TreeBuilder : public YAML::EventHandler {
public:
  TreeBuilder(const Position& origin, Problems& problems) : origin_(origin), problems_(problems) {}

  void OnDocumentStart(const YAML::Mark&) override {}
  void OnDocumentEnd() override {}

  void OnNull(const YAML::Mark& mark, YAML::anchor_t anchor) override {
    finish(begin(mark, anchor, Node::Kind::Null));
  }

  void OnAlias(const YAML::Mark& mark, YAML::anchor_t anchor) override {
    const auto known = anchors_.find(anchor);
    if (known == anchors_.end())
      throw Stop{mark, "this alias stands inside the value it refers to"};
    node_count_ += known->second.second;
    check_count(mark);
    finish({known->second.first, 0, known->second.second});
  }

  void OnScalar(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor,
                const std::string& value) override {
    check_tag(mark, tag);
    if (expects_key()) {
      if (frames_.back().node.entries.size() >= most_keys)
        throw Stop{mark, fmt::format("more than {} keys in one map", most_keys)};
      frames_.back().key = value;
      frames_.back().key_at = position(mark);
      frames_.back().has_key = true;
      return;
    }
    Frame frame = begin(mark, anchor, Node::Kind::Scalar);
    frame.node.text = value;
    finish(std::move(frame));
  }

  void OnSequenceStart(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor,
                       YAML::EmitterStyle::value) override {
    open(mark, tag, anchor, Node::Kind::List);
  }
  void OnMapStart(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor,
                  YAML::EmitterStyle::value) override {
    open(mark, tag, anchor, Node::Kind::Map);
  }
  void OnSequenceEnd() override { close(); }
  void OnMapEnd() override { close(); }

  Node take() { return std::move(root_); }

private:
  struct Frame {
    Node node;
    YAML::anchor_t anchor = 0;
    int node_count = 1; ///< nodes of the tree below, itself included
    bool has_key = false;
    std::string key = {};
    Position key_at = {};
    std::map<std::string, Position> keys = {}; ///< of a map, so far
  };

  Position position(const YAML::Mark& mark) const {
    Position at = origin_;
    if (at.layer != override_layer) {
      at.line = mark.line + 1;
      at.column = mark.column + 1;
    }
    return at;
  }

  bool expects_key() const {
    return not frames_.empty() and frames_.back().node.is_map() and not frames_.back().has_key;
  }

  void check_tag(const YAML::Mark& mark, const std::string& tag) const {
    if (not tag.empty() and tag != "?" and tag != "!")
      throw Stop{mark, fmt::format("YAML tags such as '{}' are not used here; write the plain value", tag)};
  }

  void check_count(const YAML::Mark& mark) const {
    if (node_count_ > most_nodes)
      throw Stop{mark, fmt::format("more than {} values, counting what aliases repeat", most_nodes)};
  }

  Frame begin(const YAML::Mark& mark, YAML::anchor_t anchor, Node::Kind kind) {
    if (expects_key())
      throw Stop{mark, "a key must be a plain name, not a list, a map or nothing (is a bracket left open?)"};
    ++node_count_;
    check_count(mark);
    Frame frame;
    frame.node.kind = kind;
    frame.node.at = position(mark);
    frame.anchor = anchor;
    return frame;
  }

  void open(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor, Node::Kind kind) {
    check_tag(mark, tag);
    if (frames_.size() >= static_cast<std::size_t>(deepest_nesting))
      throw Stop{mark, fmt::format("nested deeper than {} levels", deepest_nesting)};
    frames_.push_back(begin(mark, anchor, kind));
  }

  void close() {
    Frame frame = std::move(frames_.back());
    frames_.pop_back();
    finish(std::move(frame));
  }

  void finish(Frame frame) {
    if (frame.anchor != 0)
      anchors_[frame.anchor] = {frame.node, frame.node_count};
    if (frames_.empty()) {
      root_ = std::move(frame.node);
      return;
    }
    Frame& parent = frames_.back();
    parent.node_count += frame.node_count;
    if (parent.node.is_list()) {
      parent.node.items.push_back(std::move(frame.node));
      return;
    }
    parent.has_key = false;
    if (const auto [known, is_new] = parent.keys.emplace(parent.key, parent.key_at); not is_new) {
      problems_.add(parent.key_at, "",
                    fmt::format("duplicate key '{}'; it was already given in line {}, column {}", parent.key,
                                known->second.line, known->second.column));
      return;
    }
    parent.node.entries.push_back({parent.key, parent.key_at, std::move(frame.node)});
  }

  Position origin_;
  Problems& problems_;
  std::vector<Frame> frames_;
  std::map<YAML::anchor_t, std::pair<Node, int>> anchors_;
  int node_count_ = 0;
  Node root_;
};

/// yaml-cpp's two commonest complaints, in words for somebody who looks at the file.
std::string syntax_problem(const std::string& complaint) {
  if (complaint == "end of map flow not found")
    return "a map opened with '{' is not closed up to here; is a comma, a quote or a '}' missing?";
  if (complaint == "end of sequence flow not found")
    return "a list opened with '[' is not closed up to here; is a comma, a quote or a ']' missing?";
  return complaint;
}

Position at_byte(const std::string& text, std::size_t offset, Position origin) {
  if (origin.layer == override_layer)
    return origin;
  origin.line = 1;
  origin.column = 1;
  for (std::size_t i = 0; i < offset; ++i) {
    const bool line_end = text[i] == '\n';
    origin.line += line_end ? 1 : 0;
    origin.column = line_end ? 1 : origin.column + 1;
  }
  return origin;
}

/// Length of the UTF-8 sequence at `offset`; 0 when there is none.
std::size_t utf8_length(const std::string& text, std::size_t offset) {
  const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(text[i]); };
  const unsigned char lead = byte(offset);
  std::size_t length = 1;
  if (lead >= 0x80) {
    if (lead < 0xC2 or lead > 0xF4)
      return 0;
    length = lead < 0xE0 ? 2 : (lead < 0xF0 ? 3 : 4);
  }
  if (offset + length > text.size())
    return 0;
  for (std::size_t i = 1; i < length; ++i)
    if ((byte(offset + i) & 0xC0U) != 0x80U)
      return 0;
  return length;
}

/// Reports bytes that no text file holds and tabs used as indentation; both confuse YAML parsers into
/// messages about something else.
bool is_plain_text(const std::string& text, const Position& origin, Problems& problems) {
  bool only_spaces_so_far = true;
  for (std::size_t i = 0; i < text.size();) {
    const auto c = static_cast<unsigned char>(text[i]);
    const std::size_t length = utf8_length(text, i);
    if (length == 0 or c == 0x7F or (c < 0x20 and c != '\n' and c != '\r' and c != '\t')) {
      problems.add(at_byte(text, i, origin), "",
                   fmt::format("byte 0x{:02x}: this is not a UTF-8 text file", c));
      return false;
    }
    if (c == '\t' and only_spaces_so_far) {
      problems.add(at_byte(text, i, origin), "", "a tab is used as indentation; YAML wants spaces");
      return false;
    }
    only_spaces_so_far = c == '\n' or (only_spaces_so_far and c == ' ');
    i += length;
  }
  return true;
}

} // namespace

std::optional<Node> parse_yaml(const std::string& text, const Position& origin, Problems& problems) {
  if (not is_plain_text(text, origin, problems))
    return std::nullopt;
  TreeBuilder builder(origin, problems);
  const auto report = [&](const YAML::Mark& mark, const std::string& message) {
    Position at = origin;
    if (at.layer != override_layer) {
      at.line = mark.line + 1;
      at.column = mark.column + 1;
    }
    problems.add(at, "", message);
  };
  try {
    std::istringstream stream(text);
    YAML::Parser parser(stream);
    if (not parser.HandleNextDocument(builder)) {
      Node empty;
      empty.at = origin;
      return empty;
    }
    Node root = builder.take();
    TreeBuilder second(origin, problems);
    if (parser.HandleNextDocument(second)) {
      problems.add(second.take().at, "", "a second YAML document begins here; one file holds one document");
      return std::nullopt;
    }
    return root;
  } catch (const Stop& stop) {
    report(stop.mark, stop.message);
  } catch (const YAML::Exception& error) {
    report(error.mark, "not valid YAML: " + syntax_problem(error.msg));
  }
  return std::nullopt;
}

std::string read_text_file(const std::filesystem::path& file) {
  std::error_code error;
  const auto status = std::filesystem::status(file, error);
  if (not std::filesystem::exists(status))
    throw UsageError(fmt::format("{}: there is no such file", file.string()));
  if (std::filesystem::is_directory(status))
    throw UsageError(fmt::format("{}: this is a folder, not a file", file.string()));
  std::ifstream stream(file, std::ios::binary);
  if (not stream)
    throw UsageError(fmt::format("{}: the file cannot be opened for reading", file.string()));
  // Devices and pipes have no size to ask for: read on until the end, or one byte more than allowed.
  std::string text;
  std::array<char, 16384> block;
  while (stream and text.size() <= largest_file_bytes) {
    stream.read(block.data(), static_cast<std::streamsize>(block.size()));
    text.append(block.data(), static_cast<std::size_t>(stream.gcount()));
  }
  if (text.size() > largest_file_bytes)
    throw UsageError(fmt::format("{}: larger than {} MB, which no scenario is", file.string(),
                                 largest_file_bytes / (1024 * 1024)));
  return text;
}

} // namespace replisim
