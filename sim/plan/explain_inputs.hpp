// Everything a scenario rests on that can be moved: costs, hardware, network, settings, options, workload.
#pragma once

#include "sim/scenario/loader.hpp"

#include <functional>
#include <string>
#include <vector>

namespace replisim {

struct ExplainInput {
  std::string path;
  std::string kind;  ///< cost, hardware, network, setting, option, workload, table
  std::string now;   ///< its value, as text
  std::string guess; ///< why it was guessed; empty: it was not
  /// Of a quantity: the overrides that put it at a share (0 to 1) of its range, 0.5 being near what it is.
  std::function<std::vector<Override>(double share)> at = {};
  double worse_at = 1; ///< of a quantity: the share at which there is less to work with, or more to do
  /// Of a choice: the other values.
  struct Choice {
    std::string value;
    std::vector<Override> overrides;
  };
  std::vector<Choice> choices = {};
  std::size_t alike = 0; ///< others of the same value that move with it: rows of statements that are repeated

  bool is_quantity() const { return static_cast<bool>(at); }
};

/// The inputs of `scenario`. Costs move by 10 % where they were measured, 20 % where fitted, a factor of 1.5
/// from literature and of 2 where guessed; hardware and network by a factor of 2, settings by 4 within their
/// limits, the workload by 20 %. Statements that a transaction repeats move together.
std::vector<ExplainInput> explain_inputs(const Scenario& scenario);

} // namespace replisim
