// The format of consumers, and of rows that a subscriber cannot apply.
#include "sim/scenario/descriptor_field.hpp"

namespace replisim {

namespace {
using T = FieldType;
constexpr double most_rows = 1e12;
constexpr double longest_s = 366.0 * 86400;
constexpr double kilobyte = 1024.0;
constexpr double gigabyte = kilobyte * 1024 * 1024;
} // namespace

void add_receiver_objects(std::vector<ObjectDescriptor>& out) {
  out.push_back({"conflict",
                 "",
                 {Field("table", T::Name, "the table").named_in("tables").needed(),
                  Field("row", T::Integer, "number of the row, in the order in which rows are inserted")
                      .needed()
                      .between(1, most_rows),
                  Field("resolved_at", T::Duration, "when somebody removes it; never when left out")
                      .between(1e-3, longest_s)}});
  out.push_back(
      {"consumer",
       "",
       {Field("publication", T::Name, "the publication it reads").named_in("publications").needed(),
        Field("host", T::Name, "the host it runs on").named_in("hosts").needed(),
        Field(
            "cost_per_change", T::Duration,
            "its own time for one row change, on its host, its transport's included; the default is a guess")
            .between(0, 3600)
            .otherwise("20us"),
        Field("buffer", T::Size, "what it reads ahead; the default is a guess")
            .between(kilobyte, 64 * gigabyte)
            .otherwise("1MB"),
        Field("streaming", T::Choice, "whether it asks for large transactions before they commit")
            .one_of({"off", "on"})
            .otherwise("off")
            .mirrors("START_REPLICATION ... (streaming)"),
        Field("confirms", T::Choice, "when it confirms what it has received")
            .one_of({"each_commit", "interval", "never"})
            .otherwise("each_commit"),
        Field("confirm_interval", T::Duration, "how often it confirms, with `confirms: interval`")
            .between(1e-3, longest_s),
        Field("feedback_in_transaction", T::Flag,
              "it answers the server while it works on one large transaction")
            .otherwise("off"),
        Field("confirms_keepalives", T::Flag,
              "it confirms the position of a keepalive when nothing is pending")
            .otherwise("on"),
        Field("reconnect_delay", T::Duration, "from a lost connection to the next attempt")
            .between(0, longest_s)
            .otherwise("1s"),
        Field("connected_from", T::Duration, "before it the slot exists and nobody reads")
            .between(0, longest_s)
            .otherwise("0s"),
        Field("connected_until", T::Duration,
              "after it nobody reads the slot; it stays connected when left out")
            .between(1e-3, longest_s),
        Field("connects_every", T::Duration,
              "run by a timetable: it connects so often, drains the slot and disconnects")
            .between(1e-3, longest_s)}});
}

} // namespace replisim
