// The one file that compiles Catch2.
#define CATCH_CONFIG_MAIN
#include <catch2/catch.hpp>
