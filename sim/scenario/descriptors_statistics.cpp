// The format of `statistics`.
#include "sim/scenario/descriptor_field.hpp"

namespace replisim {

namespace {
using T = FieldType;
constexpr double longest_s = 366.0 * 86400;
} // namespace

void add_statistics_objects(std::vector<ObjectDescriptor>& out) {
  out.push_back(
      {"statistics",
       "",
       {Field("study", T::Choice, "of the steady state of a load, or of a run to its end")
            .one_of({"auto", "steady", "terminating"})
            .otherwise("auto"),
        Field("precision", T::Percent, "half width of the 95 % interval over the value").between(1e-5, 0.5),
        Field("metrics", T::NameList, "the metrics that are to be so precise"),
        Field("budget", T::Object, "what is spent on precision at most").of("budget")}});
  out.push_back(
      {"budget",
       "",
       {Field("replications", T::Integer, "runs").between(1, 100'000).otherwise("100"),
        Field("wall_time", T::Duration, "time on the clock").between(1, longest_s).otherwise("10min")}});
}

} // namespace replisim
