// Files and folders that are being written under another name: a signal that ends the program takes them
// away.
#pragma once

#include <filesystem>

namespace replisim {

/// While one lives, SIGTERM, SIGHUP and SIGINT, where they would end the program, delete `file`, or an empty
/// folder of that name, first; where somebody catches or ignores them, that stays. Children forked meanwhile
/// leave it alone.
class UnfinishedFile {
public:
  explicit UnfinishedFile(const std::filesystem::path& file);
  ~UnfinishedFile();
  UnfinishedFile(const UnfinishedFile&) = delete;
  UnfinishedFile& operator=(const UnfinishedFile&) = delete;

private:
  char* name_;
};

} // namespace replisim
