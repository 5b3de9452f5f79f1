#include "cli/explore_knobs.hpp"

#include "sim/scenario/field_path.hpp"
#include "sim/scenario/scenario_tree.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <optional>

namespace replisim::cli {

using nlohmann::json;

namespace {

/// 64MB for 67108864: the largest unit that gives a whole number.
std::string size_text(Bytes bytes) {
  for (const auto& [unit, size] :
       {std::pair("GB", Bytes{1} << 30U), std::pair("MB", Bytes{1} << 20U), std::pair("kB", Bytes{1} << 10U)})
    if (bytes > 0 and bytes % size == 0)
      return fmt::format("{}{}", bytes / size, unit);
  return fmt::format("{}B", bytes);
}

std::string rate_text(double bytes_per_s) {
  const double bits = bytes_per_s * 8;
  for (const auto& [unit, size] : {std::pair("Gbps", 1e9), std::pair("Mbps", 1e6), std::pair("kbps", 1e3)})
    if (bits >= size)
      return fmt::format("{:.6g}{}", bits / size, unit);
  return fmt::format("{:.6g}bps", bits);
}

/// Values of a slider: those given, and the scenario's own where it belongs.
struct Steps {
  std::optional<Dimension> dimension; ///< nothing: plain numbers
  std::vector<std::string> values;
};

double value_of(std::string text, std::optional<Dimension> dimension) {
  if (not dimension) {
    std::erase(text, '_');
    char* end = nullptr;
    const double value = std::strtod(text.c_str(), &end);
    return end != text.c_str() and *end == '\0' ? value : std::nan("");
  }
  const auto parsed = parse_quantity(text, *dimension);
  return parsed.ok ? parsed.value : std::nan("");
}

std::vector<std::string> with_own(const Steps& steps, const std::string& own) {
  std::vector<std::string> out = steps.values;
  const double value = value_of(own, steps.dimension);
  const auto same = std::find_if(out.begin(), out.end(), [&](const std::string& text) {
    return value_of(text, steps.dimension) == value;
  });
  if (same != out.end())
    *same = own;
  else
    out.insert(std::find_if(out.begin(), out.end(),
                            [&](const std::string& text) { return value_of(text, steps.dimension) > value; }),
               own);
  return out;
}

/// 10, 20, 50, 100, ... between the limits.
std::vector<std::string> counts(std::int64_t low, std::int64_t high) {
  std::vector<std::string> out;
  for (std::int64_t decade = 1; decade <= high; decade *= 10)
    for (const std::int64_t digit : {1, 2, 5})
      if (digit * decade >= low and digit * decade <= high)
        out.push_back(std::to_string(digit * decade));
  return out;
}

const Steps work_mem{Dimension::Size, {"64kB", "256kB", "1MB", "4MB", "16MB", "64MB", "256MB", "1GB", "4GB"}};
const Steps bandwidth{Dimension::ByteRate,
                      {"10Mbps", "50Mbps", "100Mbps", "500Mbps", "1Gbps", "10Gbps", "25Gbps"}};
const Steps latency{Dimension::Duration,
                    {"0.1ms", "0.5ms", "1ms", "5ms", "10ms", "20ms", "50ms", "100ms", "200ms"}};
const Steps share{Dimension::Percent, {"0%", "5%", "10%", "20%", "30%", "40%", "50%", "60%", "80%"}};
const Steps speed{std::nullopt, {"0.25", "0.5", "0.75", "1", "1.25", "1.5", "2", "3", "4"}};
const Steps workers{std::nullopt, {"0", "1", "2", "4", "8", "16"}};

class Knobs {
public:
  Knobs(const ScenarioSource& source, const Scenario& scenario, const std::vector<Override>& overrides)
      : source_(source), scenario_(scenario), overrides_(overrides) {
    Problems ignored;
    tree_ = read_tree(scenario.file, ignored);
    apply_overrides(tree_, overrides, ignored);
  }

  json all() {
    add_subscriptions();
    add_servers();
    add_network();
    add_loads();
    return std::move(out_);
  }

private:
  /// As the scenario writes it, if it does.
  std::optional<std::string> written(const std::string& path) const {
    std::string problem;
    const auto steps = parse_path(path, problem);
    const Node* node = steps ? find_node(tree_, *steps) : nullptr;
    return node != nullptr and node->is_scalar() ? std::optional(node->text) : std::nullopt;
  }

  bool known(const std::string& path) const {
    try {
      source_.require_field(path, "explore", overrides_);
      return true;
    } catch (const UsageError&) {
      return false;
    }
  }

  void choice(const std::string& path, const std::string& label, const std::vector<std::string>& values,
              const std::string& own) {
    if (known(path) and std::find(values.begin(), values.end(), own) != values.end())
      out_.push_back(
          {{"path", path}, {"label", label}, {"kind", "choice"}, {"values", values}, {"value", own}});
  }

  void slider(const std::string& path, const std::string& label, const Steps& steps,
              const std::string& by_default) {
    const std::string own = written(path).value_or(by_default);
    if (known(path) and std::isfinite(value_of(own, steps.dimension)))
      out_.push_back({{"path", path},
                      {"label", label},
                      {"kind", "steps"},
                      {"values", with_own(steps, own)},
                      {"value", own}});
  }

  void add_subscriptions() {
    for (const auto& [name, subscription] : scenario_.subscriptions) {
      const char* mode = subscription.streaming == Streaming::Off  ? "off"
                         : subscription.streaming == Streaming::On ? "on"
                                                                   : "parallel";
      std::vector<std::string> modes{"off"};
      if (scenario_.servers.at(subscription.server).version.major >= 14)
        modes.emplace_back("on");
      if (scenario_.servers.at(subscription.server).version.major >= 16)
        modes.emplace_back("parallel");
      choice(fmt::format("subscriptions.{}.streaming", name), fmt::format("streaming of {}", name), modes,
             mode);
    }
  }

  void add_servers() {
    for (const auto& [name, server] : scenario_.servers) {
      const auto setting = [&, server_name = name](const char* guc) {
        return fmt::format("servers.{}.settings.{}", server_name, guc);
      };
      const bool publishes = std::any_of(
          scenario_.publications.begin(), scenario_.publications.end(),
          [&, server_name = name](const auto& entry) { return entry.second.server == server_name; });
      const bool subscribes = std::any_of(
          scenario_.subscriptions.begin(), scenario_.subscriptions.end(),
          [&, server_name = name](const auto& entry) { return entry.second.server == server_name; });
      if (publishes)
        slider(setting("logical_decoding_work_mem"), fmt::format("logical_decoding_work_mem on {}", name),
               work_mem, size_text(server.settings.bytes("logical_decoding_work_mem")));
      if (subscribes and server.version.major >= 16)
        slider(setting("max_parallel_apply_workers_per_subscription"),
               fmt::format("parallel apply workers on {}", name), workers,
               fmt::format("{:.0f}", server.settings.number("max_parallel_apply_workers_per_subscription")));
    }
  }

  void add_network() {
    for (std::size_t i = 0; i < scenario_.links.size(); ++i) {
      const Link& link = scenario_.links[i];
      slider(fmt::format("links[{}].bandwidth", i), fmt::format("bandwidth, {} to {}", link.from, link.to),
             bandwidth, rate_text(link.bandwidth_bytes_per_s));
      slider(fmt::format("links[{}].latency", i), fmt::format("latency, {} to {}", link.from, link.to),
             latency, fmt::format("{:.6g}ms", link.latency_s * 1e3));
    }
    for (const auto& [name, machine] : scenario_.hosts)
      slider(fmt::format("hosts.{}.speed", name), fmt::format("CPU speed of {}", name), speed,
             fmt::format("{:.6g}", machine.speed));
  }

  void add_loads() {
    const Steps rows{std::nullopt, counts(10'000, 500'000'000)};
    const Steps clients{std::nullopt, counts(1, 500)};
    for (const auto& load : scenario_.batches)
      for (std::size_t i = 0; i < load.transaction.size(); ++i) {
        const std::string step = fmt::format("workload.{}.transaction[{}]", load.name, i);
        if (const auto own = written(fmt::format("{}.rows", step)))
          slider(fmt::format("{}.rows", step), fmt::format("rows of {}, step {}", load.name, i + 1), rows,
                 *own);
        if (const auto own = written(fmt::format("{}.rolled_back", step)))
          slider(fmt::format("{}.rolled_back", step),
                 fmt::format("rolled back in {}, step {}", load.name, i + 1), share, *own);
      }
    for (const auto& load : scenario_.flows) {
      Steps around{Dimension::EventRate, {}};
      for (const double factor : {0.1, 0.25, 0.5, 0.75, 1.25, 1.5, 2.0, 4.0, 10.0})
        around.values.push_back(fmt::format("{:.6g}/s", load.rate_per_s * factor));
      if (load.rate_per_s > 0)
        slider(fmt::format("workload.{}.rate", load.name), fmt::format("rate of {}", load.name), around,
               fmt::format("{:.6g}/s", load.rate_per_s));
    }
    for (const auto& load : scenario_.clients)
      slider(fmt::format("workload.{}.clients", load.name), fmt::format("clients of {}", load.name), clients,
             std::to_string(load.clients));
  }

  const ScenarioSource& source_;
  const Scenario& scenario_;
  const std::vector<Override>& overrides_;
  Node tree_;
  json out_ = json::array();
};

/// Block style to the depth where a line gets short enough.
void write_block(const Node& node, std::size_t indent, std::string& out) {
  constexpr std::size_t line = 100;
  for (const auto& entry : node.entries) {
    Node key;
    key.kind = Node::Kind::Scalar;
    key.text = entry.key;
    const std::string head = fmt::format("{}{}:", std::string(indent, ' '), flow_text(key));
    const std::string flow = flow_text(entry.value);
    if (entry.value.is_map() and not entry.value.entries.empty() and
        (indent == 0 or head.size() + flow.size() > line)) {
      out += fmt::format("{}\n", head);
      write_block(entry.value, indent + 2, out);
    } else {
      out += fmt::format("{} {}\n", head, flow);
    }
  }
}

} // namespace

json knobs_of(const ScenarioSource& source, const Scenario& scenario,
              const std::vector<Override>& overrides) {
  return Knobs(source, scenario, overrides).all();
}

std::string standalone_yaml(const std::string& file, const std::vector<Override>& overrides) {
  Problems problems;
  Node root = read_tree(file, problems);
  apply_overrides(root, overrides, problems);
  std::string out;
  write_block(root, 0, out);
  return out;
}

} // namespace replisim::cli
