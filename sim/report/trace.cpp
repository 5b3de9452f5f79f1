#include "sim/report/trace.hpp"

#include "models/base/check.hpp"
#include "sim/observe/trace_recorder.hpp"
#include "sim/report/text.hpp"
#include "sim/run/fork_pool.hpp"
#include "sim/run/result_json.hpp"
#include "sim/run/simulate.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <iterator>
#include <map>

namespace replisim {

using nlohmann::json;

namespace {

constexpr Bytes bytes_of_an_event = 120; ///< about; what is too much is thinned afterwards
constexpr std::size_t most_name_bytes = 200;

/// JSON of a name from the scenario, which may be of any length.
std::string name_text(const std::string& name) {
  std::string shown = name;
  if (shown.size() > most_name_bytes) {
    std::size_t cut = most_name_bytes;
    while (cut > 0 and (static_cast<unsigned char>(shown[cut]) & 0xC0U) == 0x80U)
      --cut;
    shown = fmt::format("{}...", shown.substr(0, cut));
  }
  return json(shown).dump(-1, ' ', false, json::error_handler_t::replace);
}

/// Microseconds, exact to the nanosecond.
std::string micros(double seconds) {
  const std::int64_t ns = std::llround(seconds * 1e9);
  return fmt::format("{}.{:03}", ns / 1000, ns % 1000);
}

class TraceWriter {
public:
  TraceWriter(const TraceRecorder& recorder, const RunResult& result)
      : recorder_(recorder), result_(result) {}

  std::string text() {
    head();
    name_tracks();
    for (const auto& slice : recorder_.slices())
      add(slice);
    std::int64_t id = 0;
    for (const auto& flow : recorder_.flows())
      add(flow, ++id);
    add_counters();
    out_ += "\n]}\n";
    return std::move(out_);
  }

private:
  void head() {
    const bool sampled = recorder_.kept_s() < recorder_.period_s();
    json about = {{"scenario", result_.scenario},
                  {"scenario_hash", result_.scenario_hash},
                  {"seed", result_.seed},
                  {"version", result_.version},
                  {"fingerprint", hex64(result_.fingerprint)},
                  {"simulated_s", number_json(result_.simulated_s)},
                  {"sampled", sampled}};
    if (sampled)
      about["sampling"] = fmt::format("of every {:.6g} s of simulated time the first {:.6g} s",
                                      recorder_.period_s(), recorder_.kept_s());
    out_ = fmt::format("{{\"displayTimeUnit\":\"ms\",\"otherData\":{},\"traceEvents\":[\n",
                       about.dump(-1, ' ', false, json::error_handler_t::replace));
  }

  template <class... Args>
  void event(fmt::format_string<Args...> format, Args&&... args) {
    if (not first_)
      out_ += ",\n";
    first_ = false;
    fmt::format_to(std::back_inserter(out_), format, std::forward<Args>(args)...);
  }

  /// A group per server, in order of the roles; a track per process.
  void name_tracks() {
    const auto& processes = recorder_.processes();
    for (const auto& process : processes) {
      const auto [known, added] = pids_.emplace(process.node, static_cast<int>(pids_.size()) + 1);
      if (not added)
        continue;
      event(R"({{"ph":"M","pid":{},"tid":0,"name":"process_name","args":{{"name":{}}}}})", known->second,
            name_text(process.node));
      event(R"({{"ph":"M","pid":{},"tid":0,"name":"process_sort_index","args":{{"sort_index":{}}}}})",
            known->second, known->second);
    }
    for (std::size_t i = 0; i < processes.size(); ++i) {
      event(R"({{"ph":"M","pid":{},"tid":{},"name":"thread_name","args":{{"name":{}}}}})", pid(i), i + 1,
            name_text(processes[i].name));
      event(R"({{"ph":"M","pid":{},"tid":{},"name":"thread_sort_index","args":{{"sort_index":{}}}}})", pid(i),
            i + 1, i + 1);
    }
  }

  int pid(std::size_t process) const { return pids_.at(recorder_.processes()[process].node); }

  void add(const TraceSlice& slice) {
    const auto process = static_cast<std::size_t>(slice.process);
    // The end is rounded as the begin of the next one is: neighbours never overlap.
    const std::int64_t from = std::llround(slice.from_s * 1e9), to = std::llround(slice.to_s * 1e9);
    std::string arguments;
    if (slice.batch >= 0) {
      const TraceBatch& batch = recorder_.batches()[static_cast<std::size_t>(slice.batch)];
      arguments = fmt::format(R"("batch":{},"{}":{})", name_text(batch.label),
                              batch.xid == 0 ? "transactions" : "rows", batch.rows);
      if (batch.xid != 0)
        arguments += fmt::format(R"(,"xid":{})", batch.xid);
    }
    if (slice.waits_for >= 0)
      arguments += fmt::format(R"({}"waits_for":{})", arguments.empty() ? "" : ",",
                               name_text(recorder_.signals()[static_cast<std::size_t>(slice.waits_for)]));
    event(R"({{"ph":"X","pid":{},"tid":{},"ts":{},"dur":{}.{:03},"cat":"{}","name":{}{}}})", pid(process),
          process + 1, micros(slice.from_s), (to - from) / 1000, (to - from) % 1000,
          slice.blocked ? "blocked" : "busy",
          slice.blocked ? "\"waiting for output\"" : name_text(recorder_.processes()[process].stage),
          arguments.empty() ? "" : fmt::format(R"(,"args":{{{}}})", arguments));
  }

  void add(const TraceFlow& flow, std::int64_t id) {
    const TraceBatch& batch = recorder_.batches()[static_cast<std::size_t>(flow.batch)];
    for (std::size_t i = 0; i < flow.stops.size(); ++i) {
      const bool last = i + 1 == flow.stops.size();
      const auto process = static_cast<std::size_t>(flow.stops[i].process);
      event(R"({{"ph":"{}","pid":{},"tid":{},"ts":{},"id":{},"cat":"batch","name":{}{}}})",
            i == 0 ? "s" : (last ? "f" : "t"), pid(process), process + 1, micros(flow.stops[i].at_s), id,
            name_text(batch.label), last ? R"(,"bp":"e")" : "");
    }
  }

  /// Columns of the timeline, in groups of one unit. What grows from 0 at the left is easier to see than
  /// LSNs: cursors are shown by their distances.
  void add_counters() {
    const auto& columns = result_.timeline.columns;
    const int track = static_cast<int>(pids_.size()) + 1;
    event(R"({{"ph":"M","pid":{},"tid":0,"name":"process_name","args":{{"name":"queues and cursors"}}}})",
          track);
    std::map<std::string, std::size_t> at;
    for (std::size_t i = 0; i < columns.size(); ++i)
      at[columns[i]] = i;
    for (const auto& row : result_.timeline.rows) {
      const std::string ts = micros(row[0]);
      const auto value = [&](const char* name) { return row[at.at(name)]; };
      const auto counter = [&](const char* name, const std::string& args) {
        event(R"({{"ph":"C","pid":{},"tid":0,"ts":{},"name":"{}","args":{{{}}}}})", track, ts, name, args);
      };
      const double wal = value("wal_lsn");
      counter("bytes behind wal_lsn",
              fmt::format(R"("sent_lsn":{:.0f},"replay_lsn":{:.0f},"confirmed_flush_lsn":{:.0f})",
                          wal - value("sent_lsn"), wal - value("replay_lsn"),
                          wal - value("confirmed_flush_lsn")));
      for (const char* name : {"wal_lsn", "retained_wal_bytes", "reorder_buffer_bytes", "spill_file_bytes",
                               "sub_tmp_file_bytes", "sub_row_excl_locks", "sub_lock_waits"})
        counter(name, fmt::format(R"("{}":{:.0f})", name, value(name)));
    }
  }

  const TraceRecorder& recorder_;
  const RunResult& result_;
  std::map<std::string, int> pids_;
  std::string out_;
  bool first_ = true;
};

/// The timeline, every second row left out.
void halve(Timeline& timeline) {
  for (std::size_t i = 1; 2 * i < timeline.rows.size(); ++i)
    timeline.rows[i] = std::move(timeline.rows[2 * i]);
  timeline.rows.resize((timeline.rows.size() + 1) / 2);
}

} // namespace

std::string trace_text(TraceRecorder& recorder, const RunResult& result, Bytes most_bytes) {
  RunResult shown = result;
  while (true) {
    std::string text = TraceWriter(recorder, shown).text();
    if (static_cast<Bytes>(text.size()) <= most_bytes)
      return text;
    if (recorder.slices().empty() and shown.timeline.rows.size() < 2)
      throw UsageError(
          fmt::format("the names of the processes alone fill a trace of {} bytes; allow more", text.size()));
    recorder.thin();
    halve(shown.timeline);
  }
}

Trace traced_simulation(const Scenario& scenario, std::uint64_t seed, Bytes most_bytes) {
  const Job job{scenario.name, [&scenario, seed, most_bytes] {
                  TraceRecorder recorder(static_cast<std::size_t>(most_bytes / bytes_of_an_event));
                  const RunResult result = simulate_traced(scenario, seed, recorder);
                  return hex64(result.fingerprint) + trace_text(recorder, result, most_bytes);
                }};
  const auto outcomes = run_forked({job});
  const std::string& answer = outcomes.front().get();
  constexpr std::size_t digits = 16;
  REPLISIM_REQUIRE(answer.size() > digits, "a traced run gave {} bytes", answer.size());
  return {answer.substr(digits), std::stoull(answer.substr(0, digits), nullptr, 16)};
}

} // namespace replisim
