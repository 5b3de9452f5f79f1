// postgresql.conf: parts `#### other.conf` and `#### postgresql.auto.conf` lie beside it.
#include "sim/scenario/conf_file.hpp"
#include "tests/fuzz/fuzz.hpp"

using namespace replisim;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  std::error_code ignored;
  for (const char* name : {"other.conf", "postgresql.auto.conf"})
    std::filesystem::remove(fuzz::scratch_folder() / name, ignored);
  std::filesystem::path file;
  for (const auto& part : fuzz::parts_of(fuzz::view_of(data, size))) {
    if (part.name.empty())
      file = fuzz::scratch_file("postgresql.conf", part.text);
    else if (part.name == "other.conf" or part.name == "postgresql.auto.conf")
      fuzz::scratch_file(part.name, part.text);
  }
  Problems problems;
  for (const ConfSetting& setting : read_conf_file(file, {}, "servers.pub.include_conf", problems))
    if (setting.name.empty() or setting.name_at.line < 1 or setting.value_at.column < 1)
      fuzz::broken("a setting without a name or a place");
  fuzz::accepted([&] { problems.throw_if_any(); });
  return 0;
}
