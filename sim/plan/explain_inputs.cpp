#include "sim/plan/explain_inputs.hpp"

#include "models/apply_cost.hpp"
#include "sim/scenario/axis_range.hpp"
#include "sim/scenario/field_value.hpp"
#include "sim/scenario/library_files.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <map>

namespace replisim {

namespace {

constexpr double hardware_factor = 2;
constexpr double setting_factor = 4;
constexpr double workload_factor = 1.2;
constexpr double speed_factor = 1.2;

double factor_of(Provenance provenance) {
  switch (provenance) {
  case Provenance::Measured:
    return 1.1;
  case Provenance::Fitted:
    return 1.2;
  case Provenance::Literature:
    return 1.5;
  case Provenance::Guess:
    break;
  }
  return 2;
}

/// Whether a guess about `whole` covers `path`.
bool covers(const std::string& whole, const std::string& path) {
  return path == whole or
         (path.starts_with(whole) and (path[whole.size()] == '.' or path[whole.size()] == '['));
}

class Collector {
public:
  explicit Collector(const Scenario& scenario) : scenario_(scenario) {}

  std::vector<ExplainInput> run() {
    costs();
    hardware();
    network();
    options();
    for (const auto& [name, server] : scenario_.servers)
      settings(server);
    workload();
    tables();
    return std::move(out_);
  }

private:
  std::string guess_of(const std::string& path) const {
    for (const Guess& guess : scenario_.guesses)
      if (covers(guess.path, path) or
          (guess.path.ends_with(".machine") and covers(guess.path.substr(0, guess.path.rfind('.')), path)))
        return guess.reason;
    return {};
  }

  void quantity(const std::string& path, std::string kind, std::string now,
                std::function<std::vector<Override>(double)> at) {
    const bool is_resource = kind == "hardware" or kind == "network" or kind == "setting";
    const bool takes_time = path.ends_with("latency") or path.ends_with("cost_per_change");
    ExplainInput input{path, std::move(kind), std::move(now), guess_of(path), std::move(at), 1, {}};
    input.worse_at = is_resource and not takes_time ? 0 : 1;
    out_.push_back(std::move(input));
  }

  /// Where the last quantity stands at the limit that its worse end is, the other end is the one to look at.
  void keep_off_limit(double low, double value, double high) {
    constexpr double near = 1e-6;
    if (high <= value * (1 + near))
      out_.back().worse_at = 0;
    else if (low >= value * (1 - near))
      out_.back().worse_at = 1;
  }

  /// A quantity whose field says how values are written.
  void field(const std::string& path, const std::string& kind, double value, double factor,
             double low_limit = 0, double high_limit = no_limit) {
    std::string problem;
    const auto parsed = parse_path(path, problem);
    const auto known = parsed ? known_field(object_of("scenario"), *parsed) : std::nullopt;
    if (not known or value <= 0)
      return;
    AxisRange range = writing_of(*known);
    range.low = std::max(value / factor, low_limit);
    range.high = std::min(value * factor, high_limit);
    if (range.quantum > 0) {
      range.low = std::max(range.quantum, std::floor(range.low / range.quantum) * range.quantum);
      range.high = std::ceil(range.high / range.quantum) * range.quantum;
      range.low = std::max(range.low, low_limit);
      range.high = std::min(range.high, high_limit);
    }
    range.log = true;
    if (range.low >= range.high)
      return;
    AxisRange now = range;
    now.high = value;
    quantity(path, kind, range_value(now, 1), [path, range](double share) {
      return std::vector<Override>{{path, range_value(range, share)}};
    });
    keep_off_limit(range.low, value, range.high);
  }

  void choice(const std::string& path, const std::string& kind, const std::string& now,
              const std::vector<std::string>& others) {
    ExplainInput input{path, kind, now, guess_of(path), {}, 1, {}};
    for (const std::string& other : others)
      if (other != now)
        input.choices.push_back({other, {{path, other}}});
    if (not input.choices.empty())
      out_.push_back(std::move(input));
  }

  void costs() {
    for (const CostParameter& parameter : cost_parameters()) {
      const double value = effective_cost_s(scenario_.profile, parameter);
      if (value <= 0)
        continue;
      const auto origin = scenario_.profile.origins.find(parameter.name);
      const bool guessed =
          origin == scenario_.profile.origins.end() or origin->second.provenance == Provenance::Guess;
      const double factor = factor_of(origin == scenario_.profile.origins.end() ? Provenance::Guess
                                                                                : origin->second.provenance);
      const std::string path = fmt::format("profile.parameters.{}", parameter.name);
      const double low = std::max(value / factor, parameter.low);
      const double high = std::min(value * factor, parameter.high);
      if (low >= high)
        continue;
      quantity(path, "cost", show_number(FieldType::Duration, value), [path, low, high](double share) {
        return std::vector<Override>{
            {path, fmt::format("{:.9g}ns", 1e9 * low * std::pow(high / low, share))}};
      });
      keep_off_limit(low, value, high);
      if (guessed)
        out_.back().guess = origin == scenario_.profile.origins.end() ? "no source" : origin->second.source;
    }
  }

  static std::string disk_text(const Disk& disk) {
    return fmt::format(
        "{{name: \"{}\", fsync_latency: {:.9g}us, write_bandwidth: {:.12g}B/s, read_bandwidth: "
        "{:.12g}B/s, read_latency: {:.9g}us, capacity: {}B, used: {}B}}",
        disk.name, 1e6 * disk.fsync_latency_s, disk.write_bandwidth_bytes_per_s,
        disk.read_bandwidth_bytes_per_s, 1e6 * disk.read_latency_s, disk.capacity_bytes, disk.used_bytes);
  }

  void disk(const std::string& host, std::size_t index, const std::string& name, double Disk::*member,
            const std::string& now) {
    const Machine& machine = scenario_.hosts.at(host);
    if (machine.disks[index].*member <= 0)
      return;
    quantity(fmt::format("hosts.{}.disks[{}].{}", host, index, name), "hardware", now,
             [host, index, member, disks = machine.disks](double share) {
               auto changed = disks;
               changed[index].*member *= std::pow(hardware_factor, 2 * share - 1);
               std::vector<std::string> texts;
               for (const Disk& d : changed)
                 texts.push_back(disk_text(d));
               return std::vector<Override>{
                   {fmt::format("hosts.{}.disks", host), fmt::format("[{}]", fmt::join(texts, ", "))}};
             });
  }

  void hardware() {
    for (const auto& [name, machine] : scenario_.hosts) {
      const std::string path = "hosts." + name;
      field(path + ".speed", "hardware", machine.speed, speed_factor);
      field(path + ".cores_per_socket", "hardware", machine.cores_per_socket, hardware_factor);
      field(path + ".memory", "hardware", static_cast<double>(machine.memory_bytes), hardware_factor,
            64.0 * 1024 * 1024);
      for (std::size_t i = 0; i < machine.disks.size(); ++i) {
        const Disk& d = machine.disks[i];
        disk(name, i, "fsync_latency", &Disk::fsync_latency_s, format_duration(d.fsync_latency_s));
        disk(name, i, "write_bandwidth", &Disk::write_bandwidth_bytes_per_s,
             format_bytes(d.write_bandwidth_bytes_per_s) + "/s");
        disk(name, i, "read_bandwidth", &Disk::read_bandwidth_bytes_per_s,
             format_bytes(d.read_bandwidth_bytes_per_s) + "/s");
        disk(name, i, "read_latency", &Disk::read_latency_s, format_duration(d.read_latency_s));
      }
    }
  }

  void network() {
    for (std::size_t i = 0; i < scenario_.links.size(); ++i) {
      const Link& link = scenario_.links[i];
      const std::string path = fmt::format("links[{}]", i);
      field(path + ".bandwidth", "network", link.bandwidth_bytes_per_s, hardware_factor);
      field(path + ".latency", "network", link.latency_s, hardware_factor);
      field(path + ".window", "network", static_cast<double>(link.window_bytes), hardware_factor);
    }
    for (const auto& [name, consumer] : scenario_.consumers)
      field("consumers." + name + ".cost_per_change", "hardware", consumer.cost_per_change_s,
            hardware_factor);
  }

  void options() {
    for (const auto& [name, subscription] : scenario_.subscriptions) {
      const std::string path = "subscriptions." + name;
      choice(path + ".streaming", "option", to_string(subscription.streaming), {"off", "on", "parallel"});
      choice(path + ".binary", "option", subscription.binary ? "on" : "off", {"off", "on"});
      choice(path + ".synchronous_commit", "option", subscription.commits_wait_for_flush ? "on" : "off",
             {"off", "on"});
    }
  }

  void settings(const Server& server) {
    for (const GucDescriptor& guc : guc_table()) {
      if (not guc.modelled or server.version.major < guc.since_major or
          server.version.major > guc.until_major)
        continue;
      const std::string path = fmt::format("servers.{}.settings.{}", server.name, guc.name);
      if (guc.type == GucType::Bool) {
        choice(path, "setting", server.settings.flag(guc.name) ? "on" : "off", {"off", "on"});
      } else if (guc.type == GucType::Enum) {
        std::vector<std::string> others;
        for (const std::string_view word : guc.allowed)
          others.emplace_back(word);
        choice(path, "setting", server.settings.text(guc.name), others);
      } else if (guc.type != GucType::Text) {
        field(path, "setting", server.settings.number(guc.name), setting_factor, guc.minimum, guc.maximum);
      }
    }
  }

  void rows_of(const std::string& load, std::size_t step, Rows rows) {
    constexpr Rows few = 5; // whole rows: 20 % of fewer is nothing
    if (rows >= few)
      field(fmt::format("workload.{}.transaction[{}].rows", load, step), "workload",
            static_cast<double>(rows), workload_factor);
  }

  /// Statements that a transaction repeats are one input: it is their rows together that anybody knows.
  void merge_alike(const BatchLoad& batch) {
    std::map<std::string, std::size_t> first_of; // by what the statement does, and its rows: place in out_
    for (std::size_t i = 0; i < batch.transaction.size(); ++i) {
      const auto* statement = std::get_if<StatementStep>(&batch.transaction[i]);
      const auto own = std::find_if(out_.begin(), out_.end(), [&](const ExplainInput& input) {
        return input.path == fmt::format("workload.{}.transaction[{}].rows", batch.name, i);
      });
      if (statement == nullptr or own == out_.end())
        continue;
      const std::string what =
          fmt::format("{} {} {}", static_cast<int>(statement->operation), statement->table, statement->rows);
      const auto [known, is_new] = first_of.emplace(what, static_cast<std::size_t>(own - out_.begin()));
      if (is_new)
        continue;
      ExplainInput& first = out_[known->second];
      first.at = [one = std::move(first.at), other = std::move(own->at)](double share) {
        auto both = one(share);
        for (Override& change : other(share))
          both.push_back(std::move(change));
        return both;
      };
      ++first.alike;
      out_.erase(own);
    }
  }

  void workload() {
    for (const FlowLoad& flow : scenario_.flows) {
      field("workload." + flow.name + ".rate", "workload", flow.rate_per_s, workload_factor);
      for (std::size_t i = 0; i < flow.transaction.size(); ++i)
        rows_of(flow.name, i, flow.transaction[i].rows);
    }
    for (const BatchLoad& batch : scenario_.batches) {
      for (std::size_t i = 0; i < batch.transaction.size(); ++i)
        if (const auto* statement = std::get_if<StatementStep>(&batch.transaction[i]))
          rows_of(batch.name, i, statement->rows);
      merge_alike(batch);
    }
    for (const ClientLoad& load : scenario_.clients)
      field("workload." + load.name + ".clients", "workload", load.clients, workload_factor);
    for (const OtherWalLoad& load : scenario_.other_wal)
      field("workload." + load.name + ".other_wal", "workload", load.bytes_per_s, workload_factor);
  }

  void tables() {
    for (const auto& [name, table] : scenario_.tables) {
      field("tables." + name + ".rows", "table", static_cast<double>(table.initial_rows), workload_factor);
      choice("tables." + name + ".secondary_indexes", "table", fmt::format("{}", table.secondary_indexes),
             {fmt::format("{}", std::max(0, table.secondary_indexes - 1)),
              fmt::format("{}", table.secondary_indexes + 1)});
    }
  }

  const Scenario& scenario_;
  std::vector<ExplainInput> out_;
};

} // namespace

std::vector<ExplainInput> explain_inputs(const Scenario& scenario) { return Collector(scenario).run(); }

} // namespace replisim
