// A thin, typed layer over SQLite: prepared statements and transactions.
#pragma once

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <unordered_map>
#include <vector>

#include "base/result.h"
#include "stories/date_parser.h"

struct sqlite3;
struct sqlite3_stmt;

namespace kin::stories {

class NewsDatabase;

// A parameter that is bound as a blob.
struct Blob {
  std::string_view bytes;
};

// A running statement. Columns are read in order, each once:
//
//   NewsQuery row = database.query("SELECT id, title FROM items WHERE story = ?", story);
//   while (row.next()) use(row.integer(), row.text());   // in statements of their own
//   KIN_RETURN_IF_ERROR(row.status());
//
// One thread only; must not outlive its database.
class NewsQuery {
 public:
  NewsQuery(NewsDatabase& database, std::string_view sql);
  NewsQuery(NewsQuery&& other) noexcept;
  NewsQuery& operator=(NewsQuery&&) = delete;
  ~NewsQuery();

  // Binds the next parameter.
  void bind(std::int64_t value);
  void bind(double value);
  void bind(std::string_view text);
  void bind(Blob blob);
  void bind(std::nullopt_t);
  void bind(Time time) { bind(static_cast<std::int64_t>(time.time_since_epoch().count())); }
  template <typename Value>
    requires(std::is_integral_v<Value> || std::is_enum_v<Value>)
  void bind(Value value) {
    bind(static_cast<std::int64_t>(value));
  }
  template <typename Value>
  void bind(const std::optional<Value>& value) {
    value ? bind(*value) : bind(std::nullopt);
  }

  // Goes to the next row. False at the end and after an error; status() has the error.
  bool next();
  Status status() const;

  bool is_null() const;  // of the next column
  std::int64_t integer();
  std::uint64_t count() { return static_cast<std::uint64_t>(integer()); }
  double real();
  std::string text();  // or the bytes of a blob
  bool truth() { return integer() != 0; }
  template <typename Id>
  Id id() {
    return static_cast<Id>(integer());
  }
  Time time() { return Time(std::chrono::seconds(integer())); }
  std::optional<Time> optional_time();

 private:
  NewsDatabase* database_;
  std::string_view sql_;
  sqlite3_stmt* statement_ = nullptr;
  int code_ = 0;
  std::string message_;
  int bound_ = 0;
  int column_ = 0;
};

// read(row) of all rows.
template <typename Read>
auto read_all(NewsQuery row, const Read& read) -> Result<std::vector<decltype(read(row))>> {
  std::vector<decltype(read(row))> found;
  while (row.next()) found.push_back(read(row));
  KIN_RETURN_IF_ERROR(row.status());
  return found;
}
template <typename Id>
Result<std::vector<Id>> read_ids(NewsQuery row) {
  return read_all(std::move(row), [](NewsQuery& one) { return one.id<Id>(); });
}
// read(row) of the first row; nothing if there is none.
template <typename Read>
auto read_first(NewsQuery row, const Read& read) -> Result<std::optional<decltype(read(row))>> {
  std::optional<decltype(read(row))> found;
  if (row.next()) found = read(row);
  KIN_RETURN_IF_ERROR(row.status());
  return found;
}

// Puts spaces between words, so that SQLite's tokenizer also splits scripts without spaces:
// "東京 2020" becomes "東 京 2020". Available in SQL as spaced(). Thread-safe.
std::string spaced(std::string_view text);

// One connection. SQL texts must be string literals, because prepared statements are cached by
// them. One thread at a time.
class NewsDatabase {
 public:
  enum class Access { kWrite, kRead };
  // kWrite creates the file if it does not exist, readable by its owner only.
  static Result<std::unique_ptr<NewsDatabase>> open(const std::filesystem::path& path,
                                                    Access access);
  ~NewsDatabase();
  NewsDatabase(const NewsDatabase&) = delete;
  NewsDatabase& operator=(const NewsDatabase&) = delete;

  template <typename... Values>
  NewsQuery query(std::string_view sql, const Values&... values) {
    NewsQuery query(*this, sql);
    (query.bind(values), ...);
    return query;
  }
  // Runs a statement and ignores its rows.
  template <typename... Values>
  Status run(std::string_view sql, const Values&... values) {
    NewsQuery running = query(sql, values...);
    while (running.next()) continue;
    return running.status();
  }
  // The first column of the first row; nothing if there is no row or it is NULL.
  template <typename... Values>
  Result<std::optional<std::int64_t>> number(std::string_view sql, const Values&... values) {
    NewsQuery row = query(sql, values...);
    std::optional<std::int64_t> found;
    if (row.next() && !row.is_null()) found = row.integer();
    KIN_RETURN_IF_ERROR(row.status());
    return found;
  }
  // Runs several statements, separated by semicolons.
  Status run_script(const std::string& sql);
  // The number of rows that the last INSERT, UPDATE or DELETE changed.
  std::uint64_t changed() const;

  const std::filesystem::path& path() const { return path_; }

 private:
  friend class NewsQuery;
  explicit NewsDatabase(std::filesystem::path path) : path_(std::move(path)) {}
  Status configure(Access access);
  sqlite3_stmt* take_statement(std::string_view sql, int& code);
  void give_back(std::string_view sql, sqlite3_stmt* statement);
  Error error(int code, std::string_view message) const;

  std::filesystem::path path_;
  sqlite3* connection_ = nullptr;
  // Prepared statements that are not in use, by their text.
  std::unordered_map<std::string_view, std::vector<sqlite3_stmt*>> statements_;
};

// A transaction. The destructor rolls it back unless commit() was called. One thread only.
class NewsTransaction {
 public:
  static Result<NewsTransaction> begin(NewsDatabase& database);
  // Reads from one snapshot of the database until its end.
  static Result<NewsTransaction> begin_reading(NewsDatabase& database);
  NewsTransaction(NewsTransaction&& other) noexcept
      : database_(std::exchange(other.database_, nullptr)) {}
  NewsTransaction& operator=(NewsTransaction&&) = delete;
  ~NewsTransaction();
  // Durable when it returns.
  Status commit();

 private:
  explicit NewsTransaction(NewsDatabase& database) : database_(&database) {}
  NewsDatabase* database_;
};

}  // namespace kin::stories
