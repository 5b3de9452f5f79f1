#include "sim/run/database.hpp"

#include "models/base/errors.hpp"

#include <fmt/format.h>

#include <cmath>
#include <limits>

#include <sqlite3.h>

namespace replisim {

namespace {

constexpr int busy_timeout_ms = 10'000;

int open_flags(Database::Mode mode) {
  // A reader of a file that a killed sweep left behind has its log to put away; where it may not write,
  // SQLite opens the file to read only.
  return SQLITE_OPEN_READWRITE | (mode == Database::Mode::Create ? SQLITE_OPEN_CREATE : 0);
}

std::string reason_of(int code, const char* message) {
  switch (code & 0xff) {
  case SQLITE_FULL:
    return "the disk is full";
  case SQLITE_IOERR:
    return "reading or writing failed; is the disk full, or was it taken away?";
  case SQLITE_READONLY:
    return "it, or its folder, may not be written";
  case SQLITE_CANTOPEN:
    return "it cannot be opened; does its folder exist, and may it be written?";
  case SQLITE_NOTADB:
  case SQLITE_CORRUPT:
    return "this is no SQLite database, or a damaged one";
  case SQLITE_BUSY:
  case SQLITE_LOCKED:
    return "another program is writing it";
  default:
    return message;
  }
}

} // namespace

Database::Database(const std::string& file, Mode mode) : file_(file), connection_(nullptr, sqlite3_close) {
  sqlite3* opened = nullptr;
  const int code = sqlite3_open_v2(file.c_str(), &opened, open_flags(mode), nullptr);
  connection_.reset(opened);
  if (code != SQLITE_OK)
    fail();
  sqlite3_extended_result_codes(opened, 1);
  sqlite3_busy_timeout(opened, busy_timeout_ms);
  if (mode == Mode::Read)
    execute("PRAGMA query_only = 1");
}

void Database::fail() const {
  throw UsageError(
      fmt::format("the results database '{}': {}", file_,
                  reason_of(sqlite3_errcode(connection_.get()), sqlite3_errmsg(connection_.get()))));
}

void Database::execute(const std::string& sql) {
  if (sqlite3_exec(connection_.get(), sql.c_str(), nullptr, nullptr, nullptr) != SQLITE_OK)
    fail();
}

std::int64_t Database::scalar(const std::string& sql) {
  SqlStatement statement(*this, sql);
  return statement.step() ? statement.integer(0) : 0;
}

SqlStatement::SqlStatement(Database& database, const std::string& sql)
    : database_(database), statement_(nullptr, sqlite3_finalize) {
  sqlite3_stmt* prepared = nullptr;
  const int code = sqlite3_prepare_v3(database.connection_.get(), sql.c_str(), static_cast<int>(sql.size()),
                                      SQLITE_PREPARE_PERSISTENT, &prepared, nullptr);
  statement_.reset(prepared);
  if (code != SQLITE_OK)
    database.fail();
}

SqlStatement& SqlStatement::bind(int index, std::int64_t value) {
  sqlite3_bind_int64(statement_.get(), index, value);
  return *this;
}

SqlStatement& SqlStatement::bind(int index, double value) {
  if (std::isfinite(value))
    sqlite3_bind_double(statement_.get(), index, value);
  else
    sqlite3_bind_null(statement_.get(), index);
  return *this;
}

SqlStatement& SqlStatement::bind(int index, std::string_view value) {
  sqlite3_bind_text(statement_.get(), index, value.data(), static_cast<int>(value.size()), SQLITE_TRANSIENT);
  return *this;
}

SqlStatement& SqlStatement::bind_null(int index) {
  sqlite3_bind_null(statement_.get(), index);
  return *this;
}

bool SqlStatement::step() {
  const int code = sqlite3_step(statement_.get());
  if (code == SQLITE_ROW)
    return true;
  if (code == SQLITE_DONE)
    return false;
  // A statement that failed would fail again at its end, with the database's error gone by then.
  const UsageError error(fmt::format("the results database '{}': {}", database_.file(),
                                     reason_of(code, sqlite3_errmsg(database_.connection_.get()))));
  sqlite3_reset(statement_.get());
  throw error;
}

void SqlStatement::run() {
  while (step()) {
  }
  reset();
}

void SqlStatement::reset() { sqlite3_reset(statement_.get()); }

std::int64_t SqlStatement::integer(int column) const {
  return sqlite3_column_int64(statement_.get(), column);
}

double SqlStatement::number(int column) const {
  return is_null(column) ? std::numeric_limits<double>::quiet_NaN()
                         : sqlite3_column_double(statement_.get(), column);
}

std::string SqlStatement::text(int column) const {
  const auto* text = sqlite3_column_text(statement_.get(), column);
  return text == nullptr ? "" : reinterpret_cast<const char*>(text);
}

bool SqlStatement::is_null(int column) const {
  return sqlite3_column_type(statement_.get(), column) == SQLITE_NULL;
}

Transaction::Transaction(Database& database) : database_(database) { database_.execute("BEGIN IMMEDIATE"); }

Transaction::~Transaction() {
  if (not open_)
    return;
  try {
    database_.execute("ROLLBACK");
  } catch (const UsageError&) { // SQLite has rolled back by itself, as it does when the disk is full
  }
}

void Transaction::commit() {
  database_.execute("COMMIT");
  open_ = false;
}

} // namespace replisim
