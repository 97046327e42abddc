// A thin, typed layer over SQLite: prepared statements, transactions, errors in plain words.
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

// A statement that runs. Its columns are read in order, each once:
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

  // Values for the question marks, in order.
  void bind(std::int64_t value);
  void bind(double value);
  void bind(std::string_view text);
  void bind_blob(std::string_view bytes);
  void bind_null();

  // The next row; false at the end, and after an error, which status() has then.
  bool next();
  Status status() const;

  bool is_null() const;  // the column to be read next
  std::int64_t integer();
  double real();
  std::string text();  // bytes of a blob, too
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

// A value that is stored as a blob.
struct Blob {
  std::string_view bytes;
};

// The words of a text with spaces between them, so that SQLite's word splitter finds those of
// scripts without spaces too: "東京 2020" becomes "東 京 2020". SQL of a connection knows it as
// spaced(). Thread-safe.
std::string spaced(std::string_view text);

// One connection. One thread at a time. SQL texts must be string literals: statements are kept
// prepared under them.
class NewsDatabase {
 public:
  enum class Access { kWrite, kRead };
  // Makes the file, for its owner alone, if it is not there and may be written.
  static Result<std::unique_ptr<NewsDatabase>> open(const std::filesystem::path& path,
                                                    Access access);
  ~NewsDatabase();
  NewsDatabase(const NewsDatabase&) = delete;
  NewsDatabase& operator=(const NewsDatabase&) = delete;

  template <typename... Values>
  NewsQuery query(std::string_view sql, const Values&... values) {
    NewsQuery query(*this, sql);
    (bind(query, values), ...);
    return query;
  }
  // Runs a statement to its end.
  template <typename... Values>
  Status run(std::string_view sql, const Values&... values) {
    NewsQuery running = query(sql, values...);
    while (running.next()) continue;
    return running.status();
  }
  // The first column of the first row; nothing without a row, or where it is NULL.
  template <typename... Values>
  Result<std::optional<std::int64_t>> number(std::string_view sql, const Values&... values) {
    NewsQuery row = query(sql, values...);
    std::optional<std::int64_t> found;
    if (row.next() && !row.is_null()) found = row.integer();
    KIN_RETURN_IF_ERROR(row.status());
    return found;
  }
  // Several statements, parted by semicolons, that return nothing.
  Status run_script(const std::string& sql);
  // Rows changed by the last statement that changed any.
  std::uint64_t changed() const;

  const std::filesystem::path& path() const { return path_; }

 private:
  friend class NewsQuery;
  explicit NewsDatabase(std::filesystem::path path) : path_(std::move(path)) {}
  Status configure(Access access);
  int add_functions();
  sqlite3_stmt* take_statement(std::string_view sql, int& code);
  void give_back(std::string_view sql, sqlite3_stmt* statement);
  Error error(int code, std::string_view message) const;

  template <typename Value>
  static void bind(NewsQuery& query, const Value& value) {
    if constexpr (std::is_same_v<Value, std::nullopt_t>) {
      query.bind_null();
    } else if constexpr (std::is_same_v<Value, Blob>) {
      query.bind_blob(value.bytes);
    } else if constexpr (std::is_same_v<Value, Time>) {
      query.bind(static_cast<std::int64_t>(value.time_since_epoch().count()));
    } else if constexpr (std::is_integral_v<Value> || std::is_enum_v<Value>) {
      query.bind(static_cast<std::int64_t>(value));
    } else if constexpr (std::is_floating_point_v<Value>) {
      query.bind(static_cast<double>(value));
    } else {
      bind_other(query, value);
    }
  }
  static void bind_other(NewsQuery& query, std::string_view text) { query.bind(text); }
  template <typename Value>
  static void bind_other(NewsQuery& query, const std::optional<Value>& value) {
    if (value) {
      bind(query, *value);
    } else {
      query.bind_null();
    }
  }

  std::filesystem::path path_;
  sqlite3* connection_ = nullptr;
  // Those not in use, by their text.
  std::unordered_map<std::string_view, std::vector<sqlite3_stmt*>> statements_;
};

// Everything between begin() and commit() is done together or, without commit(), not at all. One
// thread only.
class NewsTransaction {
 public:
  static Result<NewsTransaction> begin(NewsDatabase& database);
  // Sees one state of the database to its end, whatever others write meanwhile.
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
