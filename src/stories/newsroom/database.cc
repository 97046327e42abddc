#include "stories/newsroom/database.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sqlite3.h>
#include <unistd.h>

#include "base/file.h"
#include "text/words.h"

namespace kin::stories {
namespace {

// How long a statement waits for a lock of another process, such as a checkpoint.
constexpr int kBusyMilliseconds = 10'000;

Status make_private_file(const std::filesystem::path& path) {
  // SQLite gives its -wal and -shm files the permissions of the database, so it is made first.
  const int descriptor = ::open(path.c_str(), O_CREAT | O_RDWR | O_CLOEXEC, 0600);
  if (descriptor < 0) return system_error("open", path, errno);
  ::close(descriptor);
  return Done{};
}

Code code_for(int sqlite_code) {
  // The low byte is the primary code; the rest refines it.
  switch (sqlite_code & 0xFF) {
    case SQLITE_CORRUPT:
    case SQLITE_NOTADB: return Code::kDataLoss;
    case SQLITE_FULL:
    case SQLITE_NOMEM: return Code::kResourceExhausted;
    case SQLITE_BUSY:
    case SQLITE_LOCKED:
    case SQLITE_READONLY: return Code::kFailedPrecondition;
    case SQLITE_IOERR:
    case SQLITE_CANTOPEN:
    case SQLITE_PERM: return Code::kUnavailable;
    default: return Code::kInternal;
  }
}

std::string_view remedy_for(int sqlite_code) {
  switch (sqlite_code & 0xFF) {
    case SQLITE_CORRUPT:
    case SQLITE_NOTADB:
      return " (the file is damaged: restore a backup, or move the file away to start without it)";
    case SQLITE_FULL: return " (free some space)";
    case SQLITE_BUSY:
    case SQLITE_LOCKED: return " (another process is using it: try again)";
    case SQLITE_CANTOPEN:
    case SQLITE_PERM:
    case SQLITE_READONLY: return " (check the permissions of the file and its folder)";
    default: return "";
  }
}

void call_spaced(sqlite3_context* context, int, sqlite3_value** values) {
  const auto* text = reinterpret_cast<const char*>(sqlite3_value_text(values[0]));
  const auto size = static_cast<std::size_t>(sqlite3_value_bytes(values[0]));
  const std::string words = spaced(text == nullptr ? "" : std::string_view(text, size));
  sqlite3_result_text64(context, words.data(), words.size(), SQLITE_TRANSIENT, SQLITE_UTF8);
}

}  // namespace

std::string spaced(std::string_view text) {
  std::vector<std::string_view> words;
  text::split_words(text, text::Normalization::kStandard, words);
  std::string joined;
  for (const std::string_view word : words) joined.append(joined.empty() ? "" : " ").append(word);
  return joined;
}

NewsQuery::NewsQuery(NewsDatabase& database, std::string_view sql)
    : database_(&database), sql_(sql) {
  statement_ = database.take_statement(sql, code_);
  if (code_ != SQLITE_OK) message_ = sqlite3_errmsg(database.connection_);
}

NewsQuery::NewsQuery(NewsQuery&& other) noexcept
    : database_(other.database_),
      sql_(other.sql_),
      statement_(std::exchange(other.statement_, nullptr)),
      code_(other.code_),
      message_(std::move(other.message_)),
      bound_(other.bound_),
      column_(other.column_) {}

NewsQuery::~NewsQuery() {
  if (statement_ != nullptr) database_->give_back(sql_, statement_);
}

void NewsQuery::bind(std::int64_t value) {
  if (statement_ != nullptr) sqlite3_bind_int64(statement_, ++bound_, value);
}

void NewsQuery::bind(double value) {
  if (statement_ != nullptr) sqlite3_bind_double(statement_, ++bound_, value);
}

void NewsQuery::bind(std::string_view text) {
  if (statement_ != nullptr)
    // A null pointer would bind NULL.
    sqlite3_bind_text64(statement_, ++bound_, text.empty() ? "" : text.data(), text.size(),
                        SQLITE_TRANSIENT, SQLITE_UTF8);
}

void NewsQuery::bind(Blob blob) {
  if (statement_ != nullptr)
    sqlite3_bind_blob64(statement_, ++bound_, blob.bytes.empty() ? "" : blob.bytes.data(),
                        blob.bytes.size(), SQLITE_TRANSIENT);
}

void NewsQuery::bind(std::nullopt_t) {
  if (statement_ != nullptr) sqlite3_bind_null(statement_, ++bound_);
}

bool NewsQuery::next() {
  // A statement that could not be prepared has no rows; status() has the error.
  if (statement_ == nullptr || code_ != SQLITE_OK) return false;
  column_ = 0;
  const int code = sqlite3_step(statement_);
  if (code == SQLITE_ROW) return true;
  code_ = code;
  if (code != SQLITE_DONE) message_ = sqlite3_errmsg(database_->connection_);
  return false;
}

Status NewsQuery::status() const {
  if (code_ == SQLITE_OK || code_ == SQLITE_DONE) return Done{};
  return database_->error(code_, message_);
}

bool NewsQuery::is_null() const {
  return sqlite3_column_type(statement_, column_) == SQLITE_NULL;
}

std::int64_t NewsQuery::integer() {
  return sqlite3_column_int64(statement_, column_++);
}

double NewsQuery::real() {
  return sqlite3_column_double(statement_, column_++);
}

std::string NewsQuery::text() {
  // As a blob, so that SQLite converts nothing; the length must be asked for afterwards.
  const void* bytes = sqlite3_column_blob(statement_, column_);
  const auto size = static_cast<std::size_t>(sqlite3_column_bytes(statement_, column_));
  ++column_;
  return size == 0 ? std::string() : std::string(static_cast<const char*>(bytes), size);
}

std::optional<Time> NewsQuery::optional_time() {
  if (!is_null()) return time();
  ++column_;
  return std::nullopt;
}

Result<std::unique_ptr<NewsDatabase>> NewsDatabase::open(const std::filesystem::path& path,
                                                         Access access) {
  std::unique_ptr<NewsDatabase> database(new NewsDatabase(path));
  if (access == Access::kWrite) KIN_RETURN_IF_ERROR(make_private_file(path));
  // Readers open the file for writing too, because SQLite keeps its lock table in the -shm file.
  const int code = sqlite3_open_v2(path.c_str(), &database->connection_,
                                   SQLITE_OPEN_READWRITE | SQLITE_OPEN_NOMUTEX, nullptr);
  if (code != SQLITE_OK) return database->error(code, sqlite3_errstr(code));
  KIN_RETURN_IF_ERROR(database->configure(access));
  return database;
}

Status NewsDatabase::configure(Access access) {
  // Errors of the disk come in many kinds, and messages should distinguish them.
  sqlite3_extended_result_codes(connection_, 1);
  sqlite3_busy_timeout(connection_, kBusyMilliseconds);
  if (const int code = sqlite3_create_function_v2(
          connection_, "spaced", 1, SQLITE_UTF8 | SQLITE_DETERMINISTIC | SQLITE_INNOCUOUS, nullptr,
          call_spaced, nullptr, nullptr, nullptr);
      code != SQLITE_OK)
    return error(code, sqlite3_errmsg(connection_));
  // 32 MB of cache, and 256 MiB of the file mapped, for each connection.
  KIN_RETURN_IF_ERROR(run_script("PRAGMA cache_size = -32000; PRAGMA mmap_size = 268435456;"));
  if (access == Access::kRead) return run_script("PRAGMA query_only = ON;");
  // Write-ahead logging lets readers go on while one writes. FULL syncs the log at every commit: a
  // change is durable when its call returns.
  return run_script(
      "PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL; PRAGMA foreign_keys = ON;"
      "PRAGMA temp_store = MEMORY; PRAGMA cache_size = -64000; PRAGMA wal_autocheckpoint = 4000;");
}

NewsDatabase::~NewsDatabase() {
  for (const auto& [sql, statements] : statements_) {
    for (sqlite3_stmt* statement : statements) sqlite3_finalize(statement);
  }
  sqlite3_close(connection_);
}

Status NewsDatabase::run_script(const std::string& sql) {
  const int code = sqlite3_exec(connection_, sql.c_str(), nullptr, nullptr, nullptr);
  if (code == SQLITE_OK) return Done{};
  return error(code, sqlite3_errmsg(connection_));
}

std::uint64_t NewsDatabase::changed() const {
  return static_cast<std::uint64_t>(sqlite3_changes64(connection_));
}

sqlite3_stmt* NewsDatabase::take_statement(std::string_view sql, int& code) {
  std::vector<sqlite3_stmt*>& kept = statements_[sql];
  sqlite3_stmt* statement = nullptr;
  code = SQLITE_OK;
  // A statement may be needed twice at a time, when a query runs within another.
  if (kept.empty()) {
    code = sqlite3_prepare_v3(connection_, sql.data(), static_cast<int>(sql.size()),
                              SQLITE_PREPARE_PERSISTENT, &statement, nullptr);
    return statement;
  }
  statement = kept.back();
  kept.pop_back();
  return statement;
}

void NewsDatabase::give_back(std::string_view sql, sqlite3_stmt* statement) {
  // Ends its read transaction, if it has one.
  sqlite3_reset(statement);
  sqlite3_clear_bindings(statement);
  statements_[sql].push_back(statement);
}

Error NewsDatabase::error(int code, std::string_view message) const {
  return {code_for(code), fmt::format("{}: {}{}", path_.string(), message, remedy_for(code))};
}

Result<NewsTransaction> NewsTransaction::begin(NewsDatabase& database) {
  // Takes the write lock at once: a transaction that began by reading could fail to get it later.
  KIN_RETURN_IF_ERROR(database.run("BEGIN IMMEDIATE"));
  return NewsTransaction(database);
}

Result<NewsTransaction> NewsTransaction::begin_reading(NewsDatabase& database) {
  // The snapshot is taken by the first read.
  KIN_RETURN_IF_ERROR(database.run("BEGIN"));
  return NewsTransaction(database);
}

NewsTransaction::~NewsTransaction() {
  // If this fails, SQLite has already rolled back.
  if (database_ != nullptr) (void)database_->run("ROLLBACK");
}

Status NewsTransaction::commit() {
  KIN_RETURN_IF_ERROR(database_->run("COMMIT"));
  database_ = nullptr;
  return Done{};
}

}  // namespace kin::stories
