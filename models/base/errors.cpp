#include "models/base/errors.hpp"

namespace replisim {

std::string Diagnostic::to_string() const {
  std::string out = file;
  if (line > 0)
    out += ":" + std::to_string(line) + ":" + std::to_string(column);
  if (not path.empty())
    out += (out.empty() ? "" : ": ") + path;
  return out + (out.empty() ? "" : ": ") + message;
}

namespace {
std::string join(const std::vector<Diagnostic>& diagnostics) {
  std::string out;
  for (const auto& d : diagnostics)
    out += (out.empty() ? "" : "\n") + d.to_string();
  return out;
}
} // namespace

ScenarioError::ScenarioError(std::vector<Diagnostic> diagnostics)
    : UsageError(join(diagnostics)), diagnostics_(std::move(diagnostics)) {}

} // namespace replisim
