// Here only so that Catch2's header is precompiled once for all test programs.
#include <catch2/catch.hpp>
