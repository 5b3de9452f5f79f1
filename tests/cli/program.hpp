// Runs the real program as a user would: a command line, two streams, an exit code.
#pragma once

#include <filesystem>
#include <string>

namespace replisim::test {

struct Outcome {
  int exit_code = -1; ///< 128 + signal where one ended it, as a shell says
  std::string out;
  std::string err;
};

/// Runs `replisim ARGUMENTS` through the shell in the source folder; ARGUMENTS may redirect.
Outcome program(const std::string& arguments);

/// A shell command line, with $REPLISIM standing for the program.
Outcome shell(const std::string& command);

/// The one big insert, with few rows: quick.
inline const std::string insert = "scenarios/published/streaming_insert.yaml";

/// A folder of its own under the temporary folder, gone with the object.
class ScratchFolder {
public:
  ScratchFolder();
  ~ScratchFolder();
  ScratchFolder(const ScratchFolder&) = delete;
  ScratchFolder& operator=(const ScratchFolder&) = delete;
  std::filesystem::path operator/(const std::string& name) const { return path_ / name; }
  std::string write(const std::string& name, const std::string& text) const; ///< returns the file's path

private:
  std::filesystem::path path_;
};

std::string read_file(const std::filesystem::path& file);
std::size_t count_lines(const std::string& text);

} // namespace replisim::test
