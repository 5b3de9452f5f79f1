// SQLite as values: a connection, prepared statements, errors as sentences.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

struct sqlite3;
struct sqlite3_stmt;

namespace replisim {

class Database;

/// A prepared statement. Parameters are numbered from 1 as SQLite does, columns from 0.
class SqlStatement {
public:
  SqlStatement(Database& database, const std::string& sql);

  SqlStatement& bind(int index, std::int64_t value);
  SqlStatement& bind(int index, double value); ///< what is not finite becomes NULL
  SqlStatement& bind(int index, std::string_view value);
  SqlStatement& bind_null(int index);

  /// True when there is a row. Throws UsageError (disk full, file damaged, ...).
  bool step();
  /// Runs a statement that gives no rows and makes it ready for the next values.
  void run();
  void reset();

  std::int64_t integer(int column) const;
  double number(int column) const; ///< NULL reads as NaN
  std::string text(int column) const;
  bool is_null(int column) const;

private:
  Database& database_;
  std::unique_ptr<sqlite3_stmt, int (*)(sqlite3_stmt*)> statement_;
};

/// A connection to one file. Errors are UsageErrors that name the file.
class Database {
public:
  enum class Mode { Read, Write, Create };
  Database(const std::string& file, Mode mode);

  const std::string& file() const { return file_; }
  void execute(const std::string& sql);
  /// The first column of the first row, as a number.
  std::int64_t scalar(const std::string& sql);
  [[noreturn]] void fail() const;

private:
  friend class SqlStatement;
  std::string file_;
  std::unique_ptr<sqlite3, int (*)(sqlite3*)> connection_;
};

/// A transaction: rolled back unless committed.
class Transaction {
public:
  explicit Transaction(Database& database);
  ~Transaction();
  Transaction(const Transaction&) = delete;
  Transaction& operator=(const Transaction&) = delete;
  void commit();

private:
  Database& database_;
  bool open_ = true;
};

} // namespace replisim
