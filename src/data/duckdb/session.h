// DuckDB: SQL queries, and a callback that gets the rows of a query.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/result.h"

namespace kin::data {

struct DuckDbLimits {
  int threads = 1;
  std::uint64_t memory_bytes = std::uint64_t{1} << 30;
  // Freed memory that is kept for the next use instead of being returned. A large amount makes
  // queries up to half as fast again.
  std::uint64_t held_back_bytes = 128 << 20;
};

// Some rows of a query, at most 2,048.
struct PassingRows {
  std::span<const std::int64_t> numbers;
  std::vector<std::vector<std::string_view>> values;  // by column, then row; without data: null
  std::span<bool> keep;  // to be filled in: whether the row stays in the query
};

// A private in-memory database. Queries can use kin_blob_text(BLOB): the bytes as text if they are
// UTF-8, else "bytes:" and the bytes with escapes. Text that begins with that word is shown with
// escapes too, so that no two values give the same text. One query at a time; a query uses several
// threads inside.
class DuckDbSession {
 public:
  using Cells = std::vector<std::vector<std::optional<std::string>>>;  // by row, then column
  // Called by DuckDB's threads, concurrently. An error ends the query with that error.
  using RowHook = std::function<Status(PassingRows& rows)>;

  static Result<std::unique_ptr<DuckDbSession>> open(const DuckDbLimits& limits,
                                                     const std::filesystem::path& temporary_folder);
  ~DuckDbSession();

  Status run(const std::string& sql);
  // Everything as text. For small results.
  Result<Cells> query(const std::string& sql);
  // Runs `sql`, in which kin_rows_N(BIGINT, VARCHAR × N), N being `columns`, calls `hook`: a
  // condition that decides about each row once. Returns the number that the query gives.
  Result<std::int64_t> run_with_hook(const std::string& sql, std::size_t columns, RowHook hook);

  // Takes effect with the next query.
  Status set_limits(const DuckDbLimits& limits);

 private:
  struct State;
  explicit DuckDbSession(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

// A session that is opened on first use: DuckDB takes 50 MB and some time. As thread-safe as a
// session.
class LazyDuckDb {
 public:
  explicit LazyDuckDb(std::filesystem::path temporary_folder)
      : temporary_folder_(std::move(temporary_folder)) {}
  Result<DuckDbSession*> get();

 private:
  std::filesystem::path temporary_folder_;
  std::unique_ptr<DuckDbSession> session_;
};

// `text` as a literal, and `name` as the name of a column, in SQL.
std::string sql_text(std::string_view text);
std::string sql_name(std::string_view name);

// The form of `name` that is equal for all names that DuckDB considers the same: it ignores
// case.
std::string folded_name(std::string_view name);

}  // namespace kin::data
