// Applies edits to records of text formats.
#pragma once

#include <memory>
#include <span>
#include <string>
#include <vector>

#include "data/edits.h"
#include "data/text/record_encoder.h"

namespace kin::data {

// The edits to make. A converted record may be changed before the conversion and get its columns
// after it, if the new format has types for them.
enum class EditParts { kAll, kReplacements, kAdditions };

// Edits JSON objects: a value is replaced in place, new keys come before the closing brace, every
// other byte stays; a record without a line end gets one. `edits` must outlive it.
std::unique_ptr<RecordEncoder> edit_json(const RecordEdits& edits, EditParts parts);

// The same for CSV and TSV. `columns` are the names of the header.
std::unique_ptr<RecordEncoder> edit_csv(const RecordEdits& edits,
                                        std::span<const std::string> columns, Format format,
                                        EditParts parts);
// `header` with the names of the added columns.
std::string edited_csv_header(const RecordEdits& edits, std::string_view header, Format format);

// Passes the output of `first` to `second`. Each is an encoder of one thread.
std::unique_ptr<RecordEncoder> chain(std::unique_ptr<RecordEncoder> first,
                                     std::unique_ptr<RecordEncoder> second);

// An error if the edits cannot be made in text: a path through a list has many texts, and an added
// column must not exist yet. `columns` are those of CSV; empty for JSONL.
Status check_edits(const RecordEdits& edits, std::span<const std::string> columns);

}  // namespace kin::data
