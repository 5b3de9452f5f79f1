// What all readers end in: series, events and figures with time base and provenance, in the vocabulary of
// simulated results (metric names as PostgreSQL's views have them, times in seconds, sizes in bytes).
//
// Memory is bounded: a series thins itself out and keeps exact count, sum and extremes; of each type of event
// the first ones are kept and all are counted.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

namespace replisim::readers {

/// Microseconds on some clock; which one, the source says.
using TimeUs = std::int64_t;

/// What the times of a source count from.
enum class TimeBase {
  None,  ///< the source has no times
  Wall,  ///< microseconds since 1970-01-01 00:00 UTC by the clock of the source's node
  Start, ///< microseconds since the source's own beginning
};

/// One file, and what was found out about it.
struct Source {
  std::string file;
  std::string reader; ///< Reader::name()
  std::string format; ///< in words: "stderr, log_line_prefix '%m [%p] '"
  std::string node;   ///< "pub", "sub" or a name given by the user; empty when nothing tells
  TimeBase time_base = TimeBase::None;
  std::uint64_t lines = 0;
  std::uint64_t bytes = 0; ///< unpacked
  std::optional<TimeUs> first_us;
  std::optional<TimeUs> last_us;

  void see(TimeUs at_us); ///< widens [first_us, last_us]
};

/// Where in a file something stands: lines of Observation::sources[source].
struct Place {
  std::size_t source = 0;
  std::uint64_t first_line = 0;
  std::uint64_t last_line = 0;
};

/// What tells apart series of one metric: {"subscription", "s"}, {"slot", "s"}, {"pid", "73"}, ...
using Labels = std::map<std::string, std::string>;

struct Sample {
  TimeUs at_us = 0;
  double value = 0;
  std::uint64_t line = 0;
};

/// The values of one metric over time.
class Series {
public:
  Series(std::string metric, Labels labels, std::size_t source, bool is_counter)
      : metric_(std::move(metric)), labels_(std::move(labels)), source_(source), is_counter_(is_counter) {}

  /// Appends a value. Beyond max_samples every second sample is dropped, and later ones come in at the wider
  /// spacing; count(), sum(), smallest(), largest(), first() and last() stay exact.
  void add(const Sample& sample);

  const std::string& metric() const { return metric_; }
  const Labels& labels() const { return labels_; }
  std::size_t source() const { return source_; }
  bool is_counter() const { return is_counter_; } ///< cumulated: differences mean something, values do not
  const std::vector<Sample>& samples() const { return samples_; }
  std::uint64_t stride() const { return stride_; } ///< 1: all samples were kept; n: every n-th
  std::uint64_t count() const { return count_; }
  double sum() const { return sum_; }
  double smallest() const { return smallest_; }
  double largest() const { return largest_; }
  const Sample& first() const { return first_; }
  const Sample& last() const { return last_; }

  static constexpr std::size_t max_samples = 8192;

private:
  std::string metric_;
  Labels labels_;
  std::size_t source_;
  bool is_counter_;
  std::vector<Sample> samples_;
  std::uint64_t stride_ = 1;
  std::uint64_t count_ = 0;
  double sum_ = 0;
  double smallest_ = 0;
  double largest_ = 0;
  Sample first_;
  Sample last_;
};

/// The rate per second between two samples of a counter; nothing when no time has passed or the counter went
/// down, as it does when statistics are reset or a server starts again.
std::optional<double> rate_per_s(const Sample& earlier, const Sample& later);

using AttributeValue = std::variant<std::string, std::int64_t, double>;

/// Something that happened, at a moment or over a span.
struct Event {
  std::string type; ///< stable, for programs: "decoding_start", "lock_wait", "checkpoint", ...
  TimeUs begin_us = 0;
  std::optional<TimeUs> end_us; ///< set: a span
  std::vector<std::pair<std::string, AttributeValue>> attributes;
  Place place;

  const AttributeValue* find(std::string_view name) const;
  std::string text(std::string_view name) const; ///< empty when there is no such attribute or it is a number
  std::optional<double> number(std::string_view name) const;
};

/// A number that a file states or that follows from it as a whole: "tps", "total_s", "lock_hold_s".
struct Figure {
  std::string metric;
  double value = 0;
  std::optional<double> uncertainty; ///< half width, same unit
  Labels labels;
  std::string how; ///< a phrase: where it comes from, when that is not plain
  Place place;
};

class Observation {
public:
  std::vector<Source> sources;
  std::vector<Figure> figures;

  /// The series of a metric and labels in a source; made when it is not there yet. References stay good.
  Series& series(std::string_view metric, std::size_t source, const Labels& labels = {},
                 bool is_counter = false);
  const std::map<std::pair<std::string, std::pair<std::size_t, Labels>>, Series>& all_series() const {
    return series_;
  }

  /// Books an event. Of each type in each source the first max_events are kept.
  void add(Event event);
  const std::vector<Event>& events() const { return events_; } ///< in order of booking
  /// How often a type occurred in a source, kept or not.
  std::uint64_t event_count(std::string_view type, std::size_t source) const;
  std::uint64_t event_count(std::string_view type) const; ///< over all sources

  bool empty() const { return figures.empty() and series_.empty() and events_.empty(); }

  static constexpr std::size_t max_events = 2000;

private:
  std::map<std::pair<std::string, std::pair<std::size_t, Labels>>, Series> series_;
  std::vector<Event> events_;
  std::map<std::pair<std::size_t, std::string>, std::uint64_t, std::less<>> event_counts_;
};

} // namespace replisim::readers
