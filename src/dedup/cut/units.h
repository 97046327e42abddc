// The units of a record: the parts in which its text is compared and cut.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/hash.h"
#include "base/result.h"
#include "data/batch.h"
#include "dedup/cut_options.h"
#include "text/normalize.h"

namespace kin::dedup {

// A range of bytes of a field's text.
struct ByteRange {
  std::uint32_t begin = 0;
  std::uint32_t end = 0;
  friend auto operator<=>(const ByteRange&, const ByteRange&) = default;
};

// Units, numbered from 0 over all fields of a record: [begin, end).
struct UnitRange {
  std::uint32_t begin = 0;
  std::uint32_t end = 0;
  std::uint32_t count() const { return end - begin; }
  friend auto operator<=>(const UnitRange&, const UnitRange&) = default;
};

// The lines, paragraphs, words or bytes of one record at a time, in order, over all its fields. A
// line is the text between line feeds, without a carriage return at its end; a paragraph is a run
// of lines that are not blank. A null field has no units. One thread only; holds views of the texts
// it was given.
class Units {
 public:
  struct Field {
    std::string_view text;
    UnitRange units;
  };

  Units(const CutOptions& options, text::Normalization normalization)
      : options_(options), normalization_(normalization) {}

  // Splits the first `fields` columns of a record of `batch`. A record of 4 GiB or more is an
  // error.
  Status read(const data::Batch& batch, std::size_t record, std::size_t fields);
  // The same for texts; nothing for a null.
  Status read(std::span<const std::optional<std::string_view>> values);

  // Frees the memory of the record: that of a long one is not kept for the records after it.
  void forget();

  std::uint32_t count() const { return count_; }
  // Whether one of the fields is not null.
  bool has_text() const { return has_text_; }
  std::size_t text_bytes() const { return text_bytes_; }
  const std::vector<Field>& fields() const { return fields_; }
  std::size_t field_of(std::uint32_t unit) const;
  // The position of the unit in its field.
  ByteRange range(std::uint32_t unit) const {
    if (options_.unit == CutOptions::Unit::kByte) return byte_range(unit);
    return ranges_[unit];
  }

  // Hashes of the words or bytes of one field, by their number in it. Valid until the next call.
  class Symbols {
   public:
    std::uint64_t operator[](std::size_t i) const {
      return words_ != nullptr ? words_[i] : kBytes[static_cast<unsigned char>(bytes_[i])];
    }

    // Hashes of words in a row. Not for bytes.
    std::span<const std::uint64_t> words(std::size_t first, std::size_t count) const {
      return {words_ + first, count};
    }

   private:
    friend class Units;
    static const std::array<std::uint64_t, 256> kBytes;
    const std::uint64_t* words_ = nullptr;
    const char* bytes_ = nullptr;
  };
  Symbols symbols(const Field& field);
  // The compared text of a unit: normalised for lines and paragraphs. Valid until the next
  // call.
  std::string_view text(std::uint32_t unit);
  // A hash of text() of a line or paragraph; nothing if it is too short to be cut.
  std::optional<Hash128> key(std::uint32_t unit);

 private:
  ByteRange byte_range(std::uint32_t unit) const;
  void split_lines(std::string_view text);
  void split_paragraphs(std::string_view text);
  void split_words(std::string_view text);
  bool is_long_enough(std::string_view normalized);

  CutOptions options_;
  text::Normalization normalization_;
  std::vector<Field> fields_;
  std::uint32_t count_ = 0;
  bool has_text_ = false;
  std::size_t text_bytes_ = 0;
  std::vector<ByteRange> ranges_;  // by unit; empty for bytes
  std::string normalized_;
  std::vector<std::string_view> words_;
  std::vector<std::uint64_t> symbols_;
  std::vector<std::optional<std::string_view>> values_;
};

}  // namespace kin::dedup
