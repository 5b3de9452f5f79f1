// Scenario texts for tests: a small sound one, and loading with the errors as lines of text.
#pragma once

#include "models/base/errors.hpp"
#include "sim/scenario/loader.hpp"
#include "test_paths.hpp"

#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include <unistd.h>

namespace replisim::test {

/// The library of the source tree.
inline Library shipped_library() { return {REPLISIM_SOURCE_DIR}; }

/// A folder for the files of one test; gone with the object.
class Folder {
public:
  Folder() {
    std::string pattern = (std::filesystem::temp_directory_path() / "replisim-XXXXXX").string();
    root_ = mkdtemp(pattern.data());
  }
  ~Folder() {
    std::error_code ignored;
    std::filesystem::remove_all(root_, ignored);
  }
  Folder(const Folder&) = delete;
  Folder& operator=(const Folder&) = delete;

  std::filesystem::path write(const std::string& name, const std::string& text) const {
    const std::filesystem::path file = root_ / name;
    std::filesystem::create_directories(file.parent_path());
    std::ofstream(file, std::ios::binary) << text;
    return file;
  }
  const std::filesystem::path& root() const { return root_; }

private:
  std::filesystem::path root_;
};

/// Line 1 to 11 of every test scenario that wants a sound beginning.
inline const std::string sound = R"(replisim: 1
name: a test
profile: lab-2core
hosts: {db: lab-2core}
servers:
  pub: {host: db, version: 17}
  sub: {host: db, version: 17}
tables: {t: {columns: {a: int4, b: text(32)}, primary_key: [a], rows: 100}}
publications: {p: {server: pub, tables: [t]}}
subscriptions: {s: {server: sub, publication: p}}
workload: {w: {server: pub, transaction: [{insert: t, rows: 10}]}}
)";

/// `text` with the first occurrence of `from` replaced.
inline std::string replaced(std::string text, const std::string& from, const std::string& to) {
  return text.replace(text.find(from), from.size(), to);
}

inline Scenario load_text(const std::string& text, const std::vector<Override>& overrides = {}) {
  const Folder folder;
  return load_scenario(folder.write("s.yaml", text), overrides, shipped_library());
}

/// "line:column path: message" of each mistake; overrides show their `--set path` in place of line:column.
inline std::vector<std::string> errors_in(const std::filesystem::path& file,
                                          const std::vector<Override>& overrides = {},
                                          const Library& library = shipped_library()) {
  try {
    load_scenario(file, overrides, library);
  } catch (const ScenarioError& error) {
    std::vector<std::string> out;
    for (const Diagnostic& d : error.diagnostics()) {
      std::string where = d.line == 0 ? d.file : std::to_string(d.line) + ":" + std::to_string(d.column);
      if (d.line > 0 and d.file != file.string())
        where = std::filesystem::path(d.file).filename().string() + ":" + where;
      out.push_back(where + " " + (d.path.empty() ? "" : d.path + ": ") + d.message);
    }
    return out;
  }
  return {};
}

inline std::vector<std::string> errors_of(const std::string& text,
                                          const std::vector<Override>& overrides = {}) {
  const Folder folder;
  return errors_in(folder.write("s.yaml", text), overrides);
}

using Lines = std::vector<std::string>;

} // namespace replisim::test
