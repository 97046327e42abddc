#include "data/text/record_editor.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <optional>

#include "base/json_writer.h"
#include "data/text/csv_record.h"
#include "data/text/json_record.h"
#include "data/text/record_splitter.h"

namespace kin::data {
namespace {

using Value = RecordEdits::Value;

std::vector<std::string> names_of(const std::vector<RecordEdits::Column>& columns) {
  std::vector<std::string> names;
  for (const auto& column : columns) names.push_back(column.name);
  return names;
}

// Numbers and booleans look the same in JSON and CSV. Empty for texts and numbers that are not
// finite.
std::string plain_text(const Value& value) {
  if (const auto* whole = std::get_if<std::int64_t>(&value)) return fmt::format("{}", *whole);
  if (const auto* truth = std::get_if<bool>(&value)) return *truth ? "true" : "false";
  const auto* real = std::get_if<double>(&value);
  return real != nullptr && std::isfinite(*real) ? fmt::format("{}", *real) : std::string();
}

void append_json_value(std::string& out, const std::optional<Value>& value) {
  if (value && std::holds_alternative<std::string>(*value)) {
    append_json_string(out, std::get<std::string>(*value));
    return;
  }
  const std::string plain = value ? plain_text(*value) : std::string();
  out += plain.empty() ? "null" : plain;
}

class JsonEditor : public RecordEncoder {
 public:
  JsonEditor(const RecordEdits& edits, EditParts parts)
      : edits_(edits),
        replaces_(parts != EditParts::kAdditions && !edits.replaced().empty()),
        adds_(parts != EditParts::kReplacements && !edits.added().empty()),
        replaced_(edits.replaced(), JsonColumns::kPaths, edits.replaced().size()),
        added_(names_of(edits.added()), JsonColumns::kKeysOrNothing),
        values_(std::max(edits.replaced().size(), edits.added().size())) {}

  std::optional<std::string> append(std::string& out, std::string_view record,
                                    RecordId row) override {
    spans_.clear();
    arena_.clear();
    if (replaces_) {
      if (auto problem = find_replacements(record, row)) return problem;
    }
    if (!adds_) {
      append_replaced(out, record, record.data());
      end_line(out, record);
      return {};
    }
    if (auto problem = added_.read(record, arena_, values_.data()))
      return "malformed JSON: " + problem->why;
    for (std::size_t i = 0; i < edits_.added().size(); ++i) {
      if (added_.raw(i).data() == nullptr) continue;
      return fmt::format(
          "the record has a field \"{}\" already, which is to be added (choose "
          "another name)",
          edits_.added()[i].name);
    }
    append_added(out, record, row);
    end_line(out, record);
    return {};
  }

 private:
  // The last line of a file may have no end, and the records of another file may follow it.
  static void end_line(std::string& out, std::string_view record) {
    if (!record.ends_with('\n')) out += '\n';
  }

  struct Span {
    std::string_view raw;
    std::string text;
  };

  std::optional<std::string> find_replacements(std::string_view record, RecordId row) {
    if (auto problem = replaced_.read(record, arena_, values_.data()))
      return "malformed JSON: " + problem->why;
    for (std::size_t i = 0; i < edits_.replaced().size(); ++i) {
      if (values_[i].data() == nullptr || replaced_.raw(i).data() == nullptr) continue;
      std::string text;
      const auto changed = edits_.replace(i, row, values_[i], text);
      if (!changed) return changed.error().message;
      if (*changed) spans_.push_back({replaced_.raw(i), std::move(text)});
    }
    std::sort(spans_.begin(), spans_.end(),
              [](const Span& a, const Span& b) { return a.raw.data() < b.raw.data(); });
    return {};
  }

  // Appends `record` from `from` on, with the new texts.
  void append_replaced(std::string& out, std::string_view record, const char* from) {
    for (const Span& span : spans_) {
      if (span.raw.data() < from) continue;  // inside a value that was replaced as a whole
      out.append(from, span.raw.data());
      append_json_string(out, span.text);
      from = span.raw.data() + span.raw.size();
    }
    out.append(from, record.data() + record.size());
  }

  void append_added(std::string& out, std::string_view record, RecordId row) {
    const std::size_t brace = record.rfind('}');
    append_replaced(out, record.substr(0, brace), record.data());
    const std::size_t first = record.find_first_not_of(" \t\r\n", record.find('{') + 1);
    bool empty = first == brace;
    for (std::size_t i = 0; i < edits_.added().size(); ++i) {
      if (!empty) out += ',';
      empty = false;
      append_json_string(out, edits_.added()[i].name);
      out += ':';
      append_json_value(out, edits_.added_value(i, row));
    }
    out += record.substr(brace);
  }

  const RecordEdits& edits_;
  bool replaces_;
  bool adds_;
  JsonRecordReader replaced_;
  JsonRecordReader added_;
  ValueArena arena_;
  std::vector<std::string_view> values_;
  std::vector<Span> spans_;
};

std::string_view line_end_of(std::string_view record) {
  if (record.ends_with("\r\n")) return "\r\n";
  return record.ends_with('\n') ? "\n" : "";
}

class CsvEditor : public RecordEncoder {
 public:
  CsvEditor(const RecordEdits& edits, std::span<const std::string> columns, Format format,
            EditParts parts)
      : edits_(edits),
        delimiter_(delimiter_of(format)),
        adds_(parts != EditParts::kReplacements),
        width_(columns.size()) {
    if (parts == EditParts::kAdditions) return;
    for (const std::string& name : edits.replaced()) {
      const auto found = std::find(columns.begin(), columns.end(), name);
      places_.push_back(static_cast<std::size_t>(found - columns.begin()));
    }
  }

  std::optional<std::string> append(std::string& out, std::string_view record,
                                    RecordId row) override {
    if (auto problem = split_csv(record, delimiter_, fields_))
      return "malformed record: " + *problem;
    if (fields_.size() != width_) {
      return fmt::format("malformed record: it has {} values, but the header names {} columns",
                         fields_.size(), width_);
    }
    const char* from = record.data();
    for (std::size_t place = 0; place < width_; ++place) {
      const auto column = std::find(places_.begin(), places_.end(), place);
      if (column == places_.end()) continue;
      arena_.clear();
      text_.clear();
      const auto changed = edits_.replace(static_cast<std::size_t>(column - places_.begin()), row,
                                          unquote_csv(fields_[place], arena_), text_);
      if (!changed) return changed.error().message;
      if (!*changed) continue;
      out.append(from, fields_[place].data());
      append_csv_value(out, text_, delimiter_);
      // An empty line would not be read as a record.
      if (width_ == 1 && text_.empty() && !adds_) out += "\"\"";
      from = fields_[place].data() + fields_[place].size();
    }
    const std::string_view line_end = line_end_of(record);
    out.append(from, record.data() + record.size() - line_end.size());
    if (adds_) append_added(out, row);
    out += line_end.empty() ? "\n" : line_end;
    return {};
  }

 private:
  void append_added(std::string& out, RecordId row) {
    for (std::size_t i = 0; i < edits_.added().size(); ++i) {
      out += delimiter_;
      const auto value = edits_.added_value(i, row);
      if (!value) continue;
      const auto* text = std::get_if<std::string>(&*value);
      append_csv_value(out, text != nullptr ? *text : plain_text(*value), delimiter_);
    }
  }

  const RecordEdits& edits_;
  char delimiter_;
  bool adds_;
  std::size_t width_;
  std::vector<std::size_t> places_;  // in the header, of the replaced columns
  std::vector<std::string_view> fields_;
  ValueArena arena_;
  std::string text_;
};

class Chain : public RecordEncoder {
 public:
  Chain(std::unique_ptr<RecordEncoder> first, std::unique_ptr<RecordEncoder> second)
      : first_(std::move(first)), second_(std::move(second)) {}

  std::optional<std::string> append(std::string& out, std::string_view record,
                                    RecordId row) override {
    between_.clear();
    if (auto problem = first_->append(between_, record, row)) return problem;
    const std::size_t length = between_.size();
    between_.resize(length + kJsonPadding);
    return second_->append(out, std::string_view(between_).substr(0, length), row);
  }

 private:
  std::unique_ptr<RecordEncoder> first_;
  std::unique_ptr<RecordEncoder> second_;
  std::string between_;
};

}  // namespace

std::unique_ptr<RecordEncoder> edit_json(const RecordEdits& edits, EditParts parts) {
  return std::make_unique<JsonEditor>(edits, parts);
}

std::unique_ptr<RecordEncoder> edit_csv(const RecordEdits& edits,
                                        std::span<const std::string> columns, Format format,
                                        EditParts parts) {
  return std::make_unique<CsvEditor>(edits, columns, format, parts);
}

std::string edited_csv_header(const RecordEdits& edits, std::string_view header, Format format) {
  const std::string_view line_end = line_end_of(header);
  std::string line(header.substr(0, header.size() - line_end.size()));
  for (const auto& column : edits.added()) {
    line += delimiter_of(format);
    append_csv_value(line, column.name, delimiter_of(format));
  }
  return line.append(line_end);
}

std::unique_ptr<RecordEncoder> chain(std::unique_ptr<RecordEncoder> first,
                                     std::unique_ptr<RecordEncoder> second) {
  if (first == nullptr) return second;
  if (second == nullptr) return first;
  return std::make_unique<Chain>(std::move(first), std::move(second));
}

Status check_edits(const RecordEdits& edits, std::span<const std::string> columns) {
  for (const std::string& name : edits.replaced()) {
    if (name.find("[]") == std::string::npos) continue;
    return Error{Code::kInvalidArgument,
                 fmt::format("the texts of {} cannot be replaced: they are many texts of one "
                             "record (use a field without [])",
                             name)};
  }
  for (const auto& column : edits.added()) {
    if (std::find(columns.begin(), columns.end(), column.name) == columns.end()) continue;
    return Error{Code::kInvalidArgument,
                 fmt::format("there is a column \"{}\" already, which is to be added (choose "
                             "another name)",
                             column.name)};
  }
  return Done{};
}

}  // namespace kin::data
