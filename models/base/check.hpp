// Assertions that stay on in release builds: a violated invariant ends the run with an error.
#pragma once

#include "models/base/errors.hpp"

#include <fmt/format.h>

/// REPLISIM_REQUIRE(condition, "format", args...): throws InvariantViolation with place and values.
#define REPLISIM_REQUIRE(condition, ...)                                                                     \
  do {                                                                                                       \
    if (not(condition)) [[unlikely]]                                                                         \
      throw ::replisim::InvariantViolation(fmt::format("{}:{}: `{}` does not hold: {}", __FILE__, __LINE__,  \
                                                       #condition, fmt::format(__VA_ARGS__)));               \
  } while (false)
