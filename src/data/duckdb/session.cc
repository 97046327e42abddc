#include "data/duckdb/session.h"

#include <duckdb.h>
#include <fmt/format.h>

#include <algorithm>
#include <mutex>
#include <set>

#include "base/ascii.h"
#include "data/pages/value_text.h"

namespace kin::data {
namespace {

// Frees results of the C API.
struct QueryResult {
  duckdb_result result{};
  QueryResult() = default;
  QueryResult(const QueryResult&) = delete;
  ~QueryResult() { duckdb_destroy_result(&result); }
};

std::string first_line(std::string_view text) {
  return std::string(text.substr(0, text.find('\n')));
}

Code code_of(duckdb_error_type type) {
  switch (type) {
    case DUCKDB_ERROR_OUT_OF_MEMORY: return Code::kResourceExhausted;
    case DUCKDB_ERROR_INTERRUPT: return Code::kCancelled;
    case DUCKDB_ERROR_IO: return Code::kUnavailable;
    case DUCKDB_ERROR_INVALID_INPUT:
    case DUCKDB_ERROR_CONVERSION:
    case DUCKDB_ERROR_BINDER:
    case DUCKDB_ERROR_SERIALIZATION: return Code::kInvalidArgument;
    default: return Code::kInternal;
  }
}

// Removes DuckDB's name for the kind of error, which means nothing to users.
std::string plain_words(std::string text) {
  constexpr std::string_view kKind = " Error: ";
  constexpr std::size_t kLongestKind = 24;
  const std::size_t at = text.find(kKind);
  if (at != std::string::npos && at <= kLongestKind) text.erase(0, at + kKind.size());
  return text;
}

Error error_of(duckdb_result& result) {
  const char* const message = duckdb_result_error(&result);
  std::string text = message != nullptr ? first_line(message) : "DuckDB gives no reason";
  Code code = code_of(duckdb_result_error_type(&result));
  if (code == Code::kResourceExhausted) text = "there is not enough memory for DuckDB";
  if (text.find("No space left") != std::string::npos) code = Code::kResourceExhausted;
  return Error{code, plain_words(std::move(text))};
}

std::string_view view_of(const duckdb_string_t& text) {
  constexpr std::uint32_t kInlined = 12;
  const std::uint32_t length = text.value.inlined.length;
  if (length <= kInlined) return {text.value.inlined.inlined, length};
  return {text.value.pointer.ptr, length};
}

// Views into `vector`; those of null rows have no data.
void collect_values(duckdb_vector vector, std::size_t count,
                    std::vector<std::string_view>& values) {
  const auto* const texts = static_cast<const duckdb_string_t*>(duckdb_vector_get_data(vector));
  std::uint64_t* const validity = duckdb_vector_get_validity(vector);
  values.resize(count);
  for (std::size_t i = 0; i < count; ++i) {
    const bool is_null = validity != nullptr && (validity[i / 64] >> (i % 64) & 1) == 0;
    values[i] = is_null ? std::string_view() : view_of(texts[i]);
  }
}

bool is_null(duckdb_vector vector, std::size_t row) {
  std::uint64_t* const validity = duckdb_vector_get_validity(vector);
  return validity != nullptr && !duckdb_validity_row_is_valid(validity, row);
}

void on_blobs(duckdb_function_info, duckdb_data_chunk input, duckdb_vector output) {
  const std::size_t count = duckdb_data_chunk_get_size(input);
  duckdb_vector blobs = duckdb_data_chunk_get_vector(input, 0);
  const auto* const bytes = static_cast<const duckdb_string_t*>(duckdb_vector_get_data(blobs));
  duckdb_vector_ensure_validity_writable(output);
  std::uint64_t* const validity = duckdb_vector_get_validity(output);
  for (std::size_t i = 0; i < count; ++i) {
    if (is_null(blobs, i)) {
      duckdb_validity_set_row_invalid(validity, i);
      continue;
    }
    const std::string text = text_of_bytes(view_of(bytes[i]));
    duckdb_vector_assign_string_element_len(output, i, text.data(), text.size());
  }
}

Status register_blob_text(duckdb_connection connection) {
  duckdb_scalar_function function = duckdb_create_scalar_function();
  duckdb_logical_type blob = duckdb_create_logical_type(DUCKDB_TYPE_BLOB);
  duckdb_logical_type text = duckdb_create_logical_type(DUCKDB_TYPE_VARCHAR);
  duckdb_scalar_function_set_name(function, "kin_blob_text");
  duckdb_scalar_function_add_parameter(function, blob);
  duckdb_scalar_function_set_return_type(function, text);
  duckdb_scalar_function_set_special_handling(function);
  duckdb_scalar_function_set_function(function, &on_blobs);
  const duckdb_state outcome = duckdb_register_scalar_function(connection, function);
  duckdb_destroy_logical_type(&blob);
  duckdb_destroy_logical_type(&text);
  duckdb_destroy_scalar_function(&function);
  if (outcome != DuckDBSuccess) return Error{Code::kInternal, "DuckDB refused a function"};
  return Done{};
}

}  // namespace

struct DuckDbSession::State {
  duckdb_database database = nullptr;
  duckdb_connection connection = nullptr;
  std::set<std::size_t> registered;
  RowHook hook;
  std::mutex mutex;
  std::optional<Error> hook_error;

  ~State() {
    if (connection != nullptr) duckdb_disconnect(&connection);
    if (database != nullptr) duckdb_close(&database);
  }
  static void on_rows(duckdb_function_info info, duckdb_data_chunk input, duckdb_vector output);
  Status register_hook(std::size_t columns);
};

void DuckDbSession::State::on_rows(duckdb_function_info info, duckdb_data_chunk input,
                                   duckdb_vector output) {
  auto& state = *static_cast<State*>(duckdb_scalar_function_get_extra_info(info));
  const std::size_t count = duckdb_data_chunk_get_size(input);
  const std::size_t columns = duckdb_data_chunk_get_column_count(input);
  // Kept between calls, so that a call allocates nothing.
  thread_local PassingRows rows;
  const auto* const numbers = static_cast<const std::int64_t*>(
      duckdb_vector_get_data(duckdb_data_chunk_get_vector(input, 0)));
  rows.numbers = {numbers, count};
  rows.values.resize(columns - 1);
  for (std::size_t i = 1; i < columns; ++i) {
    collect_values(duckdb_data_chunk_get_vector(input, i), count, rows.values[i - 1]);
  }
  rows.keep = {static_cast<bool*>(duckdb_vector_get_data(output)), count};
  std::fill(rows.keep.begin(), rows.keep.end(), false);
  const Status status = state.hook(rows);
  if (status.ok()) return;
  const std::scoped_lock lock(state.mutex);
  if (!state.hook_error) state.hook_error = status.error();
  // The text does not matter: run_with_hook() returns hook_error.
  duckdb_scalar_function_set_error(info, "stopped");
}

// The function is volatile so that it is neither folded, moved nor called twice for a row.
Status DuckDbSession::State::register_hook(std::size_t columns) {
  if (!registered.insert(columns).second) return Done{};
  duckdb_scalar_function function = duckdb_create_scalar_function();
  duckdb_logical_type number = duckdb_create_logical_type(DUCKDB_TYPE_BIGINT);
  duckdb_logical_type text = duckdb_create_logical_type(DUCKDB_TYPE_VARCHAR);
  duckdb_logical_type truth = duckdb_create_logical_type(DUCKDB_TYPE_BOOLEAN);
  duckdb_scalar_function_set_name(function, fmt::format("kin_rows_{}", columns).c_str());
  duckdb_scalar_function_add_parameter(function, number);
  for (std::size_t i = 0; i < columns; ++i) duckdb_scalar_function_add_parameter(function, text);
  duckdb_scalar_function_set_return_type(function, truth);
  duckdb_scalar_function_set_extra_info(function, this, nullptr);
  duckdb_scalar_function_set_special_handling(function);
  duckdb_scalar_function_set_volatile(function);
  duckdb_scalar_function_set_function(function, &State::on_rows);
  const duckdb_state outcome = duckdb_register_scalar_function(connection, function);
  duckdb_destroy_logical_type(&number);
  duckdb_destroy_logical_type(&text);
  duckdb_destroy_logical_type(&truth);
  duckdb_destroy_scalar_function(&function);
  if (outcome != DuckDBSuccess) return Error{Code::kInternal, "DuckDB refused a function"};
  return Done{};
}

DuckDbSession::DuckDbSession(std::unique_ptr<State> state) : state_(std::move(state)) {}
DuckDbSession::~DuckDbSession() = default;

Result<std::unique_ptr<DuckDbSession>> DuckDbSession::open(
    const DuckDbLimits& limits, const std::filesystem::path& temporary_folder) {
  auto state = std::make_unique<State>();
  if (duckdb_open(nullptr, &state->database) != DuckDBSuccess ||
      duckdb_connect(state->database, &state->connection) != DuckDBSuccess) {
    return Error{Code::kInternal, "DuckDB does not start"};
  }
  KIN_RETURN_IF_ERROR(register_blob_text(state->connection));
  std::unique_ptr<DuckDbSession> session(new DuckDbSession(std::move(state)));
  // Nothing is downloaded, and results depend neither on installed extensions nor on the time zone.
  const std::string settings[] = {
      "SET autoinstall_known_extensions = false",
      "SET autoload_known_extensions = false",
      "SET preserve_insertion_order = true",
      "SET enable_progress_bar = false",
      "SET TimeZone = 'UTC'",
      fmt::format("SET temp_directory = {}", sql_text((temporary_folder / "duckdb").string())),
  };
  for (const std::string& setting : settings) KIN_RETURN_IF_ERROR(session->run(setting));
  KIN_RETURN_IF_ERROR(session->set_limits(limits));
  return session;
}

Status DuckDbSession::run(const std::string& sql) {
  QueryResult holder;
  if (duckdb_query(state_->connection, sql.c_str(), &holder.result) != DuckDBSuccess)
    return error_of(holder.result);
  return Done{};
}

Result<DuckDbSession::Cells> DuckDbSession::query(const std::string& sql) {
  QueryResult holder;
  if (duckdb_query(state_->connection, sql.c_str(), &holder.result) != DuckDBSuccess)
    return error_of(holder.result);
  const idx_t columns = duckdb_column_count(&holder.result);
  Cells cells(duckdb_row_count(&holder.result));
  for (idx_t row = 0; row < cells.size(); ++row) {
    for (idx_t column = 0; column < columns; ++column) {
      char* const text = duckdb_value_varchar(&holder.result, column, row);
      cells[row].push_back(text == nullptr ? std::nullopt : std::optional<std::string>(text));
      duckdb_free(text);
    }
  }
  return cells;
}

Result<std::int64_t> DuckDbSession::run_with_hook(const std::string& sql, std::size_t columns,
                                                  RowHook hook) {
  KIN_RETURN_IF_ERROR(state_->register_hook(columns));
  state_->hook = std::move(hook);
  state_->hook_error.reset();
  QueryResult holder;
  const duckdb_state outcome = duckdb_query(state_->connection, sql.c_str(), &holder.result);
  state_->hook = nullptr;
  if (state_->hook_error) return *state_->hook_error;
  if (outcome != DuckDBSuccess) return error_of(holder.result);
  return duckdb_value_int64(&holder.result, 0, 0);
}

Status DuckDbSession::set_limits(const DuckDbLimits& limits) {
  constexpr std::uint64_t kMegabyte = 1'000'000;
  constexpr std::uint64_t kLeastMegabytes = 64;
  const std::uint64_t held_back = std::max<std::uint64_t>(limits.held_back_bytes / kMegabyte, 1);
  const std::string settings[] = {
      fmt::format("SET threads = {}", std::max(limits.threads, 1)),
      fmt::format("SET memory_limit = '{}MB'",
                  std::max(limits.memory_bytes / kMegabyte, kLeastMegabytes)),
      fmt::format("SET allocator_flush_threshold = '{}MB'", held_back),
      fmt::format("SET allocator_bulk_deallocation_flush_threshold = '{}MB'", held_back),
  };
  for (const std::string& setting : settings) KIN_RETURN_IF_ERROR(run(setting));
  return Done{};
}

Result<DuckDbSession*> LazyDuckDb::get() {
  if (!session_) {
    KIN_TRY(session_, DuckDbSession::open({}, temporary_folder_));
  }
  return session_.get();
}

std::string sql_text(std::string_view text) {
  std::string quoted = "'";
  for (const char c : text) {
    if (c == '\'') quoted += '\'';
    quoted += c;
  }
  return quoted + "'";
}

std::string sql_name(std::string_view name) {
  std::string quoted = "\"";
  for (const char c : name) {
    if (c == '"') quoted += '"';
    quoted += c;
  }
  return quoted + "\"";
}

std::string folded_name(std::string_view name) {
  return ascii_lowered(name);
}

}  // namespace kin::data
