// The format of `events`, and of a subscription's initial synchronisation.
#include "models/ddl.hpp"
#include "sim/scenario/descriptor_field.hpp"

namespace replisim {

namespace {
using T = FieldType;
constexpr double longest_s = 366.0 * 86400;
constexpr double kilobyte = 1024.0;
constexpr double terabyte = kilobyte * kilobyte * kilobyte * kilobyte;

ObjectDescriptor event() {
  std::vector<std::string_view> statements;
  for (const DdlFacts& row : ddl_facts())
    statements.push_back(row.name);
  return {
      "event",
      "",
      {Field("at", T::WordOrDuration, "when it happens; a cut-over may wait until every table is `ready`")
           .one_of({"ready"})
           .between(0, longest_s)
           .needed(),
       Field("for", T::Duration, "how long it lasts; to the end of the run when left out")
           .between(1e-3, longest_s),
       Field("subscriber_down", T::Name, "this server is stopped, all it has committed being flushed")
           .named_in("servers"),
       Field("partition", T::NameList, "replication between these two hosts stops, and neither end is told")
           .named_in("hosts"),
       Field("crash", T::Choice, "a process of `subscription` is terminated")
           .one_of({"walsender", "apply_worker", "table_sync_worker"}),
       Field("slow_disk", T::Name, "flushes of this server's WAL take `factor` times as long")
           .named_in("servers"),
       Field("cpu_taken", T::Name, "other programs want `cores` CPUs of this host").named_in("hosts"),
       Field("credits_used_up", T::Name, "this burstable host has no CPU credits left").named_in("hosts"),
       Field("link", T::NameList, "the link between these two hosts gets another `bandwidth` or `latency`")
           .named_in("hosts"),
       Field("ddl", T::Choice, "a statement that changes the catalog of `server`").one_of(statements),
       Field("set", T::Text, "this setting of `server` is changed to `to` and reloaded"),
       Field("cut_over", T::Name, "applications leave this publisher: its loads end").named_in("servers"),
       Field("subscription", T::Name, "of `crash`").named_in("subscriptions"),
       Field("factor", T::Number, "of `slow_disk`").between(1, 1e6).otherwise("10"),
       Field("cores", T::Number, "of `cpu_taken`").between(0.01, 1024).otherwise("1"),
       Field("bandwidth", T::ByteRate, "of `link`; as it was when left out").between(125, terabyte),
       Field("latency", T::Duration, "of `link`, one way; as it was when left out").between(0, 60),
       Field("server", T::Name, "of `ddl` and `set`").named_in("servers"),
       Field("table", T::Name, "of `ddl`: the table it names").named_in("tables"),
       Field("publication", T::Name, "of `ddl`: the publication it changes").named_in("publications"),
       Field("to", T::Text, "of `set`: the new value, as in postgresql.conf")}};
}
} // namespace

void add_event_objects(std::vector<ObjectDescriptor>& out) {
  out.push_back(event());
  out.push_back(
      {"initial_sync",
       "at",
       {Field("at", T::Duration, "when CREATE SUBSCRIPTION runs").between(0, longest_s).otherwise("0s"),
        Field("copy_data", T::Flag, "whether the tables' rows are copied")
            .otherwise("on")
            .mirrors("CREATE SUBSCRIPTION ... copy_data"),
        Field("copy_rate", T::ByteRate,
              "what one COPY gets through by itself, in bytes of the table on disk; from the profile's costs "
              "when left out")
            .between(kilobyte, terabyte)}});
}

} // namespace replisim
