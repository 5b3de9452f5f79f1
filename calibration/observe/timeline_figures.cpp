#include "calibration/observe/timeline_figures.hpp"

#include <algorithm>
#include <cmath>
#include <optional>
#include <vector>

namespace replisim::readers {

namespace {

double seconds(TimeUs us) { return static_cast<double>(us) * 1e-6; }

/// A moment known to lie between two samples.
struct Moment {
  TimeUs after_us = 0;
  TimeUs until_us = 0;
};

struct Span {
  double s = 0;
  double uncertainty_s = 0;
};

Span between(const Moment& begin, const Moment& end) {
  return {
      (seconds(end.after_us) + seconds(end.until_us) - seconds(begin.after_us) - seconds(begin.until_us)) / 2,
      (seconds(end.until_us - end.after_us) + seconds(begin.until_us - begin.after_us)) / 2};
}

/// The burst of WAL in a timeline: when it began, when it was written, when it was replayed.
struct Burst {
  std::optional<Moment> begin;
  std::optional<Moment> written;
  std::optional<Moment> replayed;
  double wal_bytes = 0;
};

class Timeline {
public:
  Timeline(Observation& observation, std::size_t source, const std::string& run)
      : observation_(observation), source_(source), run_(run) {}

  void add_figures() {
    const Burst burst = find_burst();
    add_times(burst);
    add_lock_hold();
    add_peaks();
    add_cpu(burst);
  }

private:
  const Series* find(const std::string& metric) const {
    const auto found = observation_.all_series().find({metric, {source_, Labels{}}});
    return found == observation_.all_series().end() ? nullptr : &found->second;
  }

  void add(std::string metric, double value, std::optional<double> uncertainty, std::string how) {
    const Source& info = observation_.sources[source_];
    observation_.figures.push_back({.metric = std::move(metric),
                                    .value = value,
                                    .uncertainty = uncertainty,
                                    .labels = run_.empty() ? Labels{} : Labels{{"run", run_}},
                                    .how = std::move(how),
                                    .place = {.source = source_, .first_line = 1, .last_line = info.lines}});
  }

  static Moment step(const std::vector<Sample>& samples, std::size_t i) {
    return {samples[i - 1].at_us, samples[i].at_us};
  }

  Burst find_burst() const {
    Burst burst;
    const Series* wal = find("wal_lsn");
    if (wal == nullptr or wal->samples().size() < 4)
      return burst;
    const auto& at = wal->samples();
    const double from = at.front().value;
    const double growth = at.back().value - from;
    if (growth <= 0)
      return burst;
    // Records that servers write by themselves (running transactions, checkpoints) follow the burst now and
    // then.
    const double enough = from + growth * 0.999;
    std::size_t first = 1;
    while (at[first].value <= from)
      ++first;
    std::size_t last = first;
    while (at[last].value < enough)
      ++last;
    if (first > 1)
      burst.begin = begin_of_work(at, first);
    if (last + 1 < at.size())
      burst.written = step(at, last);
    const bool is_at_rest = last + 1 < at.size() and at[last + 1].value == at[last].value;
    burst.wal_bytes = (is_at_rest ? at[last] : at.back()).value - from;
    const Series* replay = find("replay_lsn");
    if (replay == nullptr)
      return burst;
    const auto& played = replay->samples();
    for (std::size_t i = 1; i < played.size(); ++i)
      if (played[i].at_us >= at[last].at_us and played[i].value >= at[last].value) {
        burst.replayed = step(played, i);
        break;
      }
    return burst;
  }

  /// A transaction's first WAL shows late, since it is written out a few times a second; the CPU time of its
  /// backend shows at once. Goes back over the samples in which backends worked without a break, at more than
  /// two fifths of a core: measuring sessions take less.
  Moment begin_of_work(const std::vector<Sample>& wal, std::size_t first) const {
    const Series* cpu = find("cpu_pub.backend_s");
    Moment begin = step(wal, first);
    if (cpu == nullptr)
      return begin;
    const auto& at = cpu->samples();
    std::size_t i = 1;
    while (i < at.size() and at[i].at_us < wal[first].at_us)
      ++i;
    const auto worked = [&](std::size_t k) {
      return at[k].value - at[k - 1].value > 0.4 * seconds(at[k].at_us - at[k - 1].at_us);
    };
    if (i < at.size() and not worked(i))
      --i; // WAL showed in the same step
    for (; i >= 1 and i < at.size() and worked(i); --i)
      if (at[i].at_us <= begin.until_us)
        begin = step(at, i);
    return begin;
  }

  void add_times(const Burst& burst) {
    if (burst.wal_bytes > 0)
      add("wal_bytes", burst.wal_bytes, {}, "growth of wal_lsn");
    if (burst.written and burst.replayed) {
      const Span after = between(*burst.written, *burst.replayed);
      add("catchup_after_s", std::max(after.s, 0.0), after.uncertainty_s,
          "from the end of the WAL until replayed");
    }
    if (not burst.begin or not burst.written)
      return;
    const Span commit = between(*burst.begin, *burst.written);
    add("commit_s", commit.s, commit.uncertainty_s, "until the last WAL was written");
    if (burst.replayed) {
      const Span total = between(*burst.begin, *burst.replayed);
      add("total_s", total.s, total.uncertainty_s, "until replay_lsn reached the end of that WAL");
    }
  }

  void add_lock_hold() {
    const Series* locks = find("sub_row_excl_locks");
    if (locks == nullptr)
      return;
    const auto& at = locks->samples();
    std::optional<Moment> taken;
    std::optional<Moment> released;
    for (std::size_t i = 1; i < at.size(); ++i) {
      const bool was_held = at[i - 1].value > 0;
      const bool is_held = at[i].value > 0;
      if (not was_held and is_held) {
        if (taken)
          return; // several transactions: no one span
        taken = step(at, i);
      }
      if (was_held and not is_held)
        released = step(at, i);
    }
    if (taken and released) {
      const Span span = between(*taken, *released);
      add("lock_hold_s", span.s, span.uncertainty_s, "span with row locks of apply workers");
    }
  }

  void add_peaks() {
    for (const char* name : {"spill_file_bytes", "sub_tmp_file_bytes"})
      if (const Series* series = find(name))
        add(std::string("peak_") + name, series->largest(), {}, "largest sample");
  }

  void add_cpu(const Burst& burst) {
    const std::optional<TimeUs> start_us = observation_.sources[source_].first_us;
    std::vector<std::string> names;
    for (const auto& [key, series] : observation_.all_series())
      if (key.second.first == source_ and key.first.starts_with("cpu_"))
        names.push_back(key.first);
    for (const std::string& name : names) {
      const Series& cpu = *find(name);
      // A process that appears later had used nothing before.
      const double from = cpu.first().at_us == start_us ? cpu.first().value : 0;
      if (name == "cpu_pub.backend_s" and burst.begin and burst.written)
        add_backend_cpu(cpu, from, *burst.written);
      else if (cpu.last().value > from)
        add(name, cpu.last().value - from, tick_s, "growth over the timeline");
    }
  }

  /// The statement's backend is not told from sessions that measure. What those take shows once the WAL is
  /// written: so much is uncertain, at that rate before and in all behind.
  void add_backend_cpu(const Series& cpu, double from, const Moment& written) {
    const auto& at = cpu.samples();
    Sample until = at.front();
    for (const Sample& sample : at)
      if (sample.at_us <= written.until_us)
        until = sample;
    if (until.value <= from)
      return;
    const double after_s = seconds(at.back().at_us - until.at_us);
    const double rest = at.back().value - until.value;
    const double before_s = seconds(until.at_us - at.front().at_us);
    const double share = after_s > 0 ? (rest + tick_s) / after_s * before_s : 0;
    add("cpu_pub.backend_s", until.value - from, std::max(rest, share) + tick_s,
        "growth until the last WAL was written; other sessions' part is uncertain");
  }

  /// /proc counts CPU time in ticks of 10 ms.
  static constexpr double tick_s = 0.01;

  Observation& observation_;
  std::size_t source_;
  std::string run_;
};

} // namespace

void add_timeline_figures(Observation& observation, std::size_t source, const std::string& run) {
  Timeline(observation, source, run).add_figures();
}

} // namespace replisim::readers
