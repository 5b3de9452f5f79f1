// The format of profile files and of the specs they are made by.
#include "sim/scenario/descriptor_field.hpp"

namespace replisim {

namespace {

using T = FieldType;
using Objects = std::vector<ObjectDescriptor>;

void add_profiles(Objects& out) {
  out.push_back(
      {"profile",
       "name",
       {Field("name", T::Name, "a profile of calibration/profiles").named_in("profiles").needed(),
        Field("cpu_speed", T::Number, "divides all CPU costs of the named profile; 2 is a core twice as fast")
            .between(0.01, 100)
            .otherwise("1"),
        Field("parameters", T::Costs, "single costs in place of the profile's, at `cpu_speed`")
            .of("stated_cost")}});
  const FieldDescriptor value =
      Field("value", T::Duration, "duration per act, row, or byte").needed().between(0, no_limit);
  const FieldDescriptor provenance = Field("provenance", T::Choice, "how the value came about")
                                         .needed()
                                         .one_of({"measured", "fitted", "literature", "guess"});
  const FieldDescriptor source =
      Field("source", T::Text, "where it comes from: a file, a thread, a mechanism").needed();
  const FieldDescriptor determined =
      Field("determined", T::Choice, "how well the figures of a fit determine it")
          .one_of({"well", "fairly", "weakly", "by the prior alone", "not at all"});
  out.push_back(
      {"cost",
       "value",
       {value, provenance, source,
        Field("low", T::Duration, "lower end of the 95 % interval").between(0, no_limit),
        Field("high", T::Duration, "upper end of the 95 % interval").between(0, no_limit), determined}});
  ObjectDescriptor stated{"stated_cost", "value", {value, provenance, source}};
  stated.fields[1].required = false;
  stated.fields[1].default_value = "guess";
  stated.fields[2].required = false;
  stated.fields[2].default_value = "stated by the scenario";
  out.push_back(stated);
  ObjectDescriptor ratio{"ratio",
                         "value",
                         {value, provenance, source,
                          Field("low", T::Number, "lower end of the 95 % interval").between(0, no_limit),
                          Field("high", T::Number, "upper end of the 95 % interval").between(0, no_limit),
                          determined}};
  ratio.fields[0].type = T::Number;
  ratio.fields[0].minimum = 0.01;
  ratio.fields[0].maximum = 100;
  ratio.fields[0].sentence = "speed relative to the extended profile's core";
  out.push_back(ratio);
  out.push_back(
      {"profile_file",
       "",
       {Field("replisim_profile", T::Integer, "version of the profile file format; this one is 1")
            .needed()
            .between(1, 1),
        Field("name", T::Text, "the profile's name, equal to the file's").needed(),
        Field("extends", T::Name, "the profile that gives all values this one leaves out")
            .named_in("profiles"),
        Field("machine", T::Name, "the machine the costs belong to").named_in("machines").needed(),
        Field("server_version", T::Version, "the PostgreSQL version they were measured with").needed(),
        Field("cpu_speed", T::Object, "divides all inherited CPU costs; latencies stay as they are")
            .of("ratio"),
        Field("parameters", T::Costs, "costs by group and name, as this machine shows them").of("cost"),
        Field("envelope", T::Object, "between what it was validated; runs that leave it get a warning")
            .of("envelope")}});
}

void add_envelope(Objects& out) {
  const auto range = [&](std::string_view name, FieldType type) {
    out.push_back({name,
                   "",
                   {Field("from", type, "smallest value validated").needed().between(0, no_limit),
                    Field("to", type, "largest value validated").needed().between(0, no_limit)}});
  };
  range("count_range", T::Integer);
  range("size_range", T::Size);
  range("share_range", T::Percent);
  out.push_back(
      {"envelope",
       "",
       {Field("server_version", T::Object, "major version of the servers").of("count_range"),
        Field("transaction_rows", T::Object, "rows a transaction of a batch changes").of("count_range"),
        Field("rolled_back", T::Object, "share of them that is rolled back").of("share_range"),
        Field("row_bytes", T::Object, "heap tuple of a published table").of("size_range"),
        Field("columns", T::Object, "columns of a published table").of("count_range"),
        Field("secondary_indexes", T::Object, "indexes of it besides the primary key").of("count_range"),
        Field("logical_decoding_work_mem", T::Object, "of the publishers").of("size_range"),
        Field("slots", T::Object, "subscriptions and consumers").of("count_range"),
        Field("hosts", T::Object, "computers that servers and consumers run on").of("count_range"),
        Field("cpus", T::Object, "hardware threads of the smallest of them").of("count_range")}});
}

const FieldDescriptor& prior() {
  static const FieldDescriptor field =
      Field(
          "prior", T::Percent,
          "relative spread (one standard deviation) around what is known before; nothing is known when left "
          "out")
          .between(0.001, 10);
  return field;
}

void add_calibration(Objects& out) {
  out.push_back(
      {"calibration_file",
       "",
       {Field("replisim_calibration", T::Integer, "version of the spec format; this one is 1")
            .needed()
            .between(1, 1),
        Field("name", T::Text, "the name of the profile it makes, equal to the file's").needed(),
        Field("extends", T::Name, "the profile that gives what is not fitted, and the priors")
            .named_in("profiles"),
        Field("machine", T::Name, "the machine the costs belong to").named_in("machines").needed(),
        Field("server_version", T::Version, "the PostgreSQL version of the measurements").needed(),
        Field("about", T::Text, "what the profile is, for its head").needed(),
        Field("data", T::ObjectList, "the figures it is fitted to").of("calibration_data").needed(),
        Field("cpu_speed", T::Object, "fit the ratio to the extended profile's core").of("fitted_ratio"),
        Field("parameters", T::Costs, "costs that are fitted, each by itself").of("fitted_cost"),
        Field("together", T::ObjectList, "costs that one common factor moves").of("fitted_group"),
        Field("relations", T::ObjectList, "costs whose ratio is known beforehand").of("cost_relation"),
        Field("derived", T::ObjectList, "costs that are sums of others").of("cost_sum"),
        Field("stated", T::Costs, "costs that are not fitted, as in a profile").of("cost"),
        Field("robust_limit", T::Number,
              "residual, in units of its error, from which on it counts linearly; 0 for never")
            .between(0, 100)
            .otherwise("2"),
        Field("iterations", T::Integer, "largest number of iterations").between(1, 1000).otherwise("30")}});
  out.push_back({"calibration_data",
                 "",
                 {Field("suite", T::Text, "a suite of `replisim validate`"),
                  Field("artefacts", T::Text, "or a folder with what real servers left behind"),
                  Field("runs", T::ObjectList, "what ran when the artefacts came about").of("artefact_run"),
                  Field("metrics", T::NameList, "cells of these metrics are fitted to").needed(),
                  Field("only", T::NameList, "beginnings of cell ids; all cells when left out"),
                  Field("exclude", T::NameList, "beginnings of cell ids that are left out"),
                  Field("error", T::Percent, "relative error of a figure besides the spread of its repeats")
                      .between(0.001, 1)
                      .otherwise("5%"),
                  Field("ratios", T::Percent,
                        "fit to the suite's improvements too, as ratios known to this relative error")
                      .between(0.001, 1)}});
}

void add_artefact_runs(Objects& out) {
  out.push_back({"artefact_run",
                 "",
                 {Field("files", T::NameList, "file names up to their first dot, one a repeat").needed(),
                  Field("scenario", T::Text, "the scenario that describes the run").needed(),
                  Field("set", T::NameList, "fields of it that differ, as --set takes them")}});
}

void add_fitted_costs(Objects& out) {
  out.push_back(
      {"fitted_ratio",
       "",
       {Field("start", T::Number, "where the fit starts").between(0.01, 100).otherwise("1"), prior()}});
  out.push_back(
      {"fitted_cost",
       "",
       {Field(
            "start", T::Duration,
            "where the fit starts, and the centre of its prior; what the extended profile says when left out")
            .between(0, no_limit),
        prior()}});
  out.push_back(
      {"fitted_group",
       "",
       {Field("costs", T::NameList, "costs by name, as in walsender.send_change").named_in("costs").needed(),
        Field("start", T::Number, "factor the fit starts with").between(0.01, 100).otherwise("1"), prior()}});
  FieldDescriptor spread = prior();
  spread.required = true;
  const FieldDescriptor why = Field("source", T::Text, "why").needed();
  const FieldDescriptor cost = Field("cost", T::Name, "a cost by name").named_in("costs").needed();
  out.push_back({"cost_relation",
                 "",
                 {cost,
                  Field("to", T::Name,
                        "another one; the ratio of both is that of the extended profile, or of their starts")
                      .named_in("costs")
                      .needed(),
                  spread}});
  out.push_back(
      {"cost_sum",
       "",
       {cost, Field("sum_of", T::NameList, "the costs it is the sum of").named_in("costs").needed(), why}});
}

} // namespace

void add_profile_objects(Objects& out) {
  add_profiles(out);
  add_envelope(out);
  add_calibration(out);
  add_artefact_runs(out);
  add_fitted_costs(out);
}

} // namespace replisim
