#include "tests/cli/program.hpp"
#include "test_paths.hpp"

#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <sstream>
#include <stdexcept>

#include <sys/wait.h>
#include <unistd.h>

namespace replisim::test {

namespace fs = std::filesystem;

ScratchFolder::ScratchFolder() {
  std::string name = (fs::temp_directory_path() / "replisim-cli-XXXXXX").string();
  if (::mkdtemp(name.data()) == nullptr)
    throw std::runtime_error("no scratch folder");
  path_ = name;
}

ScratchFolder::~ScratchFolder() {
  std::error_code ignored;
  fs::remove_all(path_, ignored);
}

std::string ScratchFolder::write(const std::string& name, const std::string& text) const {
  std::ofstream(path_ / name) << text;
  return (path_ / name).string();
}

std::string read_file(const fs::path& file) {
  std::ostringstream out;
  out << std::ifstream(file, std::ios::binary).rdbuf();
  return out.str();
}

std::size_t count_lines(const std::string& text) {
  return static_cast<std::size_t>(std::count(text.begin(), text.end(), '\n'));
}

Outcome shell(const std::string& command) {
  const ScratchFolder folder;
  // bash: its `wait` and `PIPESTATUS` say what happened to one process of several.
  const std::string script = folder.write("script", command + "\n");
  const std::string line = "cd '" REPLISIM_SOURCE_DIR "' && REPLISIM='" REPLISIM_PROGRAM "' bash '" + script +
                           "' >'" + (folder / "out").string() + "' 2>'" + (folder / "err").string() +
                           "' </dev/null";
  const int status = std::system(line.c_str());
  return {WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status), read_file(folder / "out"),
          read_file(folder / "err")};
}

Outcome program(const std::string& arguments) { return shell("exec \"$REPLISIM\" " + arguments); }

} // namespace replisim::test
