// A descriptor, written as a chain: Field("rows", FieldType::Integer, "...").needed().between(1, 10).
#pragma once

#include "sim/scenario/descriptors.hpp"

#include <utility>

namespace replisim {

struct Field : FieldDescriptor {
  Field(std::string_view its_name, FieldType its_type, std::string_view its_sentence) {
    name = its_name;
    type = its_type;
    sentence = its_sentence;
  }
  Field& of(std::string_view object_name) { return set(object, object_name); }
  Field& named_in(std::string_view map) { return set(refers_to, map); }
  Field& needed() { return set(required, true); }
  Field& otherwise(std::string_view text) { return set(default_value, text); }
  Field& mirrors(std::string_view setting) { return set(guc, setting); }
  Field& one_of(std::vector<std::string_view> words) { return set(allowed, std::move(words)); }
  Field& between(double low, double high) { return set(minimum, low).set(maximum, high); }

private:
  template <typename Member>
  Field& set(Member& member, Member value) {
    member = std::move(value);
    return *this;
  }
};

/// Fields of a workload entry that changes the catalog.
std::vector<FieldDescriptor> catalog_load_fields();
/// Decoding through SQL.
void add_catalog_objects(std::vector<ObjectDescriptor>& out);
/// How precise the answer is to be.
void add_statistics_objects(std::vector<ObjectDescriptor>& out);
/// What `replisim plan` is asked.
void add_plan_objects(std::vector<ObjectDescriptor>& out);
/// Profile files and calibration specs.
void add_profile_objects(std::vector<ObjectDescriptor>& out);
/// Client sessions on subscribers.
void add_session_objects(std::vector<ObjectDescriptor>& out);

/// Consumers, and rows that a subscriber cannot apply.
void add_receiver_objects(std::vector<ObjectDescriptor>& out);

/// Faults and changes during the run, and initial synchronisations.
void add_event_objects(std::vector<ObjectDescriptor>& out);

/// The fields that clients in a closed loop add to a load, and the objects they need.
std::vector<FieldDescriptor> client_load_fields();
void add_client_objects(std::vector<ObjectDescriptor>& out);

} // namespace replisim
