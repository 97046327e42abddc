#include "data/text/record_encoder.h"

#include <numeric>

#include "base/json_writer.h"
#include "data/text/csv_record.h"
#include "data/text/record_splitter.h"

namespace kin::data {
namespace {

std::vector<std::size_t> all_columns(std::size_t count) {
  std::vector<std::size_t> columns(count);
  std::iota(columns.begin(), columns.end(), std::size_t{0});
  return columns;
}

class JsonToCsv : public RecordEncoder {
 public:
  JsonToCsv(const std::vector<std::string>& columns, char delimiter, NestedColumns& nested)
      : reader_(columns, JsonColumns::kKeysOrNothing),
        values_(columns.size()),
        delimiter_(delimiter),
        nested_(nested) {}

  std::optional<std::string> append(std::string& out, std::string_view record, RecordId) override {
    arena_.clear();
    if (auto problem = reader_.read(record, arena_, values_.data()))
      return "malformed JSON: " + problem->why;
    for (std::size_t i = 0; i < values_.size(); ++i) {
      if (i > 0) out += delimiter_;
      const std::string_view value = values_[i];
      if (!value.empty() && !reader_.was_string(i) && (value[0] == '{' || value[0] == '['))
        nested_[i] = true;
      append_csv_value(out, value, delimiter_);
    }
    // An empty line would not be read as a record.
    if (values_.size() == 1 && values_[0].empty()) out += "\"\"";
    out += '\n';
    return {};
  }

 private:
  JsonRecordReader reader_;
  ValueArena arena_;
  std::vector<std::string_view> values_;
  char delimiter_;
  NestedColumns& nested_;
};

class JsonToSpool : public RecordEncoder {
 public:
  JsonToSpool(const std::vector<std::string>& columns, const std::vector<SpoolAs>& spool_as)
      : reader_(columns, JsonColumns::kKeysOrNothing),
        spool_as_(spool_as),
        values_(columns.size()) {
    for (const std::string& column : columns) {
      append_json_string(keys_.emplace_back(), column);
      keys_.back() += ':';
    }
  }

  std::optional<std::string> append(std::string& out, std::string_view record, RecordId) override {
    arena_.clear();
    if (auto problem = reader_.read(record, arena_, values_.data()))
      return "malformed JSON: " + problem->why;
    char separator = '{';
    for (std::size_t i = 0; i < values_.size(); ++i) {
      if (values_[i].data() == nullptr) continue;
      out += separator;
      separator = ',';
      out += keys_[i];
      append_value(out, i);
    }
    out += separator == '{' ? "{}\n" : "}\n";
    return {};
  }

 private:
  void append_value(std::string& out, std::size_t i) {
    if (!reader_.was_string(i)) {
      // DuckDB reads NaN and infinities from strings; JSON has no such numbers.
      if (spool_as_[i] == SpoolAs::kValue && !is_not_finite(values_[i])) {
        out += values_[i];
      } else {
        append_json_string(out, values_[i]);
      }
      return;
    }
    if (spool_as_[i] != SpoolAs::kJsonText) return append_json_string(out, values_[i]);
    std::string json;
    append_json_string(json, values_[i]);
    append_json_string(out, json);
  }

  JsonRecordReader reader_;
  std::vector<SpoolAs> spool_as_;
  std::vector<std::string> keys_;
  ValueArena arena_;
  std::vector<std::string_view> values_;
};

class JsonToElement : public RecordEncoder {
 public:
  explicit JsonToElement(RecordId first) : first_(first) {}

  std::optional<std::string> append(std::string& out, std::string_view record,
                                    RecordId row) override {
    out += row == first_ ? "\n" : ",\n";
    out += without_trailing_space(record);
    return {};
  }

 private:
  RecordId first_;
};

class CsvToOther : public RecordEncoder {
 public:
  CsvToOther(std::size_t columns, Format from)
      : reader_(delimiter_of(from), columns, all_columns(columns)), values_(columns) {}

  std::optional<std::string> append(std::string& out, std::string_view record, RecordId) override {
    arena_.clear();
    if (auto problem = reader_.read(record, arena_, values_.data()))
      return "malformed record: " + *problem;
    write(out, values_);
    return {};
  }

 protected:
  virtual void write(std::string& out, const std::vector<std::string_view>& values) = 0;

 private:
  CsvRecordReader reader_;
  ValueArena arena_;
  std::vector<std::string_view> values_;
};

class CsvToJson : public CsvToOther {
 public:
  CsvToJson(const std::vector<std::string>& columns, Format from)
      : CsvToOther(columns.size(), from) {
    for (const std::string& column : columns) {
      keys_.emplace_back(keys_.empty() ? "{" : ",");
      append_json_string(keys_.back(), column);
      keys_.back() += ':';
    }
  }

 protected:
  void write(std::string& out, const std::vector<std::string_view>& values) override {
    for (std::size_t i = 0; i < values.size(); ++i) {
      out += keys_[i];
      append_json_string(out, values[i]);
    }
    out += "}\n";
  }

 private:
  std::vector<std::string> keys_;
};

class CsvToCsv : public CsvToOther {
 public:
  CsvToCsv(std::size_t columns, Format from, char delimiter)
      : CsvToOther(columns, from), delimiter_(delimiter) {}

 protected:
  void write(std::string& out, const std::vector<std::string_view>& values) override {
    for (std::size_t i = 0; i < values.size(); ++i) {
      if (i > 0) out += delimiter_;
      append_csv_value(out, values[i], delimiter_);
    }
    if (values.size() == 1 && values[0].empty()) out += "\"\"";
    out += '\n';
  }

 private:
  char delimiter_;
};

}  // namespace

std::unique_ptr<RecordEncoder> json_to_csv(const std::vector<std::string>& columns, Format to,
                                           NestedColumns& nested) {
  return std::make_unique<JsonToCsv>(columns, delimiter_of(to), nested);
}

std::unique_ptr<RecordEncoder> json_to_spool(const std::vector<std::string>& columns,
                                             const std::vector<SpoolAs>& spool_as) {
  return std::make_unique<JsonToSpool>(columns, spool_as);
}

std::unique_ptr<RecordEncoder> csv_to_json(const std::vector<std::string>& columns, Format from) {
  return std::make_unique<CsvToJson>(columns, from);
}

std::unique_ptr<RecordEncoder> csv_to_csv(std::size_t columns, Format from, Format to) {
  return std::make_unique<CsvToCsv>(columns, from, delimiter_of(to));
}

std::unique_ptr<RecordEncoder> json_to_element(RecordId first) {
  return std::make_unique<JsonToElement>(first);
}

std::string csv_header_line(const std::vector<std::string>& columns, Format format) {
  std::string line;
  for (std::size_t i = 0; i < columns.size(); ++i) {
    if (i > 0) line += delimiter_of(format);
    append_csv_value(line, columns[i], delimiter_of(format));
  }
  // An empty line would not be read as a header.
  if (columns.size() == 1 && columns[0].empty()) line += "\"\"";
  return line + "\n";
}

}  // namespace kin::data
