#include "data/text/record_reader.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "data/text/csv_record.h"
#include "data/text/record_encoder.h"
#include "data/text/record_splitter.h"

namespace kin::data {
namespace {

class JsonReader : public RecordReader {
 public:
  JsonReader(std::vector<std::string> columns, std::size_t optional_columns)
      : reader_(std::move(columns), JsonColumns::kPaths, optional_columns) {}

  void begin_block(const Block& block) override {
    reader_.begin_block({block.bytes.data(), block.size});
  }
  void begin_sparse_block(const Block&) override { reader_.end_block(); }
  std::optional<RecordProblem> read(std::string_view record, ValueArena& arena,
                                    std::string_view* values) override {
    auto problem = reader_.read(record, arena, values);
    if (!problem) return {};
    switch (problem->kind) {
      case RecordProblem::Kind::kMalformed:
        problem->why = fmt::format("malformed JSON: {}", problem->why);
        break;
      case RecordProblem::Kind::kFieldMissing:
        problem->why = fmt::format("{} (use --field, or --on-error skip); this record has: {}",
                                   problem->why, fmt::join(reader_.keys(record), ", "));
        break;
    }
    return problem;
  }
  bool ever_found(std::size_t column) const override { return reader_.ever_found(column); }

 private:
  JsonRecordReader reader_;
};

class CsvReader : public RecordReader {
 public:
  // `found`: which of the requested columns the reader has, in order.
  CsvReader(CsvRecordReader reader, std::vector<bool> found)
      : reader_(std::move(reader)), found_(std::move(found)) {}

  void begin_block(const Block&) override {}
  void begin_sparse_block(const Block&) override {}
  std::optional<RecordProblem> read(std::string_view record, ValueArena& arena,
                                    std::string_view* values) override {
    if (const auto problem = reader_.read(record, arena, values)) {
      return RecordProblem{RecordProblem::Kind::kMalformed,
                           fmt::format("malformed record: {}", *problem)};
    }
    spread(values);
    any_ = true;
    return {};
  }
  bool ever_found(std::size_t column) const override { return any_ && found_[column]; }

 private:
  // Moves the values to their columns, from the back, and puts nulls between them.
  void spread(std::string_view* values) const {
    auto from = static_cast<std::size_t>(std::count(found_.begin(), found_.end(), true));
    for (std::size_t to = found_.size(); to-- > 0;)
      values[to] = found_[to] ? values[--from] : std::string_view();
  }

  CsvRecordReader reader_;
  std::vector<bool> found_;
  bool any_ = false;
};

// The first record of `input`.
Result<std::string> read_header_line(const Input& input) {
  constexpr std::size_t kLongestHeader = 16 << 20;
  KIN_TRY(const auto source, ByteSource::open(input));
  std::string bytes;
  for (std::size_t step = 64 << 10; bytes.size() < kLongestHeader; step *= 2) {
    const std::size_t filled = bytes.size();
    bytes.resize(filled + step);
    KIN_TRY(const std::size_t got, source->read(bytes.data() + filled, step));
    bytes.resize(filled + got);
    const Behind behind = got == 0 ? Behind::kEndOfFile : Behind::kMore;
    std::size_t begin = bytes.starts_with(kByteOrderMark) ? kByteOrderMark.size() : 0;
    while (begin < bytes.size()) {
      const auto span = next_record(input.type.format, bytes, begin, behind);
      if (!span) break;
      if (!span->blank) return bytes.substr(begin, span->end - begin);
      begin = span->end;
    }
    if (got == 0)
      return Error{Code::kInvalidArgument, input.shown_as + " is empty: it has no header line"};
  }
  return Error{Code::kInvalidArgument,
               fmt::format("{}:1: malformed header: it does not end within {} MiB, perhaps for a "
                           "quote that is not closed",
                           input.shown_as, kLongestHeader >> 20)};
}

}  // namespace

std::unique_ptr<RecordReader> make_json_reader(std::vector<std::string> columns,
                                               std::size_t optional_columns) {
  return std::make_unique<JsonReader>(std::move(columns), optional_columns);
}

Result<std::unique_ptr<RecordReader>> make_csv_reader(const CsvHeader& header, const Input& input,
                                                      const std::vector<std::string>& columns,
                                                      std::size_t optional_columns) {
  std::vector<std::size_t> places;
  std::vector<bool> found;
  for (std::size_t i = 0; i < columns.size(); ++i) {
    const auto place = std::find(header.names.begin(), header.names.end(), columns[i]);
    found.push_back(place != header.names.end());
    if (found.back()) {
      places.push_back(static_cast<std::size_t>(place - header.names.begin()));
    } else if (i + optional_columns < columns.size()) {
      return Error{Code::kNotFound,
                   fmt::format("{}: column \"{}\" is missing (use --field); the header names: {}",
                               input.shown_as, columns[i], fmt::join(header.names, ", "))};
    }
  }
  return std::unique_ptr<RecordReader>(std::make_unique<CsvReader>(
      CsvRecordReader(delimiter_of(input.type.format), header.names.size(), std::move(places)),
      std::move(found)));
}

Result<CsvHeader> read_csv_header(const Input& input) {
  KIN_TRY(const std::string line, read_header_line(input));
  CsvHeader header{line.ends_with('\n') ? line : line + "\n", {}};
  std::vector<std::string_view> fields;
  if (const auto problem = split_csv(header.line, delimiter_of(input.type.format), fields)) {
    return Error{Code::kInvalidArgument,
                 fmt::format("{}:1: malformed header: {}", input.shown_as, *problem)};
  }
  ValueArena arena;
  for (const std::string_view field : fields) header.names.emplace_back(unquote_csv(field, arena));
  return header;
}

}  // namespace kin::data
