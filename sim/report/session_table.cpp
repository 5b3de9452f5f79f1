#include "sim/report/session_table.hpp"

#include "sim/report/text.hpp"

namespace replisim {

std::string session_table(const RunResult& run) {
  if (run.sessions.empty())
    return {};
  TextTable table(
      {"Sessions", "transactions", "failed", "latency p50", "p95", "longest", "blocked", "longest"}, 1);
  for (const auto& [name, metrics] : run.sessions) {
    const auto cell = [&metrics = metrics](const char* metric, std::string (*format)(double)) {
      const auto found = metrics.find(metric);
      return found == metrics.end() ? std::string("-") : format(found->second);
    };
    table.add({"  " + name, cell("transactions", whole_text), cell("failures", whole_text),
               cell("latency_s_p50", seconds_text), cell("latency_s_p95", seconds_text),
               cell("latency_s_max", seconds_text), cell("blocked_s_total", seconds_text),
               cell("blocked_s_max", seconds_text)});
  }
  return "\n" + table.render(0);
}

} // namespace replisim
