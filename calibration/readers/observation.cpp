#include "calibration/readers/observation.hpp"

#include <algorithm>

namespace replisim::readers {

void Source::see(TimeUs at_us) {
  first_us = first_us ? std::min(*first_us, at_us) : at_us;
  last_us = last_us ? std::max(*last_us, at_us) : at_us;
}

void Series::add(const Sample& sample) {
  if (count_ == 0) {
    first_ = sample;
    smallest_ = largest_ = sample.value;
  }
  last_ = sample;
  sum_ += sample.value;
  smallest_ = std::min(smallest_, sample.value);
  largest_ = std::max(largest_, sample.value);
  if (count_++ % stride_ != 0)
    return;
  samples_.push_back(sample);
  if (samples_.size() <= max_samples)
    return;
  std::size_t kept = 0;
  for (std::size_t i = 0; i < samples_.size(); i += 2)
    samples_[kept++] = samples_[i];
  samples_.resize(kept);
  stride_ *= 2;
}

std::optional<double> rate_per_s(const Sample& earlier, const Sample& later) {
  const TimeUs passed_us = later.at_us - earlier.at_us;
  if (passed_us <= 0 or later.value < earlier.value)
    return {};
  return (later.value - earlier.value) / (static_cast<double>(passed_us) * 1e-6);
}

const AttributeValue* Event::find(std::string_view name) const {
  const auto found = std::find_if(attributes.begin(), attributes.end(),
                                  [&](const auto& attribute) { return attribute.first == name; });
  return found == attributes.end() ? nullptr : &found->second;
}

std::string Event::text(std::string_view name) const {
  const AttributeValue* value = find(name);
  const auto* text = value == nullptr ? nullptr : std::get_if<std::string>(value);
  return text == nullptr ? std::string() : *text;
}

std::optional<double> Event::number(std::string_view name) const {
  const AttributeValue* value = find(name);
  if (value == nullptr)
    return {};
  if (const auto* whole = std::get_if<std::int64_t>(value))
    return static_cast<double>(*whole);
  if (const auto* real = std::get_if<double>(value))
    return *real;
  return {};
}

Series& Observation::series(std::string_view metric, std::size_t source, const Labels& labels,
                            bool is_counter) {
  auto key = std::make_pair(std::string(metric), std::make_pair(source, labels));
  const auto found = series_.find(key);
  if (found != series_.end())
    return found->second;
  Series made(key.first, labels, source, is_counter);
  return series_.emplace(std::move(key), std::move(made)).first->second;
}

void Observation::add(Event event) {
  const auto key = std::make_pair(event.place.source, event.type);
  if (event_counts_[key]++ < max_events)
    events_.push_back(std::move(event));
}

std::uint64_t Observation::event_count(std::string_view type, std::size_t source) const {
  const auto found = event_counts_.find(std::make_pair(source, std::string(type)));
  return found == event_counts_.end() ? 0 : found->second;
}

std::uint64_t Observation::event_count(std::string_view type) const {
  std::uint64_t count = 0;
  for (const auto& [key, n] : event_counts_)
    if (key.second == type)
      count += n;
  return count;
}

} // namespace replisim::readers
