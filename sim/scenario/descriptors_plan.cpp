// The format of `plan`.
#include "sim/scenario/descriptor_field.hpp"

namespace replisim {

namespace {
using T = FieldType;
} // namespace

void add_plan_objects(std::vector<ObjectDescriptor>& out) {
  out.push_back(
      {"plan",
       "",
       {Field("find", T::Choice, "what is looked for among the settings that keep all promises")
            .one_of({"largest", "smallest", "cheapest", "front"})
            .needed(),
        Field("promises", T::NameList,
              "what must hold, one text each: lag_s p99 < 5s, retained_wal_bytes < 100GB, "
              "disk never above 80 %"),
        Field("over", T::Text,
              "of `largest` and `smallest`: path of the quantity that is searched; `load` is a factor on all "
              "rates and clients of the workload"),
        Field("range", T::Range, "lowest and highest value of it that is tried"),
        Field("scale", T::Choice, "whether the first look goes over the range in even steps or equal ratios")
            .one_of({"linear", "log"})
            .otherwise("linear"),
        Field("tolerance", T::Percent, "how near to the edge the search goes, relative to the value")
            .between(1e-4, 0.5)
            .otherwise("1%"),
        Field("grid", T::Integer,
              "values of the first look over the range, which shows whether there is one edge")
            .between(3, 1000)
            .otherwise("9"),
        Field("knobs", T::ObjectList, "what may be turned, each with its values").of("knob"),
        Field("objectives", T::NameList,
              "of `front`: two of `cost` and metrics; `most tps` where more is better"),
        Field("replications", T::Integer, "runs of each setting to begin with")
            .between(2, 10'000)
            .otherwise("4"),
        Field("most_replications", T::Integer, "runs of a setting that is too close to call, at most")
            .between(2, 10'000)
            .otherwise("16")}});
  out.push_back({"knob",
                 "",
                 {Field("field", T::Text, "path of the field it turns"),
                  Field("split", T::Name,
                        "instead of a field: the subscription whose tables are dealt out to several; its "
                        "values are their number")
                      .named_in("subscriptions"),
                  Field("name", T::Text, "what it is called; the path when left out"),
                  Field("values", T::ObjectList, "what it may be set to; a single text is one without a cost")
                      .of("knob_value")
                      .needed()}});
  out.push_back(
      {"knob_value",
       "value",
       {Field("value", T::Text, "value of the knob's field"),
        Field("label", T::Text, "what it is called; the value when left out"),
        Field("cost", T::Number, "what it costs, in the currency of the machines' prices").between(0, 1e12),
        Field("set", T::NameList, "further fields that change with it, as --set takes them")}});
}

} // namespace replisim
