// A session on a PostgreSQL server: libpq with waits that Ctrl-C ends and errors as sentences.
#pragma once

#include "models/base/errors.hpp"

#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <vector>

struct pg_conn;

namespace replisim::live {

/// The server could not be reached, or the connection is gone.
class ConnectionLost : public UsageError {
public:
  using UsageError::UsageError;
};

/// The server refused a statement.
class StatementFailed : public UsageError {
public:
  StatementFailed(const std::string& sentence, std::string code)
      : UsageError(sentence), sqlstate(std::move(code)) {}
  std::string sqlstate;
};

/// What a query returned, as text; SQL NULL is nothing.
class QueryResult {
public:
  std::size_t size() const { return cells_.size(); }
  const std::optional<std::string>& cell(std::size_t row, std::size_t column) const {
    return cells_[row][column];
  }
  /// Empty for NULL.
  std::string text(std::size_t row, std::size_t column) const { return cells_[row][column].value_or(""); }
  /// 0 for NULL and for what is no number.
  double number(std::size_t row, std::size_t column) const;

private:
  friend class Connection;
  std::vector<std::vector<std::optional<std::string>>> cells_;
};

class Connection {
public:
  /// Connects. `role` ("publisher") is for error messages; what those say of the connection is host, port,
  /// database and user, never a password. Throws ConnectionLost with a sentence and a next step.
  Connection(const std::string& conninfo, std::string role, const std::string& application = "replisim");
  ~Connection();
  Connection(Connection&&) noexcept;
  Connection& operator=(Connection&&) noexcept;

  /// Runs one or more statements and returns the rows of the last one. Throws StatementFailed and
  /// ConnectionLost; Interrupted when Ctrl-C arrives, the statement being cancelled.
  QueryResult query(const std::string& sql);
  void run(const std::string& sql) { query(sql); }
  /// The first cell as a number or as text.
  double number(const std::string& sql);
  std::string text(const std::string& sql);

  /// Whether Ctrl-C ends queries; it does at first.
  void heed_interrupts(bool heeds) { heeds_interrupts_ = heeds; }

  int server_version() const; ///< 180004
  int backend_pid() const;
  int socket() const;
  /// "host=/tmp port=5432 dbname=postgres user=me"
  const std::string& where() const { return where_; }

private:
  void connect(const std::string& conninfo, const std::string& application);
  void wait_readable(double most_s);
  struct Close {
    void operator()(pg_conn* connection) const;
  };
  std::unique_ptr<pg_conn, Close> connection_;
  std::string role_;
  std::string where_;
  bool heeds_interrupts_ = true;
};

/// Throws UsageError unless libpq can read `conninfo`; `option` names the option it came from.
void require_conninfo(const std::string& conninfo, const std::string& option);

/// An identifier or a literal as SQL has it.
std::string quoted_name(const std::string& name);
std::string quoted_text(const std::string& text);

} // namespace replisim::live
