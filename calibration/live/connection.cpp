#include "calibration/live/connection.hpp"

#include "calibration/live/clock.hpp"
#include "models/base/units.hpp"
#include "sim/run/fork_pool.hpp"

#include <algorithm>

#include <libpq-fe.h>
#include <poll.h>

#include <fmt/format.h>

namespace replisim::live {

namespace {

constexpr double connect_timeout_s = 15;

/// libpq's messages have several lines and end in one; ours are sentences.
std::string one_line(const char* message) {
  std::string out;
  for (const char* c = message == nullptr ? "" : message; *c != '\0'; ++c) {
    const bool is_blank = *c == '\n' or *c == '\t' or *c == ' ';
    if (not is_blank)
      out += *c;
    else if (not out.empty() and out.back() != ' ')
      out += ' ';
  }
  while (not out.empty() and out.back() == ' ')
    out.pop_back();
  return out;
}

struct FreeResult {
  void operator()(PGresult* result) const { PQclear(result); }
};
using Result = std::unique_ptr<PGresult, FreeResult>;

struct FreeOptions {
  void operator()(PQconninfoOption* options) const { PQconninfoFree(options); }
};

std::string next_step(const std::string& message) {
  const auto has = [&](const char* text) { return message.find(text) != std::string::npos; };
  if (has("Connection refused") or has("No such file") or has("could not translate") or has("timeout"))
    return "check host and port, and that the server runs and listens there (listen_addresses, a firewall)";
  if (has("password authentication failed") or has("no password supplied"))
    return "check user and password; passwords are best kept in ~/.pgpass or PGPASSWORD";
  if (has("no pg_hba.conf entry"))
    return "allow the connection in the server's pg_hba.conf and reload it";
  if (has("database") and has("does not exist"))
    return "check dbname; `psql -l` lists the databases";
  if (has("role") and has("does not exist"))
    return "check user, or create it: create role replisim login in role pg_monitor";
  return "try the same connection string with psql";
}

} // namespace

double QueryResult::number(std::size_t row, std::size_t column) const {
  const auto value = parse_number(text(row, column));
  return value.value_or(0);
}

void Connection::Close::operator()(pg_conn* connection) const { PQfinish(connection); }

Connection::Connection(const std::string& conninfo, std::string role, const std::string& application)
    : role_(std::move(role)) {
  connect(conninfo, application);
}
Connection::~Connection() = default;
Connection::Connection(Connection&&) noexcept = default;
Connection& Connection::operator=(Connection&&) noexcept = default;

void Connection::connect(const std::string& conninfo, const std::string& application) {
  const char* const keywords[] = {"dbname", "fallback_application_name", nullptr};
  const char* const values[] = {conninfo.c_str(), application.c_str(), nullptr};
  connection_.reset(PQconnectStartParams(keywords, values, 1));
  if (connection_ == nullptr)
    throw ConnectionLost("no memory is left for a connection");
  PQsetNoticeProcessor(
      connection_.get(), [](void*, const char*) {}, nullptr); // they are for people at a prompt
  const auto known = [&](const char* text) { return text == nullptr ? "" : text; };
  where_ = fmt::format("host={} port={} dbname={} user={}", known(PQhost(connection_.get())),
                       known(PQport(connection_.get())), known(PQdb(connection_.get())),
                       known(PQuser(connection_.get())));
  const auto fail = [&](const std::string& why) {
    throw ConnectionLost(
        fmt::format("the {} ({}) cannot be reached: {}; {}", role_, where_, why, next_step(why)));
  };
  if (PQstatus(connection_.get()) == CONNECTION_BAD)
    fail(one_line(PQerrorMessage(connection_.get())));
  const double until = now_s() + connect_timeout_s;
  while (true) {
    const PostgresPollingStatusType status = PQconnectPoll(connection_.get());
    if (status == PGRES_POLLING_OK)
      return;
    if (status == PGRES_POLLING_FAILED)
      fail(one_line(PQerrorMessage(connection_.get())));
    if (now_s() > until)
      fail("timeout: no answer");
    const short wanted = status == PGRES_POLLING_READING ? POLLIN : POLLOUT;
    pollfd descriptor{PQsocket(connection_.get()), wanted, 0};
    ::poll(&descriptor, 1, 50);
    check_interrupt();
  }
}

void Connection::wait_readable(double most_s) {
  pollfd descriptor{PQsocket(connection_.get()), POLLIN, 0};
  ::poll(&descriptor, 1, static_cast<int>(most_s * 1000));
}

QueryResult Connection::query(const std::string& sql) {
  const auto lost = [&]() {
    throw ConnectionLost(fmt::format("the connection to the {} ({}) is lost: {}", role_, where_,
                                     one_line(PQerrorMessage(connection_.get()))));
  };
  if (PQsendQuery(connection_.get(), sql.c_str()) == 0)
    lost();
  QueryResult rows;
  std::string failure, code;
  bool cancelled = false;
  while (true) {
    while (PQisBusy(connection_.get()) != 0) {
      wait_readable(0.05);
      if (not cancelled and heeds_interrupts_ and InterruptScope::interrupted()) {
        cancelled = true;
        char text[256];
        PGcancel* cancel = PQgetCancel(connection_.get());
        PQcancel(cancel, text, sizeof text);
        PQfreeCancel(cancel);
      }
      if (PQconsumeInput(connection_.get()) == 0)
        lost();
    }
    const Result result(PQgetResult(connection_.get()));
    if (result == nullptr)
      break;
    const ExecStatusType status = PQresultStatus(result.get());
    if (status == PGRES_FATAL_ERROR and failure.empty()) {
      failure = one_line(PQresultErrorMessage(result.get()));
      const char* state = PQresultErrorField(result.get(), PG_DIAG_SQLSTATE);
      code = state == nullptr ? "" : state;
    }
    rows.cells_.assign(static_cast<std::size_t>(PQntuples(result.get())), {});
    for (std::size_t r = 0; r < rows.cells_.size(); ++r)
      for (int c = 0; c < PQnfields(result.get()); ++c) {
        const int row = static_cast<int>(r);
        rows.cells_[r].push_back(PQgetisnull(result.get(), row, c) != 0
                                     ? std::nullopt
                                     : std::optional<std::string>(PQgetvalue(result.get(), row, c)));
      }
  }
  if (cancelled)
    throw Interrupted("interrupted");
  if (PQstatus(connection_.get()) == CONNECTION_BAD)
    lost();
  if (not failure.empty())
    throw StatementFailed(fmt::format("the {} says: {}", role_, failure), code);
  return rows;
}

double Connection::number(const std::string& sql) {
  const QueryResult rows = query(sql);
  return rows.size() == 0 ? 0 : rows.number(0, 0);
}

std::string Connection::text(const std::string& sql) {
  const QueryResult rows = query(sql);
  return rows.size() == 0 ? std::string() : rows.text(0, 0);
}

int Connection::server_version() const { return PQserverVersion(connection_.get()); }
int Connection::backend_pid() const { return PQbackendPID(connection_.get()); }
int Connection::socket() const { return PQsocket(connection_.get()); }

void require_conninfo(const std::string& conninfo, const std::string& option) {
  char* problem = nullptr;
  const std::unique_ptr<PQconninfoOption, FreeOptions> parsed(PQconninfoParse(conninfo.c_str(), &problem));
  if (parsed != nullptr)
    return;
  // libpq quotes words of the string, a password among them perhaps: its message is not passed on.
  PQfreemem(problem);
  throw UsageError(
      fmt::format("{}: this is no connection string; write key=value pairs (\"host=db1 port=5432 "
                  "dbname=app user=monitor\") or a URI (postgresql://monitor@db1:5432/app)",
                  option));
}

std::string quoted_name(const std::string& name) {
  std::string out(1, '"');
  for (const char c : name)
    out += c == '"' ? std::string(2, '"') : std::string(1, c);
  return out + '"';
}

std::string quoted_text(const std::string& text) {
  std::string out(1, '\'');
  for (const char c : text)
    out += c == '\'' ? std::string(2, '\'') : std::string(1, c);
  return out + '\'';
}

} // namespace replisim::live
