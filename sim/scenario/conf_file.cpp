#include "sim/scenario/conf_file.hpp"

#include "sim/scenario/yaml_document.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <optional>
#include <system_error>

namespace replisim {

namespace {

namespace fs = std::filesystem;

bool is_letter(char c) {
  return std::isalpha(static_cast<unsigned char>(c)) != 0 or c == '_' or
         static_cast<unsigned char>(c) >= 0x80;
}
bool is_digit(char c) { return std::isdigit(static_cast<unsigned char>(c)) != 0; }
bool is_blank(char c) { return c == ' ' or c == '\t' or c == '\r' or c == '\f' or c == '\v'; }

/// An identifier or UNQUOTED_STRING of guc-file.l: `on`, `logical`, `C.UTF-8`, `pg_catalog.english`.
bool is_word(std::string_view text) {
  return not text.empty() and is_letter(text[0]) and std::all_of(text.begin(), text.end(), [](char c) {
    return is_letter(c) or is_digit(c) or c == '-' or c == '.' or c == '_' or c == ':' or c == '/';
  });
}

std::size_t digits_at(std::string_view text, std::size_t at) {
  std::size_t end = at;
  while (end < text.size() and is_digit(text[end]))
    ++end;
  return end - at;
}

/// INTEGER (with a unit) or REAL (without one) of guc-file.l.
bool is_number(std::string_view text) {
  if (not text.empty() and (text[0] == '+' or text[0] == '-'))
    text.remove_prefix(1);
  if (text.starts_with("0x"))
    return text.size() > 2 and std::all_of(text.begin() + 2, text.end(), [](char c) {
             return std::isalnum(static_cast<unsigned char>(c)) != 0;
           });
  const std::size_t whole = digits_at(text, 0);
  if (whole == text.size())
    return whole > 0;
  if (text[whole] != '.')
    return whole > 0 and std::all_of(text.begin() + static_cast<std::ptrdiff_t>(whole), text.end(),
                                     [](char c) { return std::isalpha(static_cast<unsigned char>(c)) != 0; });
  std::size_t at = whole + 1 + digits_at(text, whole + 1);
  if (at < text.size() and (text[at] == 'e' or text[at] == 'E')) {
    ++at;
    if (at < text.size() and (text[at] == '+' or text[at] == '-'))
      ++at;
    const std::size_t exponent = digits_at(text, at);
    return exponent > 0 and at + exponent == text.size();
  }
  return at == text.size();
}

/// One line: `name [=] value [# comment]`.
class Line {
public:
  explicit Line(std::string_view text) : text_(text) {}

  /// False where the line holds nothing.
  bool begins() {
    skip_blanks();
    return at_ < text_.size() and text_[at_] != '#';
  }

  /// The name, lower case; empty with a `problem` where none stands here.
  std::string name() {
    name_column_ = column();
    const std::size_t start = at_;
    while (at_ < text_.size() and (is_letter(text_[at_]) or is_digit(text_[at_]) or text_[at_] == '.'))
      ++at_;
    std::string out(text_.substr(start, at_ - start));
    if (out.empty() or not is_letter(out[0])) {
      problem = fmt::format("found '{}' where the name of a setting is wanted", rest_from(start));
      return {};
    }
    std::transform(out.begin(), out.end(), out.begin(),
                   [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
    return out;
  }

  /// The value after the name, unquoted.
  std::optional<std::string> value() {
    skip_blanks();
    if (at_ < text_.size() and text_[at_] == '=')
      ++at_;
    skip_blanks();
    value_column_ = column();
    const std::size_t start = at_;
    if (at_ >= text_.size() or text_[at_] == '#') {
      problem = "there is no value; an empty one is written ''";
      return std::nullopt;
    }
    const auto out = text_[at_] == '\'' ? quoted() : plain();
    if (not out)
      return std::nullopt;
    skip_blanks();
    if (at_ < text_.size() and text_[at_] != '#') {
      problem = fmt::format("found `{}`; one value stands on a line, and one with blanks is put between "
                            "single quotes",
                            rest_from(start));
      return std::nullopt;
    }
    return out;
  }

  int name_column() const { return name_column_; }
  int value_column() const { return value_column_; }
  std::string problem;

private:
  int column() const { return static_cast<int>(at_) + 1; }
  void skip_blanks() {
    while (at_ < text_.size() and is_blank(text_[at_]))
      ++at_;
  }

  std::string rest_from(std::size_t start) const {
    std::string_view rest = text_.substr(start);
    rest = rest.substr(0, rest.find('#'));
    while (not rest.empty() and is_blank(rest.back()))
      rest.remove_suffix(1);
    return std::string(rest);
  }

  std::optional<std::string> plain() {
    const std::size_t start = at_;
    while (at_ < text_.size() and not is_blank(text_[at_]) and text_[at_] != '#')
      ++at_;
    const std::string_view word = text_.substr(start, at_ - start);
    if (is_word(word) or is_number(word))
      return std::string(word);
    problem = fmt::format("found `{}`; without quotes a value is a word, a whole number with its unit, or a "
                          "number without one; others are put between single quotes",
                          word);
    return std::nullopt;
  }

  /// GUC_scanstr: '' and \' are a quote, \n and such and octal numbers as in C.
  std::optional<std::string> quoted() {
    std::string out;
    for (++at_; at_ < text_.size(); ++at_) {
      const char c = text_[at_];
      if (c == '\'' and at_ + 1 < text_.size() and text_[at_ + 1] == '\'') {
        out += c;
        ++at_;
      } else if (c == '\'') {
        ++at_;
        return out;
      } else if (c == '\\' and at_ + 1 < text_.size()) {
        out += escaped();
      } else {
        out += c;
      }
    }
    problem = "the value's quote is not closed on this line";
    return std::nullopt;
  }

  char escaped() {
    constexpr std::string_view letters = "bfnrt";
    constexpr std::string_view meanings = "\b\f\n\r\t";
    const char c = text_[++at_];
    if (const std::size_t known = letters.find(c); known != std::string_view::npos)
      return meanings[known];
    int value = 0;
    std::size_t digits = 0;
    while (digits < 3 and at_ + digits < text_.size() and text_[at_ + digits] >= '0' and
           text_[at_ + digits] <= '7')
      value = value * 8 + (text_[at_ + digits++] - '0');
    if (digits == 0)
      return c;
    at_ += digits - 1;
    return static_cast<char>(value);
  }

  std::string_view text_;
  std::size_t at_ = 0;
  int name_column_ = 1;
  int value_column_ = 1;
};

class ConfReader {
public:
  explicit ConfReader(Problems& problems) : problems_(problems) {}

  void read(const fs::path& file, const Position& named_at, const std::string& path, int depth) {
    // Each level of files that include each other may multiply them: the first sentence is enough.
    if (stopped_)
      return;
    std::error_code error;
    if (not fs::is_regular_file(file, error)) {
      problems_.add(named_at, path, fmt::format("there is no file {}", file.string()));
      return;
    }
    if (depth > deepest_include) {
      problems_.add(
          named_at, path,
          fmt::format("{} is included more than {} files deep; files that include each other never end",
                      file.string(), deepest_include));
      stopped_ = true;
      return;
    }
    if (++files_ > most_included_files) {
      problems_.add(named_at, path,
                    fmt::format("more than {} files are included, one by another", most_included_files));
      stopped_ = true;
      return;
    }
    std::string text;
    try {
      text = read_text_file(file);
    } catch (const UsageError& failure) {
      problems_.add(named_at, path, failure.what());
      return;
    }
    const auto name = std::make_shared<const std::string>(file.string());
    std::string_view left = text;
    for (int number = 1; not left.empty(); ++number) {
      const std::size_t end = std::min(left.find('\n'), left.size());
      read_line(left.substr(0, end), {name, library_layer, number, 1}, file, depth);
      left.remove_prefix(std::min(end + 1, left.size()));
    }
  }

  std::vector<ConfSetting> settings;

private:
  void read_line(std::string_view text, Position at, const fs::path& file, int depth) {
    Line line(text);
    if (not line.begins())
      return;
    const std::string name = line.name();
    const auto value = name.empty() ? std::nullopt : line.value();
    at.column = line.name_column();
    if (not value) {
      if (not name.empty())
        at.column = line.value_column();
      problems_.add(at, name, line.problem);
      return;
    }
    Position value_at = at;
    value_at.column = line.value_column();
    if (name == "include" or name == "include_if_exists" or name == "include_dir")
      include(name, *value, value_at, file.parent_path() / *value, depth);
    else
      settings.push_back({name, *value, at, value_at});
  }

  void include(const std::string& directive, const std::string& value, const Position& at,
               const fs::path& target, int depth) {
    std::error_code error;
    if (value.empty()) {
      problems_.add(at, directive, "found an empty name");
    } else if (directive == "include_dir") {
      include_folder(target, at, depth);
    } else if (directive == "include" or fs::exists(target, error)) {
      read(target.lexically_normal(), at, directive, depth + 1);
    }
  }

  /// Files that end in .conf and do not begin with a dot, in the order of their bytes.
  void include_folder(const fs::path& folder, const Position& at, int depth) {
    std::error_code error;
    if (not fs::is_directory(folder, error)) {
      problems_.add(at, "include_dir",
                    fmt::format("there is no folder {}", folder.lexically_normal().string()));
      return;
    }
    std::vector<std::string> names;
    for (fs::directory_iterator entry(folder, error), end; not error and entry != end;
         entry.increment(error)) {
      const std::string name = entry->path().filename().string();
      if (name.ends_with(".conf") and not name.starts_with(".") and not entry->is_directory())
        names.push_back(name);
    }
    std::sort(names.begin(), names.end());
    for (const std::string& name : names)
      read((folder / name).lexically_normal(), at, "include_dir", depth + 1);
  }

  Problems& problems_;
  int files_ = 0;
  bool stopped_ = false;
};

} // namespace

std::vector<ConfSetting> read_conf_file(const fs::path& file, const Position& named_at,
                                        const std::string& path, Problems& problems) {
  ConfReader reader(problems);
  reader.read(file, named_at, path, 0);
  const fs::path by_alter_system = file.parent_path() / "postgresql.auto.conf";
  std::error_code error;
  if (by_alter_system != file and fs::exists(by_alter_system, error))
    reader.read(by_alter_system, named_at, path, 0);
  return std::move(reader.settings);
}

} // namespace replisim
