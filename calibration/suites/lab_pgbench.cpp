// Suite lab-pgbench: pgbench with several numbers of clients on the lab's pair. The profile's costs of
// statements, transactions and wake-ups are fixed on the rows of 1 and 8 clients; the others are predictions.
#include "calibration/csv.hpp"
#include "calibration/repeats.hpp"
#include "calibration/suites/suite.hpp"

#include <algorithm>
#include <functional>
#include <map>
#include <numeric>

namespace replisim {

namespace {

constexpr const char* tps_rule = "tps";
constexpr const char* cpu_rule = "cpu_per_transaction";
constexpr const char* wal_rule = "wal_bytes";

/// The rows of one number of clients.
using Repeats = std::vector<std::size_t>;

double noise_pct(const std::vector<double>& repeats) {
  const auto errors = leave_one_out_errors_pct(repeats);
  return errors.empty()
             ? 0
             : std::accumulate(errors.begin(), errors.end(), 0.0) / static_cast<double>(errors.size());
}

Cell cell_of(const std::string& clients, const std::string& metric, const std::vector<double>& repeats,
             const std::string& unit, const std::string& rule, double allowed_pct) {
  const auto [low, high] = std::minmax_element(repeats.begin(), repeats.end());
  const double measured = median(repeats);
  return {.id = clients + "/" + metric,
          .measured = measured,
          .measured_low = *low,
          .measured_high = *high,
          .unit = unit,
          .metric = metric,
          .scenario = "scenarios/lab/pgbench.yaml",
          .overrides = {"workload.pgbench.clients=" + clients},
          .rule = rule,
          .accepted = {{measured * (1 - allowed_pct / 100), measured * (1 + allowed_pct / 100)}}};
}

} // namespace

Suite make_lab_pgbench(const Library& library) {
  const CsvTable table =
      read_measured(library.root, "lab/pgbench_pg18.csv",
                    {"clients", "rep", "server_version", "seconds", "scale", "tps", "latency_ms", "txns",
                     "bench_s", "catchup_after_s", "apply_tps", "wal_bytes", "cpu_pub.walsender_s",
                     "cpu_pub.walwriter_s", "cpu_sub.apply_worker_s", "cpu_sub.walwriter_s",
                     "cpu_total_pub.walsender_s", "cpu_total_sub.apply_worker_s"});
  std::vector<std::pair<std::string, Repeats>> rows;
  for (std::size_t row = 0; row < table.row_count(); ++row) {
    const std::string& clients = table.text(row, "clients");
    if (rows.empty() or rows.back().first != clients)
      rows.push_back({clients, {}});
    rows.back().second.push_back(row);
  }
  Suite suite;
  std::map<std::string, std::vector<double>> noise;
  for (const auto& [clients, repeats] : rows) {
    const auto values = [&, &its = repeats](const std::function<double(std::size_t)>& of) {
      std::vector<double> out;
      for (const std::size_t row : its)
        out.push_back(of(row));
      return out;
    };
    const auto per_transaction = [&](const std::string& column) {
      return values([&](std::size_t row) { return table.number(row, column) / table.number(row, "txns"); });
    };
    const auto tps = values([&](std::size_t row) { return table.number(row, "tps"); });
    suite.cells.push_back(
        cell_of(clients, "tps", tps, "count", tps_rule, std::max(12.0, 1.3 * noise_pct(tps))));
    noise["tps"].push_back(noise_pct(tps));
    for (const std::string process : {"pub.walsender", "sub.apply_worker"}) {
      const auto cpu = per_transaction("cpu_total_" + process + "_s");
      suite.cells.push_back(cell_of(clients, "transaction_cpu_" + process + "_s", cpu, "s", cpu_rule, 10));
      noise["transaction_cpu_" + process + "_s"].push_back(noise_pct(cpu));
    }
    suite.cells.push_back(
        cell_of(clients, "transaction_wal_bytes", per_transaction("wal_bytes"), "bytes", wal_rule, 10));
  }
  for (const auto& [metric, errors] : noise)
    suite.noise.push_back(
        {metric, std::accumulate(errors.begin(), errors.end(), 0.0) / static_cast<double>(errors.size())});
  suite.rules = {{tps_rule, "TPS within 12 %, or 1.3 times what the repeats of the row differ by"},
                 {cpu_rule, "CPU seconds per transaction of walsender and apply worker within 10 %"},
                 {wal_rule, "WAL per transaction within 10 %"}};
  return suite;
}

} // namespace replisim
