// What tests look up in the result of a run.
#pragma once

#include "sim/run/result.hpp"

#include <catch2/catch.hpp>

#include <algorithm>
#include <string>

namespace replisim::test {

/// The transaction of that name; results list them in the order of their BEGIN.
inline const TransactionResult& transaction_of(const RunResult& result, const std::string& name) {
  const auto it = std::find_if(result.transactions.begin(), result.transactions.end(),
                               [&](const TransactionResult& found) { return found.name == name; });
  REQUIRE(it != result.transactions.end());
  return *it;
}

} // namespace replisim::test
