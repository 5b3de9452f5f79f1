#include "calibration/live/cluster_scenario.hpp"

#include "models/base/errors.hpp"
#include "models/base/units.hpp"
#include "models/settings.hpp"

#include <algorithm>
#include <cctype>
#include <cmath>
#include <fstream>
#include <map>
#include <optional>
#include <set>
#include <tuple>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

namespace replisim::live {

namespace fs = std::filesystem;
using nlohmann::json;

namespace {

/// What was known of one server at the first and at the last look.
struct Facts {
  json first;
  json last;
  double clients = 0; ///< mean of all looks
};

Facts read_facts(const fs::path& folder, const char* ending, const char* role) {
  Facts facts;
  std::error_code error;
  double looks = 0;
  for (const auto& entry : fs::directory_iterator(folder, error)) {
    if (not entry.path().filename().string().ends_with(ending))
      continue;
    std::ifstream file(entry.path());
    std::string line;
    while (std::getline(file, line)) {
      if (not line.starts_with("{\"collected_at\":\"facts\""))
        continue;
      const json parsed = json::parse(line, nullptr, false);
      if (parsed.is_discarded())
        continue; // cut short when the collector was killed
      facts.last = parsed["row"];
      if (facts.first.is_null())
        facts.first = facts.last;
      facts.clients = std::max(facts.clients, facts.last.value("clients", 0.0));
      ++looks;
    }
  }
  if (facts.first.is_null())
    throw UsageError(fmt::format("{} holds no facts of the {} (a file *{}); write it with `replisim collect`",
                                 folder.string(), role, ending));
  return facts;
}

double number(const json& object, const char* key) {
  const auto found = object.find(key);
  return found != object.end() and found->is_number() ? found->get<double>() : 0;
}

std::string text(const json& object, const char* key) {
  const auto found = object.find(key);
  return found != object.end() and found->is_string() ? found->get<std::string>() : std::string();
}

/// A name that is a plain scalar in YAML.
std::string plain(const std::string& name) {
  std::string out;
  for (const char c : name)
    out += std::isalnum(static_cast<unsigned char>(c)) != 0 or c == '_' or c == '-' ? c : '_';
  if (out.empty() or std::isalpha(static_cast<unsigned char>(out.front())) == 0)
    out = fmt::format("t{}", out);
  return out;
}

std::string version_text(const json& facts) {
  const int version = static_cast<int>(number(facts, "version"));
  return fmt::format("{}.{}", version / 10000, version % 10000);
}

/// What a table did between the two looks, a transaction.
struct TableLoad {
  std::string name;
  double inserts = 0, updates = 0, deletes = 0, selects = 0, hot = 0;
};

/// One kind of statement and how many a transaction has.
struct StatementRate {
  std::string verb;
  std::string table;
  double each = 0;
};

class Writer {
public:
  explicit Writer(const ClusterOptions& options)
      : options_(options), pub_(read_facts(options.folder, ".pub.views", "publisher")),
        sub_(read_facts(options.folder, ".sub.views", "subscriber")) {}

  ClusterScenario write() {
    find_published();
    std::string body = hosts() + servers() + tables() + publications() + subscriptions() + workload();
    std::string head =
        fmt::format("# A cluster as `replisim collect` saw it.\nreplisim: 1\nname: \"the cluster of {}\"\n"
                    "profile: {}\n",
                    plain(options_.folder.filename().string()), options_.profile);
    std::string guesses;
    for (const auto& [path, why] : guesses_)
      guesses += fmt::format("  {}: \"{}\"\n", path, why);
    measure_cpu();
    out_.yaml = head + body + (guesses.empty() ? "" : "guessed:\n" + guesses);
    return std::move(out_);
  }

private:
  void note(std::string sentence) { out_.notes.push_back(std::move(sentence)); }
  void guess(const std::string& path, const std::string& why) {
    guesses_.emplace_back(path, why);
    note(fmt::format("{}: {}", path, why));
  }

  /// Tables of publications of which at least one subscription is known, and their workload's others.
  void find_published() {
    for (const json& publication : pub_.last["publications"])
      if (publication["tables"].is_array())
        for (const json& table : publication["tables"])
          published_.insert(text(table, "name"));
    if (published_.empty())
      throw UsageError(
          "the publisher's database has no publication with a table: there is nothing to simulate");
  }

  bool is_one_host() const { return pub_.last.value("local", false) and sub_.last.value("local", false); }

  std::string host(const char* name, const json& facts) {
    const std::string machine = options_.machine.empty() ? std::string("lab-2core") : options_.machine;
    const int cpus = static_cast<int>(number(facts, "cpus"));
    if (not options_.machine.empty())
      return fmt::format("  {}: {}\n", name, machine);
    const double flush_s = number(facts, "flush_s");
    const bool timed = options_.speed != 1;
    std::vector<std::string> others;
    if (not timed)
      others.emplace_back("speed");
    others.emplace_back(flush_s > 0 ? "the disk's bandwidths" : "disk");
    guess(fmt::format("hosts.{}.machine", name),
          cpus > 0 ? fmt::format("{} are those found; {} are those of lab-2core",
                                 timed ? "cores, their speed and memory" : "cores and memory",
                                 fmt::join(others, " and "))
                   : "a server does not tell on which machine it runs");
    if (cpus <= 0)
      return fmt::format("  {}: {}\n", name, machine);
    constexpr double megabyte = 1024.0 * 1024, gigabyte = 1024 * megabyte;
    std::string out =
        fmt::format("  {}:\n    machine: {}\n    cores_per_socket: {}\n    memory: {:.0f}GB\n", name, machine,
                    cpus, std::max(1.0, number(facts, "memory_bytes") / gigabyte));
    if (timed)
      out +=
          fmt::format("    speed: {:.3g} # by the CPU seconds of walsender and apply worker a transaction\n",
                      options_.speed);
    if (flush_s > 0 and options_.disk)
      out += fmt::format(
          "    disks: [{{name: data, fsync_latency: {:.4g}ms, write_bandwidth: {:.0f}MB/s, read_bandwidth: "
          "{:.0f}MB/s}}]\n",
          flush_s * 1e3, options_.disk->write_bandwidth_bytes_per_s / megabyte,
          options_.disk->read_bandwidth_bytes_per_s / megabyte);
    return out;
  }

  std::string hosts() {
    if (is_one_host())
      return "hosts:\n" + host("db", pub_.last);
    guess("links", "bandwidth and latency between the hosts were not measured; ping and iperf tell");
    return "hosts:\n" + host("a", pub_.last) + host("b", sub_.last) +
           "links:\n  - {between: [a, b], bandwidth: 1Gbps, latency: 0.25ms}\n";
  }

  /// Settings that the model knows and reads in the version's own range.
  std::string settings(const json& facts) const {
    std::vector<std::string> parts;
    const int major = static_cast<int>(number(facts, "version")) / 10000;
    for (const auto& [name, value] : facts["settings"].items()) {
      const GucDescriptor* guc = find_guc(name);
      if (guc == nullptr or not value.is_string() or major < guc->since_major or major > guc->until_major)
        continue;
      std::string problem;
      const std::string shown = value.get<std::string>();
      if (guc->type != GucType::Text and guc->modelled and parse_guc(*guc, shown, problem))
        parts.push_back(fmt::format("{}: {}", name, shown));
    }
    return fmt::format("{{{}}}", fmt::join(parts, ", "));
  }

  std::string servers() {
    const bool one = is_one_host();
    return fmt::format(
        "servers:\n  pub: {{host: {}, version: {}, settings: {}}}\n  sub: {{host: {}, version: {}, "
        "settings: {}}}\n",
        one ? "db" : "a", version_text(pub_.last), settings(pub_.last), one ? "db" : "b",
        version_text(sub_.last), settings(sub_.last));
  }

  static std::optional<std::string> fixed_type(const std::string& type) {
    static const std::map<std::string, std::string> known = {{"bool", "bool"},
                                                             {"int2", "int2"},
                                                             {"int4", "int4"},
                                                             {"int8", "int8"},
                                                             {"float4", "float4"},
                                                             {"float8", "float8"},
                                                             {"date", "date"},
                                                             {"timestamp", "timestamp"},
                                                             {"uuid", "uuid"},
                                                             {"oid", "int4"},
                                                             {"timestamptz", "timestamptz"},
                                                             {"time", "int8"},
                                                             {"money", "int8"}};
    const auto found = known.find(type);
    return found == known.end() ? std::nullopt : std::optional(found->second);
  }

  static int fixed_bytes(const std::string& type) {
    if (type == "bool")
      return 1;
    if (type == "int2")
      return 2;
    if (type == "uuid")
      return 16;
    return type == "int4" or type == "float4" or type == "date" or type == "oid" ? 4 : 8;
  }

  /// Mean width of a variable column that statistics do not show: what is left of a row, evenly.
  int width_left(const json& table) const {
    constexpr double header = 28;
    const double rows = number(table, "rows");
    double left = rows > 0 ? number(table, "bytes") / rows - header : 0;
    double columns = 0;
    for (const json& column : table["columns"])
      if (fixed_type(text(column, "type")))
        left -= fixed_bytes(text(column, "type"));
      else
        ++columns;
    constexpr double otherwise = 32;
    return static_cast<int>(left > 0 and columns > 0 ? std::min(left / columns, 1000.0) : otherwise);
  }

  std::string columns(const json& table) {
    std::vector<std::string> parts;
    bool is_guessed = false;
    for (const json& column : table["columns"]) {
      const std::string type = text(column, "type");
      constexpr double almost_all = 0.99;
      if (number(column, "null_frac") > almost_all)
        continue; // takes no room in a row
      if (const auto fixed = fixed_type(type)) {
        parts.push_back(fmt::format("{}: {}", plain(text(column, "name")), *fixed));
        continue;
      }
      const bool is_known = column["width"].is_number();
      is_guessed = is_guessed or not is_known;
      // pg_stats counts the value's header: one byte, four for long ones.
      constexpr int longest_short = 127;
      const int shown = static_cast<int>(number(column, "width"));
      const int width = is_known ? std::max(1, shown - (shown <= longest_short ? 1 : 4)) : width_left(table);
      const std::string named = type == "bytea" or type == "numeric" or type == "jsonb" ? type : "text";
      parts.push_back(fmt::format("{}: {}({})", plain(text(column, "name")), named,
                                  std::max(width, named == "numeric" ? 3 : 1)));
    }
    if (is_guessed)
      guess(fmt::format("tables.{}.columns", plain(text(table, "name"))),
            "no statistics of its columns can be read (grant select, run ANALYZE): widths are the table's "
            "size over its rows");
    return fmt::format("{{{}}}", fmt::join(parts, ", "));
  }

  std::string tables() {
    std::string out = "tables:\n";
    for (const json& table : pub_.last["tables"]) {
      const std::string name = plain(text(table, "name"));
      if (not published_.contains(text(table, "name")))
        continue;
      out += fmt::format("  {}:\n    columns: {}\n    rows: {:.0f}\n", name, columns(table),
                         std::max(0.0, number(table, "rows")));
      if (text(table, "schema") != "public")
        out += fmt::format("    schema: {}\n", plain(text(table, "schema")));
      if (table["key"].is_array()) {
        std::vector<std::string> key;
        for (const json& column : table["key"])
          key.push_back(plain(column.get<std::string>()));
        out += fmt::format("    primary_key: [{}]\n", fmt::join(key, ", "));
      }
      if (text(table, "identity") == "f" or text(table, "identity") == "n")
        out += fmt::format("    replica_identity: {}\n", text(table, "identity") == "f" ? "full" : "nothing");
      for (const auto& [key, field] :
           {std::pair("indexes", "secondary_indexes"), std::pair("triggers", "triggers"),
            std::pair("foreign_keys", "foreign_keys")})
        if (number(table, key) > 0)
          out += fmt::format("    {}: {:.0f}\n", field, number(table, key));
      const double updated = number(table, "updated");
      if (updated > 0 and number(table, "hot") > 0)
        out += fmt::format("    hot_updates: {:.1f}%\n", 100 * std::min(1.0, number(table, "hot") / updated));
    }
    return out;
  }

  std::string publications() const {
    std::string out = "publications:\n";
    for (const json& publication : pub_.last["publications"]) {
      if (not publication["tables"].is_array())
        continue;
      std::vector<std::string> names, operations;
      for (const json& table : publication["tables"])
        names.push_back(plain(text(table, "name")));
      for (const char* operation : {"insert", "update", "delete"})
        if (publication.value(operation, true))
          operations.emplace_back(operation);
      out += fmt::format(
          "  {}: {{server: pub, tables: [{}]{}}}\n", plain(text(publication, "name")), fmt::join(names, ", "),
          operations.size() == 3 ? std::string()
                                 : fmt::format(", publish: \"{}\"", fmt::join(operations, ", ")));
    }
    return out;
  }

  std::string subscriptions() {
    std::string out = "subscriptions:\n";
    int written = 0;
    for (const json& subscription : sub_.last["subscriptions"]) {
      if (not subscription.value("enabled", true)) {
        note(fmt::format("subscription {} is disabled and was left out", text(subscription, "name")));
        continue;
      }
      const json& names = subscription["publications"];
      if (names.size() > 1)
        note(fmt::format("subscription {} has {} publications; the first one was taken",
                         text(subscription, "name"), names.size()));
      const bool waits = text(subscription, "synchronous_commit") != "off";
      out += fmt::format(
          "  {}: {{server: sub, publication: {}, streaming: {}{}{}}}\n", plain(text(subscription, "name")),
          plain(names[0].get<std::string>()), text(subscription, "streaming"),
          subscription.value("binary", false) ? ", binary: on" : "",
          waits ? fmt::format(", synchronous_commit: {}", text(subscription, "synchronous_commit")) : "");
      ++written;
    }
    if (written == 0)
      throw UsageError("no subscription is enabled: there is nothing to simulate");
    return out;
  }

  double span_s() const { return number(pub_.last, "taken_at") - number(pub_.first, "taken_at"); }

  /// Transactions with changes: what a slot decoded, the largest of them.
  double transactions() const {
    double most = 0;
    for (const auto& [slot, total] : pub_.last["decoded"].items()) {
      const auto before = pub_.first["decoded"].find(slot);
      if (before != pub_.first["decoded"].end() and total.is_number() and before->is_number())
        most = std::max(most, total.get<double>() - before->get<double>());
    }
    return most;
  }

  /// Walsenders and apply workers serve replication alone; backends may do anything besides.
  void measure_cpu() {
    constexpr double least_s = 1; // of less, most may be what processes do that have nothing to do
    const double count = transactions();
    double sum_s = 0;
    for (const auto& [facts, node, kinds] :
         {std::tuple(&pub_, "pub", std::vector{"walsender"}),
          std::tuple(&sub_, "sub", std::vector{"apply_worker", "parallel_apply_worker"})}) {
      const auto before = facts->first.find("cpu_s"), after = facts->last.find("cpu_s");
      if (before == facts->first.end() or after == facts->last.end())
        continue;
      for (const char* kind : kinds)
        if (const double spent_s = number(*after, kind) - number(*before, kind); spent_s > 0) {
          out_.cpu_a_transaction_s[fmt::format("cpu_{}.{}_s", node, kind)] = spent_s / count;
          sum_s += spent_s;
        }
    }
    if (count < 1 or sum_s < least_s)
      out_.cpu_a_transaction_s.clear();
  }

  std::vector<TableLoad> table_loads(double transactions) const {
    std::vector<TableLoad> loads;
    for (const json& table : pub_.last["tables"]) {
      if (not published_.contains(text(table, "name")))
        continue;
      const json* before = nullptr;
      for (const json& candidate : pub_.first["tables"])
        if (text(candidate, "name") == text(table, "name") and
            text(candidate, "schema") == text(table, "schema"))
          before = &candidate;
      if (before == nullptr)
        continue;
      const auto each = [&](const char* counter) {
        return std::max(0.0, number(table, counter) - number(*before, counter)) / transactions;
      };
      TableLoad load{
          plain(text(table, "name")), each("inserted"), each("updated"), each("deleted"), 0, each("hot")};
      load.selects = std::max(0.0, each("index_scans") - load.updates - load.deletes);
      loads.push_back(load);
    }
    return loads;
  }

  std::string workload() {
    const double count = transactions();
    const double span = span_s();
    if (count < 1 or span <= 0) {
      guess("workload.idle.rate",
            "no transaction was decoded while the cluster was looked at; write what runs on it here");
      return "workload:\n  idle: {server: pub, rate: 1/min, until: 1min, transaction: [{insert: " +
             plain(*published_.begin()) + ", rows: 1}]}\n";
    }
    std::vector<StatementRate> rates;
    for (const TableLoad& load : table_loads(count))
      for (const auto& [verb, each] : {std::pair("update", load.updates), std::pair("insert", load.inserts),
                                       std::pair("delete", load.deletes), std::pair("select", load.selects)})
        if (each > 0.001)
          rates.push_back({verb, load.name, each});
    const double rate = count / span;
    const int clients = std::max(1, static_cast<int>(std::lround(pub_.clients)));
    note(fmt::format("{:.1f} transactions a second with changes in {}, {} sessions at work", rate,
                     format_duration(span), clients));
    guess("workload.observed.transactions", "statements follow from the counters of tables, so many a "
                                            "transaction on average; think times are not known");
    return fmt::format(
        "workload:\n  observed:\n    server: pub\n    clients: {}\n    rate: {:.6g}/s\n    until: {:.0f}s\n"
        "    transactions:\n{}",
        clients, rate, std::clamp(span, 1.0, 60.0), scripts(rates));
  }

  /// Ten transactions in which each kind of statement is as frequent as it was, equal ones together.
  static std::string scripts(const std::vector<StatementRate>& rates) {
    constexpr int parts = 10;
    std::map<std::string, int> weights;
    for (int part = 0; part < parts; ++part) {
      std::vector<std::string> statements;
      for (const StatementRate& rate : rates) {
        constexpr double most_statements = 20;
        constexpr double nearly = 0.05;
        const double each =
            std::abs(rate.each - std::round(rate.each)) < nearly ? std::round(rate.each) : rate.each;
        if (each > most_statements) {
          statements.push_back(rate.verb == "select"
                                   ? fmt::format("{{select: {}}}", rate.table)
                                   : fmt::format("{{{}: {}, rows: {:.0f}}}", rate.verb, rate.table, each));
          continue;
        }
        const auto times = std::lround(std::floor((part + 1) * each + 1e-9) - std::floor(part * each + 1e-9));
        for (long i = 0; i < times; ++i)
          statements.push_back(fmt::format("{{{}: {}}}", rate.verb, rate.table));
      }
      if (not statements.empty())
        ++weights[fmt::format("{}", fmt::join(statements, ", "))];
    }
    std::string out;
    for (const auto& [statements, weight] : weights)
      out += fmt::format("      - {{weight: {}, statements: [{}]}}\n", weight, statements);
    return out;
  }

  const ClusterOptions& options_;
  Facts pub_;
  Facts sub_;
  std::set<std::string> published_;
  std::vector<std::pair<std::string, std::string>> guesses_;
  ClusterScenario out_;
};

} // namespace

ClusterScenario scenario_of_cluster(const ClusterOptions& options) {
  if (not fs::is_directory(options.folder))
    throw UsageError(
        fmt::format("there is no folder {}; `replisim collect` makes one", options.folder.string()));
  return Writer(options).write();
}

std::optional<double> speed_beyond(const ClusterScenario& cluster, const RunResult& run) {
  double measured_s = 0, simulated_s = 0;
  const auto count = run.metrics.find("committed_transactions");
  for (const auto& [metric, seconds] : cluster.cpu_a_transaction_s)
    if (const auto found = run.metrics.find(metric); found != run.metrics.end()) {
      measured_s += seconds;
      simulated_s += found->second;
    }
  if (count == run.metrics.end() or count->second <= 0 or measured_s <= 0 or simulated_s <= 0)
    return std::nullopt;
  return simulated_s / count->second / measured_s;
}

} // namespace replisim::live
