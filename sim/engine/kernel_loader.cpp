// Finds the module that simulates and loads it.
#include "sim/engine/kernel.hpp"

#include "models/base/errors.hpp"

#include <fmt/format.h>

#include <filesystem>

#include <dlfcn.h>

namespace replisim::engine {

namespace {

namespace fs = std::filesystem;

constexpr const char* module_file = "lib/replisim/replisim_simgrid.so";

/// In the folder of the program or one above it, as `cmake --install` and a build folder have it; a program
/// that was copied away takes the one it was built with.
fs::path module_path() {
  std::error_code error;
  const fs::path program = fs::read_symlink("/proc/self/exe", error);
  for (const fs::path& start : {program.parent_path(), fs::path(REPLISIM_BUILD_TREE)})
    for (fs::path folder = start; not folder.empty(); folder = folder.parent_path()) {
      if (fs::exists(folder / module_file, error))
        return folder / module_file;
      if (folder == folder.root_path())
        break;
    }
  throw UsageError(
      fmt::format("the part of replisim that simulates, {}, is neither above {} nor where it was built; "
                  "install replisim again",
                  module_file, program.parent_path().string()));
}

/// Each of the many names that SimGrid's libraries want of each other would be looked for in all of the
/// program's first, which doubles the time of loading. The address sanitizer has to see all names.
#if defined(__SANITIZE_ADDRESS__)
constexpr int own_names_first = 0;
#else
constexpr int own_names_first = RTLD_DEEPBIND;
#endif

struct Module {
  Kernel* (*make)(const std::map<std::string, std::string>*) = nullptr;
  void (*version)(int*, int*, int*) = nullptr;
};

Module open_module() {
  const fs::path path = module_path();
  void* module = ::dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL | own_names_first);
  if (module == nullptr)
    throw UsageError(fmt::format("the part of replisim that simulates cannot be loaded: {}", ::dlerror()));
  Module out;
  out.make = reinterpret_cast<decltype(out.make)>(::dlsym(module, "replisim_make_kernel"));
  out.version = reinterpret_cast<decltype(out.version)>(::dlsym(module, "replisim_kernel_version"));
  if (out.make == nullptr or out.version == nullptr)
    throw UsageError(fmt::format("{} is not of this replisim; install it again", path.string()));
  return out;
}

const Module& loaded() {
  static const Module module = open_module();
  return module;
}

} // namespace

void load_kernel() { loaded(); }

std::unique_ptr<Kernel> make_kernel(const std::map<std::string, std::string>& options) {
  return std::unique_ptr<Kernel>(loaded().make(&options));
}

std::string kernel_version() {
  int major = 0, minor = 0, patch = 0;
  loaded().version(&major, &minor, &patch);
  return fmt::format("{}.{}.{}", major, minor, patch);
}

} // namespace replisim::engine
