// SimGrid is there for who simulates, and for nobody else.
#include "sim/engine/kernel.hpp"
#include "test_paths.hpp"

#include <catch2/catch.hpp>

#include <cstdio>
#include <cstdlib>
#include <string>

using namespace replisim;

namespace {

std::string output_of(const std::string& command) {
  std::string text;
  FILE* pipe = ::popen(command.c_str(), "r");
  REQUIRE(pipe != nullptr);
  for (int c = 0; (c = std::fgetc(pipe)) != EOF;)
    text += static_cast<char>(c);
  REQUIRE(::pclose(pipe) == 0);
  return text;
}

} // namespace

TEST_CASE("the program starts without SimGrid and what that brings along") {
  // What the dynamic loader would load, as ldd asks it.
  const std::string libraries = output_of("LD_TRACE_LOADED_OBJECTS=1 '" REPLISIM_PROGRAM "'");
  CHECK(libraries.find("libyaml-cpp") != std::string::npos);
  CHECK(libraries.find("libsimgrid") == std::string::npos);
  CHECK(libraries.find("libns3") == std::string::npos);
}

TEST_CASE("the kernel is found, and says which SimGrid it is") {
  engine::load_kernel();
  CHECK(engine::kernel_version().starts_with("3."));
}
