// The format of clients in a closed loop.
#include "sim/scenario/descriptor_field.hpp"

namespace replisim {

namespace {
using T = FieldType;
constexpr double most_rows = 1e12;
constexpr double longest_s = 366.0 * 86400;
} // namespace

std::vector<FieldDescriptor> client_load_fields() {
  return {Field("clients", T::Integer, "clients in a closed loop, as pgbench's").between(1, 100000),
          Field("threads", T::Integer, "of the client program (pgbench --jobs)").between(1, 100000),
          Field("host", T::Name, "where the client program runs").named_in("hosts"),
          Field("think_time", T::Duration, "a client's pause").between(0, longest_s).otherwise("0s"),
          Field("mix", T::Choice, "one of pgbench's own transactions, on its own tables")
              .one_of({"tpcb-like", "simple-update", "select-only"}),
          Field("scale", T::Integer, "pgbench's scale: 100,000 accounts each").between(1, 1e6).otherwise("1"),
          Field("transactions", T::ObjectList, "a mix of one's own").of("client_transaction")};
}

void add_client_objects(std::vector<ObjectDescriptor>& out) {
  const Field weight = Field("weight", T::Number, "how often it is chosen").between(1e-6, 1e6).otherwise("1");
  out.push_back({"client_transaction",
                 "",
                 {weight, Field("statements", T::ObjectList, "its statements, in order").of("statement")}});
  out.push_back(
      {"statement",
       "",
       {Field("select", T::Name, "SELECT of rows by key").named_in("tables"),
        Field("insert", T::Name, "INSERT of `rows` rows").named_in("tables"),
        Field("update", T::Name, "UPDATE of `rows` random rows").named_in("tables"),
        Field("delete", T::Name, "DELETE of `rows` random rows").named_in("tables"),
        Field("rows", T::Integer, "rows it changes").between(1, most_rows).otherwise("1"),
        Field("set", T::Assignments, "columns an UPDATE assigns, where their sizes change"),
        Field("cpu", T::Duration, "CPU besides any statement's").between(0, 3600).otherwise("0s")}});
}

} // namespace replisim
