#include "data/parquet/file.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <charconv>
#include <map>

#include "base/file.h"
#include "data/duckdb/sql_type.h"
#include "data/pages/codec.h"
#include "data/parquet/fault.h"
#include "data/remote_files.h"

namespace kin::data {
namespace fs = std::filesystem;
namespace {

std::uint64_t number(const std::optional<std::string>& text) {
  std::uint64_t value = 0;
  if (text) std::from_chars(text->data(), text->data() + text->size(), value);
  return value;
}

// To DuckDB the name of a file is a pattern if it contains * ? or [.
Result<fs::path> plain_path(const Input& input, const fs::path& temporary_folder) {
  if (input.path.string().find_first_of("*?[") == std::string::npos) return input.path;
  std::error_code failure;
  const fs::path target = fs::canonical(input.path, failure);
  if (failure) return system_error("read", input.path, failure.value());
  fs::path link = temporary_folder / fmt::format("input-{:x}.parquet", fs::hash_value(target));
  fs::remove(link, failure);
  fs::create_symlink(target, link, failure);
  if (failure) return system_error("make a link in", temporary_folder, failure.value());
  return link;
}

void set_path(ParquetFile& file, const fs::path& path) {
  file.sql_path = sql_text(path.string());
  file.sql = fmt::format("read_parquet({}, hive_partitioning = false)", file.sql_path);
}

// The codec of most of the data, as COPY … (COMPRESSION …) names it.
std::string main_codec(const Footer& footer) {
  std::map<Codec, std::uint64_t> bytes;
  for (const GroupPlace& group : footer.groups) {
    for (const ChunkPlace& chunk : group.chunks) bytes[chunk.codec] += chunk.unpacked_bytes;
  }
  Codec most = Codec::kSnappy;
  std::uint64_t most_bytes = 0;
  for (const auto& [codec, total] : bytes) {
    if (total <= most_bytes) continue;
    most = codec;
    most_bytes = total;
  }
  // LZ4 is the old framing of what is now LZ4_RAW.
  if (most == Codec::kLz4) most = Codec::kLz4Raw;
  return most == Codec::kLzo ? "snappy" : codec_name(most);
}

// The memory of one thread of DuckDB: pages, and vectors of rows.
std::uint64_t duckdb_thread_bytes(const ParquetFile& file) {
  std::uint64_t largest_page = 0;
  std::uint64_t largest_packed = 0;
  for (const GroupPlace& group : file.footer->groups) {
    for (const ChunkPlace& chunk : group.chunks) {
      largest_page = std::max(largest_page, chunk.unpacked_bytes);
      largest_packed = std::max(largest_packed, chunk.bytes);
    }
  }
  // DuckDB itself writes pages of up to 100 MB; all other writers keep to about 1 MB.
  const ThriftValue* const created_by = file.footer->metadata.field(ids::file::kCreatedBy);
  const bool large_pages =
      created_by != nullptr && created_by->bytes.find("DuckDB") != std::string::npos;
  constexpr std::uint64_t kLargestPage = 128 << 20;
  constexpr std::uint64_t kUsualPage = 8 << 20;
  // Rows go by in vectors of 2,048, one being read and one being written.
  constexpr std::uint64_t kVector = 2048;
  std::uint64_t vector_bytes = 0;
  for (const GroupPlace& group : file.footer->groups) {
    vector_bytes = std::max(vector_bytes, bytes_of(group) / std::max<std::uint64_t>(group.rows, 1) *
                                              std::min<std::uint64_t>(group.rows, kVector));
  }
  return (16 << 20) + 2 * vector_bytes +
         (large_pages
              ? std::min(largest_page, kLargestPage) + std::min(largest_packed, kLargestPage)
              : 2 * kUsualPage);
}

// Names of top-level columns.
std::vector<ParquetColumn> top_columns(const Footer& footer) {
  std::vector<ParquetColumn> columns;
  const std::vector<ThriftValue>& elements = footer.schema();
  std::vector<std::int64_t> left;  // elements to come, by depth
  for (std::size_t i = 1; i < elements.size(); ++i) {
    while (!left.empty() && left.back() == 0) left.pop_back();
    if (left.empty()) {
      const ThriftValue* const name = elements[i].field(ids::element::kName);
      columns.push_back({name == nullptr ? "" : name->bytes, ""});
    } else {
      --left.back();
    }
    const std::int64_t children = elements[i].number_of(ids::element::kChildren);
    if (children > 0) left.push_back(children);
  }
  return columns;
}

// Checks the part of the schema that begins at `at`, and advances `at` past it.
Status check_element(const DuckDbSession::Cells& schema, std::size_t& at) {
  constexpr std::uint64_t kMostDigits = 38;
  const auto& element = schema[at++];
  if (number(element[2]) > kMostDigits) {
    return Error{
        Code::kInvalidArgument,
        fmt::format("column `{}` is a decimal of {} digits, and only {} can be read (store "
                    "it as text or with fewer digits)",
                    element[0].value_or(""), number(element[2]), kMostDigits)};
  }
  std::map<std::string, std::string> names;
  for (std::uint64_t left = number(element[1]); left > 0 && at < schema.size(); --left) {
    const std::string name = schema[at][0].value_or("");
    const auto [other, added] = names.emplace(folded_name(name), name);
    if (!added) {
      return Error{Code::kInvalidArgument,
                   fmt::format("the columns `{}` and `{}` cannot be told apart, since the case of "
                               "letters does not count (rename one)",
                               other->second, name)};
    }
    KIN_RETURN_IF_ERROR(check_element(schema, at));
  }
  return Done{};
}

// Refuses schemas that DuckDB would silently change: it reads decimals of many digits as doubles,
// and renames columns whose names it considers equal.
Status check_schema(DuckDbSession& duckdb, const ParquetFile& file) {
  KIN_TRY(const auto schema,
          duckdb.query(fmt::format(
              "SELECT name, num_children, greatest(CASE WHEN converted_type = 'DECIMAL' THEN "
              "precision END, try_cast(regexp_extract(logical_type, "
              "'^DecimalType.*precision=([0-9]+)', 1) AS BIGINT)) FROM parquet_schema({})",
              file.sql_path)));
  std::size_t at = 0;
  return schema.empty() ? Status(Done{}) : check_element(schema, at);
}

std::string extract(std::string expression, std::string_view path) {
  while (!path.empty()) {
    const std::size_t dot = path.find('.');
    expression = fmt::format("struct_extract({}, {})", expression, sql_text(path.substr(0, dot)));
    path = dot == std::string_view::npos ? std::string_view() : path.substr(dot + 1);
  }
  return expression;
}

// DuckDB's own try(decode(…)) cannot be used for binary values: in 1.4 it turns the values that it
// fails at into nulls wherever the query uses them.
std::string as_text(const std::string& expression, const std::string& type) {
  if (type == "VARCHAR") return expression;
  if (type == "BLOB") return fmt::format("kin_blob_text({})", expression);
  if (is_nested(type)) return fmt::format("CAST(to_json({}) AS VARCHAR)", expression);
  return fmt::format("CAST({} AS VARCHAR)", expression);
}

// The texts of a path through lists, such as a.b[].c, joined with line ends. Nothing if the file
// has no such path.
std::optional<std::string> list_expression(DuckDbSession& duckdb, const ParquetFile& file,
                                           std::string_view column) {
  constexpr std::string_view kElements = "[]";
  const std::size_t first = column.find(kElements);
  if (first == std::string_view::npos) return {};
  const std::string_view outer = column.substr(0, first);
  const std::size_t dot = std::min(outer.find('.'), outer.size());
  std::string list = extract(sql_name(std::string(outer.substr(0, dot))),
                             outer.substr(std::min(dot + 1, outer.size())));
  std::string_view rest = column.substr(first + kElements.size());
  for (;;) {
    const std::size_t next = rest.find(kElements);
    const std::string_view keys = rest.substr(0, next);
    if (!keys.empty() && keys.front() != '.') return {};
    if (!keys.empty())
      list = fmt::format("list_transform({}, lambda x: {})", list, extract("x", keys.substr(1)));
    if (next == std::string_view::npos) break;
    list = fmt::format("flatten({})", list);
    rest.remove_prefix(next + kElements.size());
  }
  const auto type = duckdb.query(fmt::format("DESCRIBE SELECT {} FROM {}", list, file.sql));
  if (!type || !(*type)[0][1].value_or("").ends_with(kElements)) return {};
  const std::string of_list = (*type)[0][1].value_or("");
  const std::string text = as_text("x", of_list.substr(0, of_list.size() - kElements.size()));
  return fmt::format("array_to_string(list_transform({}, lambda x: {}), chr(10))", list, text);
}

}  // namespace

Error wrong_row_number(const std::string& shown_as) {
  return Error{Code::kInternal,
               fmt::format("{}: DuckDB numbers a row beyond the file's end", shown_as)};
}

std::uint64_t bytes_of(const GroupPlace& group) {
  std::uint64_t bytes = 0;
  for (const ChunkPlace& chunk : group.chunks) bytes += chunk.unpacked_bytes;
  return bytes;
}

std::uint64_t longest_average_row(const ParquetFile& file) {
  std::uint64_t longest = 0;
  for (const GroupPlace& group : file.footer->groups)
    longest = std::max(longest, bytes_of(group) / std::max<std::uint64_t>(group.rows, 1));
  return longest;
}

std::uint64_t longest_likely_row(const ParquetFile& file) {
  constexpr std::uint64_t kFewRows = 4;
  std::uint64_t longest = 2 * longest_average_row(file);
  for (const GroupPlace& group : file.footer->groups)
    if (group.rows <= kFewRows) longest = std::max(longest, bytes_of(group));
  return longest;
}

Result<ParquetFile> read_parquet_footer(const Input& input, const fs::path& temporary_folder) {
  ParquetFile file;
  file.shown_as = input.shown_as;
  file.input = input;
  if (input.remote == nullptr) {
    KIN_TRY(const fs::path path, plain_path(input, temporary_folder));
    set_path(file, path);
  }
  KIN_TRY(File data, open_input(input));
  auto footer = read_footer(data);
  if (!footer) return with_context(input.shown_as, footer.error());
  file.data = std::make_shared<const File>(std::move(data));
  file.footer = std::make_shared<const Footer>(std::move(*footer));
  file.rows = file.footer->rows;
  for (const GroupPlace& group : file.footer->groups) {
    file.group_ends.push_back(group.first_row + group.rows);
    file.unpacked_bytes += bytes_of(group);
  }
  file.columns = top_columns(*file.footer);
  file.codec = main_codec(*file.footer);
  file.thread_bytes = duckdb_thread_bytes(file);
  return file;
}

Status describe_parquet(DuckDbSession& duckdb, ParquetFile& file) {
  const bool described =
      std::all_of(file.columns.begin(), file.columns.end(),
                  [](const ParquetColumn& column) { return !column.type.empty(); });
  if (described && !file.columns.empty()) return Done{};
  if (file.sql.empty()) {
    const Input& input = file.input;
    KIN_TRY(const fs::path path,
            input.remote->copy({input.path.string(), input.bytes, input.version}));
    set_path(file, path);
  }
  std::vector<ParquetColumn> found;
  const auto describe = [&]() -> Status {
    KIN_RETURN_IF_ERROR(check_schema(duckdb, file));
    KIN_TRY(const auto columns, duckdb.query(fmt::format("DESCRIBE SELECT * FROM {}", file.sql)));
    for (const auto& column : columns)
      found.push_back({column[0].value_or(""), column[1].value_or("")});
    return Done{};
  };
  if (const Status status = describe(); !status)
    return explain_parquet_error(file.shown_as, status.error());
  for (const ParquetColumn& column : found) {
    const std::string name = folded_name(column.name);
    if (name != "file_row_number" && name != "file_index") continue;
    return Error{Code::kInvalidArgument,
                 fmt::format("{}: a column cannot be called {} here (rename it)", file.shown_as,
                             column.name)};
  }
  file.columns = std::move(found);
  return Done{};
}

Result<std::string> text_expression(DuckDbSession& duckdb, const ParquetFile& file,
                                    const Input& input, const std::string& column) {
  for (std::size_t length = column.size(); length != std::string::npos && length > 0;
       length = column.rfind('.', length - 1)) {
    const std::string name = column.substr(0, length);
    const auto found = std::find_if(file.columns.begin(), file.columns.end(),
                                    [&](const ParquetColumn& one) { return one.name == name; });
    if (found == file.columns.end()) continue;
    if (length == column.size()) return as_text(sql_name(name), found->type);
    const std::string inner = extract(sql_name(name), std::string_view(column).substr(length + 1));
    const auto type = duckdb.query(fmt::format("DESCRIBE SELECT {} FROM {}", inner, file.sql));
    if (type) return as_text(inner, (*type)[0][1].value_or(""));
  }
  if (auto list = list_expression(duckdb, file, column)) return *list;
  std::vector<std::string> names;
  for (const ParquetColumn& one : file.columns) names.push_back(one.name);
  return Error{Code::kNotFound,
               fmt::format("{}: column \"{}\" is missing (use --field); the file has: {}",
                           input.shown_as, column, fmt::join(names, ", "))};
}

}  // namespace kin::data
