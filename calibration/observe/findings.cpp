#include "calibration/observe/findings.hpp"

#include "models/base/units.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>

namespace replisim::readers {

namespace {

std::string times(std::uint64_t n) {
  return n == 1 ? "once" : fmt::format("{} times", format_count(static_cast<std::int64_t>(n)));
}

std::string bytes_of(double bytes) {
  // MiB as the tools of the trade count, with a decimal: what is compared with posted figures.
  return fmt::format("{:.1f} MiB", bytes / 1048576.0);
}

/// By how much a counter of a view grew; what it shows where there is one value alone, or it was reset.
double growth_of(const Series& series) {
  const double grown = series.last().value - series.first().value;
  return series.count() > 1 and grown >= 0 ? grown : series.largest();
}

class Finder {
public:
  Finder(const Observation& observation, const SourceGroup& group)
      : observation_(observation), group_(group) {}

  std::vector<Finding> find() {
    for (const std::size_t source : group_.sources) {
      find_progress(source);
      find_simple(source);
      find_waits(source);
      find_spill(source);
    }
    return std::move(findings_);
  }

private:
  const Event* first_of(std::string_view type, std::size_t source) const {
    const auto& events = observation_.events();
    const auto found = std::find_if(events.begin(), events.end(), [&](const Event& event) {
      return event.place.source == source and event.type == type;
    });
    return found == events.end() ? nullptr : &*found;
  }

  void add(std::string kind, std::string text, std::uint64_t count, const Place& place) {
    findings_.push_back({.kind = std::move(kind), .text = std::move(text), .count = count, .place = place});
  }

  template <typename Visit>
  void for_series(std::string_view metric, std::size_t source, Visit visit) const {
    for (const auto& [key, series] : observation_.all_series())
      if (key.first == metric and key.second.first == source)
        visit(series);
  }

  static Place place_of(const Series& series) {
    return {.source = series.source(), .first_line = series.first().line, .last_line = series.first().line};
  }
  static std::string slot_of(const Series& series) {
    const auto slot = series.labels().find("slot");
    return slot == series.labels().end() ? "?" : slot->second;
  }

  /// Decoding that starts again and again, and what it reads again.
  void find_progress(std::size_t source) {
    std::map<std::string, std::pair<std::uint64_t, Place>> stuck;
    for (const Event& event : observation_.events()) {
      const auto in_vain = event.number("starts_without_progress");
      if (event.place.source != source or event.type != "decoding_start" or in_vain.value_or(0) < 1)
        continue;
      auto& entry = stuck.try_emplace(event.text("slot"), 0, event.place).first->second;
      entry.first = std::max(entry.first, static_cast<std::uint64_t>(*in_vain));
    }
    for (const auto& [slot, entry] : stuck)
      add("no_progress",
          fmt::format(
              "slot \"{}\" started {} in a row without having moved on: whatever it sends is not confirmed "
              "before the connection ends",
              slot, times(entry.first + 1)),
          entry.first + 1, entry.second);
    for_series("redecoded_bytes", source, [&](const Series& series) {
      if (series.count() > 1)
        add("restarts",
            fmt::format("decoding of slot \"{}\" started {}", slot_of(series), times(series.count())),
            series.count(), place_of(series));
      // A start reads back to the oldest transaction then open: up to a segment is usual.
      constexpr double usual_bytes = 1048576;
      if (series.largest() > usual_bytes)
        add("redecoded",
            fmt::format("slot \"{}\" decoded {} again in all ({} at most in one start)", slot_of(series),
                        bytes_of(series.sum()), bytes_of(series.largest())),
            series.count(), place_of(series));
    });
    for_series("decode_bytes_per_s", source, [&](const Series& series) {
      add("decode_rate",
          fmt::format("slot \"{}\" decoded {}/s {}", slot_of(series),
                      bytes_of(series.sum() / static_cast<double>(series.count())),
                      series.count() == 1
                          ? "before it was cut off"
                          : fmt::format("on average before it was cut off, {}", times(series.count()))),
          series.count(), place_of(series));
    });
    for_series("retained_wal_bytes", source, [&](const Series& series) {
      if (series.largest() > 0)
        add("pinned_wal",
            fmt::format("WAL held back behind the confirmed position: {} at most",
                        bytes_of(series.largest())),
            series.count(), place_of(series));
    });
  }

  void find_simple(std::size_t source) {
    struct Row {
      const char* type;
      const char* text; ///< {} is how often
    };
    static constexpr Row rows[] = {
        {"slot_invalidated", "a replication slot was invalidated {}: its consumer has to start over"},
        {"slot_lost", "a replication slot is lost: its consumer has to start over, {}"},
        {"slot_unreserved", "a replication slot will be lost at the next checkpoint, {}"},
        {"slot_inactive", "nobody reads a replication slot, and it holds WAL back, {}"},
        {"wal_removed", "a consumer asked for WAL that was removed already, {}"},
        {"crash", "a server process died or the server recovered, {}"},
        {"walsender_timeout", "walsenders were ended by wal_sender_timeout {}"},
        {"apply_timeout", "apply workers were ended by wal_receiver_timeout {}"},
        {"subscription_disabled", "a subscription was disabled because of an error, {}"},
        {"apply_error", "applying failed {}"},
        {"conflict", "conflicts with rows of the subscriber: {}"},
        {"deadlock", "deadlocks: {}"},
        {"parallel_apply_error", "a parallel apply worker was lost {}"},
        {"changes_to_file", "a parallel apply worker did not keep up and changes went to a file, {}"},
        {"connection_lost", "replication connections were lost or refused {}"},
        {"slot_busy", "a slot was asked for while another walsender held it, {}"},
        {"worker_exit", "apply workers ended {}"},
        {"checkpoints_too_frequent", "checkpoints came too often for max_wal_size, {}"},
        {"ddl",
         "statements that change the catalogue ran {}: each makes decoders drop what they have cached"},
        {"catalog_change",
         "transactions changed catalogues {}: each makes decoders drop what they have cached"},
        {"error", "other errors: {}"},
    };
    for (const Row& row : rows) {
      const std::uint64_t count = observation_.event_count(row.type, source);
      if (count == 0)
        continue;
      const Event& first = *first_of(row.type, source);
      std::string text = fmt::format(fmt::runtime(row.text), times(count));
      if (const std::string message = first.text("message"); not message.empty())
        text += fmt::format(" (first: {})", message.substr(0, message.find('\n')));
      if (const auto after_s = first.number("after_s"))
        text += fmt::format(" (first after {:.3f} s)", *after_s);
      add(row.type, std::move(text), count, first.place);
    }
  }

  void find_waits(std::size_t source) {
    std::uint64_t count = 0;
    double sum_s = 0;
    double longest_s = 0;
    Place place{.source = source, .first_line = 0, .last_line = 0};
    for_series("blocked_s", source, [&](const Series& series) {
      if (series.labels().contains("seen_in")) {
        add("lock_waits_seen",
            fmt::format("waits for locks stood in pg_locks: {} for {}, {:.3f} s at most until then",
                        series.count(), series.labels().at("mode"), series.largest()),
            series.count(), place_of(series));
        return;
      }
      count += series.count();
      sum_s += series.sum();
      longest_s = std::max(longest_s, series.largest());
      if (place.first_line == 0 or series.first().line < place.first_line)
        place = place_of(series);
    });
    if (count > 0)
      add("lock_waits",
          fmt::format("waited for locks {} beyond deadlock_timeout, {:.3f} s in all, {:.3f} s at most",
                      times(count), sum_s, longest_s),
          count, place);
  }

  void find_spill(std::size_t source) {
    const auto report = [&](const char* metric, const char* text) {
      for_series(metric, source, [&](const Series& series) {
        if (series.largest() > 0)
          add(metric, fmt::format(fmt::runtime(text), bytes_of(series.largest())), series.count(),
              place_of(series));
      });
    };
    report("spill_file_bytes", "the publisher spilled decoded changes to disk: up to {} at a time");
    find_counters(source);
    report("sub_tmp_file_bytes", "the subscriber kept streamed changes in files: up to {} at a time");
    for_series("spilled_changes", source, [&](const Series& series) {
      add("spilled_changes",
          fmt::format("the walsender spilled {}, {} changes in all", times(series.count()),
                      format_count(static_cast<std::int64_t>(series.sum()))),
          series.count(), place_of(series));
    });
  }

  /// Counters of views: how much they grew, or what one snapshot shows.
  void find_counters(std::size_t source) {
    const auto say = [&](const std::string& metric, double grown, const Labels& labels, bool is_growth,
                         const Place& place) {
      const std::string since = is_growth ? "" : " since the statistics were reset";
      const auto of = [&](const char* label) {
        const auto found = labels.find(label);
        return found == labels.end() ? std::string("?") : found->second;
      };
      const auto count = static_cast<std::uint64_t>(grown);
      if (metric == "spill_bytes")
        add(metric,
            fmt::format("slot \"{}\" spilled {} of decoded changes (accounted memory){}", of("slot"),
                        bytes_of(grown), since),
            1, place);
      else if (metric.ends_with("_error_count") or metric.starts_with("confl_"))
        add(metric,
            fmt::format("subscription \"{}\": {} {}{}", of("subscription"), metric, times(count), since),
            count, place);
    };
    for (const auto& [key, series] : observation_.all_series())
      if (key.second.first == source and series.is_counter())
        if (const double grown = growth_of(series); grown > 0)
          say(key.first, grown, series.labels(), series.count() > 1, place_of(series));
    if (observation_.sources[source].reader == "views")
      for (const Figure& figure : observation_.figures)
        if (figure.place.source == source and figure.how == "one snapshot" and figure.value > 0)
          say(figure.metric, figure.value, figure.labels, false, figure.place);
  }

  const Observation& observation_;
  const SourceGroup& group_;
  std::vector<Finding> findings_;
};

} // namespace

std::vector<Finding> find_findings(const Observation& observation, const SourceGroup& group) {
  return Finder(observation, group).find();
}

std::string streaming_of(const Observation& observation, const SourceGroup& group) {
  std::set<std::string> found;
  for (const Event& event : observation.events())
    if (event.type == "start_replication" and
        std::find(group.sources.begin(), group.sources.end(), event.place.source) != group.sources.end())
      found.insert(event.text("streaming"));
  return fmt::format("{}", fmt::join(found, ", "));
}

std::string transport_of(const Observation& observation, const SourceGroup& group) {
  const auto is_member = [&](std::size_t source) {
    return std::find(group.sources.begin(), group.sources.end(), source) != group.sources.end();
  };
  double spilled = 0;
  double in_files = 0;
  bool has_samples = false;
  for (const auto& [key, series] : observation.all_series()) {
    if (not is_member(series.source()))
      continue;
    const bool is_spill =
        key.first == "spill_file_bytes" or key.first == "spill_bytes" or key.first == "spilled_changes";
    const bool is_file = key.first == "sub_tmp_file_bytes";
    has_samples = has_samples or is_spill or is_file;
    const double value = key.first == "spill_bytes" ? growth_of(series) : series.largest();
    spilled = std::max(spilled, is_spill ? value : 0);
    in_files = std::max(in_files, is_file ? series.largest() : 0);
  }
  const bool is_parallel =
      std::any_of(observation.events().begin(), observation.events().end(), [&](const Event& event) {
        return is_member(event.place.source) and event.type == "apply_start" and
               event.text("worker") == "parallel";
      });
  if (is_parallel)
    return in_files > 0 ? "streamed to parallel apply workers, and to files"
                        : "streamed to parallel apply workers";
  if (in_files > 0)
    return "streamed to files on the subscriber";
  if (spilled > 0)
    return "spilled on the publisher";
  return has_samples ? "decoded in memory" : "";
}

} // namespace replisim::readers
