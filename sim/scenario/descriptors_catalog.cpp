// The format of statements that change the catalog, and of decoding through SQL.
#include "models/ddl.hpp"
#include "sim/scenario/descriptor_field.hpp"

namespace replisim {

namespace {
using T = FieldType;
constexpr double most_runs = 1e6;
constexpr double longest_s = 366.0 * 86400;
} // namespace

std::vector<FieldDescriptor> catalog_load_fields() {
  std::vector<std::string_view> kinds;
  for (const DdlFacts& row : ddl_facts())
    kinds.push_back(row.name);
  return {
      Field("ddl", T::Choice, "a statement that changes the catalog, each run in a transaction of its own")
          .one_of(kinds),
      Field("table", T::Name, "the table it names; left out, one that nobody decodes").named_in("tables"),
      Field("publication", T::Name, "the publication it changes").named_in("publications"),
      Field("relations", T::Integer, "relations that one statement goes over, as GRANT ON ALL TABLES does")
          .between(1, 1e7)
          .otherwise("1"),
      Field("open", T::Duration, "from the statement to its commit").between(0, longest_s).otherwise("0s"),
      Field("other_database", T::Flag, "it runs in another database of the server").otherwise("off")};
}

void add_catalog_objects(std::vector<ObjectDescriptor>& out) {
  out.push_back(
      {"decode",
       "",
       {Field("publication", T::Name, "the publication it decodes").named_in("publications").needed(),
        Field("function", T::Choice,
              "pg_logical_slot_peek_binary_changes(), or the get variant, which moves the slot on")
            .one_of({"peek", "get"})
            .otherwise("peek"),
        Field("at", T::Duration, "when it is called first; left out, when the whole workload is over")
            .between(0, longest_s),
        Field("every", T::Duration, "from one call to the next; left out, one follows the other at once")
            .between(1e-3, longest_s),
        Field("times", T::Integer, "number of calls").between(1, most_runs).otherwise("1")}});
}

} // namespace replisim
