// The format of `sessions`: what clients do on subscribers.
#include "models/lock_modes.hpp"
#include "sim/scenario/descriptor_field.hpp"

namespace replisim {

namespace {

using T = FieldType;

constexpr double most_rows = 1e12;
constexpr double longest_s = 366.0 * 86400;

ObjectDescriptor session() {
  return {
      "session",
      "",
      {Field("server", T::Name, "the subscriber the sessions are on").named_in("servers").needed(),
       Field("transaction", T::ObjectList, "the statements of one transaction").of("session_step").needed(),
       Field("clients", T::Integer, "connections that run it, each by itself")
           .between(1, 10000)
           .otherwise("1"),
       Field("from", T::Duration, "when they begin").between(0, longest_s).otherwise("0s"),
       Field("until", T::Duration, "when they end; at the end of the run when left out")
           .between(1e-3, longest_s),
       Field("times", T::Integer, "transactions of each connection; without end when left out")
           .between(1, 1e9),
       Field(
           "every", T::Duration,
           "closed loop: a connection begins a transaction at most this often, and waits for the end of the "
           "one before")
           .between(0, longest_s)
           .otherwise("0s"),
       Field(
           "rate", T::EventRate,
           "open loop: transactions of all connections together, which come whatever happens to those before "
           "them; they queue for a free connection")
           .between(1e-4, 1e5),
       Field("arrivals", T::Choice, "of an open loop: at equal distances or at random")
           .one_of({"fixed", "poisson"})
           .otherwise("fixed"),
       Field("ends", T::Choice, "how the transaction ends")
           .one_of({"commit", "rollback"})
           .otherwise("commit"),
       Field("lock_timeout", T::Duration,
             "a statement gives up waiting for a lock after so long; the server's setting when left out")
           .between(1e-3, longest_s)
           .mirrors("lock_timeout"),
       Field("max_tries", T::Integer,
             "a transaction that was cancelled (deadlock, lock_timeout) is run again until it was tried so "
             "often")
           .between(1, 1000)
           .otherwise("1")}};
}

ObjectDescriptor session_step() {
  ObjectDescriptor step{"session_step", "", {}};
  const auto statement = [&](std::string_view verb, std::string_view sentence) {
    step.fields.push_back(Field(verb, T::Name, sentence).named_in("tables"));
  };
  statement("select", "SELECT, with `for` SELECT ... FOR; takes ACCESS SHARE, or ROW SHARE and its rows");
  statement("insert", "INSERT of new rows; takes ROW EXCLUSIVE");
  statement("update", "UPDATE of rows, the key left alone; takes ROW EXCLUSIVE and its rows");
  statement("delete", "DELETE of rows; takes ROW EXCLUSIVE and its rows");
  statement("vacuum", "VACUUM; takes SHARE UPDATE EXCLUSIVE");
  statement("analyze", "ANALYZE; takes SHARE UPDATE EXCLUSIVE");
  statement("create_index", "CREATE INDEX; takes SHARE");
  statement("alter_table", "ALTER TABLE that rewrites or redefines; takes ACCESS EXCLUSIVE");
  statement("truncate", "TRUNCATE; takes ACCESS EXCLUSIVE (its rows stay, as far as the run is concerned)");
  statement("lock", "LOCK TABLE in `mode`");
  step.fields.push_back(
      Field("pause", T::Duration, "the session does nothing for so long, its transaction open")
          .between(1e-6, longest_s));
  step.fields.push_back(
      Field("mode", T::Choice, "of `lock`").one_of(lock_mode_names()).otherwise("access exclusive"));
  step.fields.push_back(Field("for", T::Choice, "strength in which a SELECT locks its rows")
                            .one_of({"key share", "share", "no key update", "update"}));
  step.fields.push_back(
      Field("rows", T::Integer, "rows of the statement").between(1, most_rows).otherwise("1"));
  step.fields.push_back(
      Field("row", T::Integer, "the first one; the others follow it. Random rows when left out")
          .between(1, most_rows));
  step.fields.push_back(
      Field("from_row", T::Integer, "random rows: the smallest").between(1, most_rows).otherwise("1"));
  step.fields.push_back(
      Field("to_row", T::Integer, "random rows: the largest; the table's initial rows when left out")
          .between(1, most_rows));
  step.fields.push_back(
      Field("takes", T::Duration, "CPU time of the statement, besides what changing its rows costs")
          .between(0, longest_s)
          .otherwise("0s"));
  return step;
}

} // namespace

void add_session_objects(std::vector<ObjectDescriptor>& out) {
  out.push_back(session());
  out.push_back(session_step());
}

} // namespace replisim
