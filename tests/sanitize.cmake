# The second build, for tests that look for mistakes of memory and arithmetic: the unit tests and the fuzz targets share
# its objects. With clang, since libFuzzer is clang's.
if(NOT CMAKE_CXX_COMPILER_ID STREQUAL "Clang")
  message(FATAL_ERROR "REPLISIM_SANITIZE needs clang (Debian: clang-14, libclang-rt-14-dev; preset asan)")
endif()

set(REPLISIM_SANITIZE_OPTIMISE -O1 CACHE STRING "-O0 compiles twice as fast, for tests that last seconds")
set(sanitizers -fsanitize=address,undefined,float-cast-overflow)
target_compile_options(replisim_options INTERFACE
  ${REPLISIM_SANITIZE_OPTIMISE} -gline-tables-only -fno-omit-frame-pointer ${sanitizers} -fno-sanitize-recover=all
  # Dear to compile, and AddressSanitizer sees what they would.
  -fno-sanitize=vptr,null,alignment,object-size
  # What a fuzz target has reached; costs the tests little.
  -fsanitize=fuzzer-no-link
  # For ccache.
  "SHELL:-Xclang -fno-pch-timestamp")
target_compile_definitions(replisim_options INTERFACE
  _GLIBCXX_ASSERTIONS # indices of the standard library's containers
  __SANITIZE_ADDRESS__=1) # as g++ says it; clang 14 has no such macro
target_link_options(replisim_options INTERFACE ${sanitizers})

# Once the libraries are there: clang takes much of its time to read the standard library.
function(sanitize_libraries)
  foreach(target replisim_models replisim_sim replisim_calibration)
    target_precompile_headers(${target} PRIVATE <algorithm> <cmath> <filesystem> <functional> <map> <memory> <optional>
      <set> <string> <vector> <fmt/format.h>)
  endforeach()
endfunction()
