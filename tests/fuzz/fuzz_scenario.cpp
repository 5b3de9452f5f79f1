// Scenario files, what they extend and name, and overrides: text to a checked scenario, no simulation.
// Parts of an input: the scenario; `#### set` with a path=value a line; `#### base.yaml`,
// `#### postgresql.conf`, `#### replay.csv` are files beside it.
#include "tests/fuzz/fuzz.hpp"

#include <algorithm>
#include <array>

using namespace replisim;

namespace {

constexpr std::array<const char*, 3> beside = {"base.yaml", "postgresql.conf", "replay.csv"};

std::vector<Override> overrides_of(std::string_view text) {
  constexpr std::size_t most = 8;
  std::vector<Override> overrides;
  while (not text.empty() and overrides.size() < most) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    if (end > 0)
      overrides.push_back(parse_override(std::string(text.substr(0, end))));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return overrides;
}

} // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  std::vector<Override> overrides;
  std::filesystem::path file;
  static std::array<bool, beside.size()> is_there{};
  std::array<bool, beside.size()> wanted{};
  const bool fits = fuzz::accepted([&] {
    for (const auto& part : fuzz::parts_of(fuzz::view_of(data, size))) {
      if (part.name.empty())
        file = fuzz::scratch_file("scenario.yaml", part.text);
      if (part.name == "set")
        overrides = overrides_of(part.text);
      for (std::size_t i = 0; i < beside.size(); ++i)
        if (part.name == beside[i]) {
          fuzz::scratch_file(part.name, part.text);
          wanted[i] = is_there[i] = true;
        }
    }
  });
  for (std::size_t i = 0; i < beside.size(); ++i)
    if (is_there[i] and not wanted[i]) {
      std::filesystem::remove(fuzz::scratch_folder() / beside[i]);
      is_there[i] = false;
    }
  if (not fits)
    return 0;
  fuzz::accepted([&] {
    const Scenario scenario = load_scenario(file, overrides, fuzz::library());
    if (scenario.hash.empty())
      fuzz::broken("an accepted scenario without an identity");
  });
  fuzz::forget_scratch_files();
  return 0;
}
