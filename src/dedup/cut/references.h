// The texts that matches are compared with.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "base/ids.h"
#include "base/result.h"
#include "dedup/cut/cut_input.h"
#include "dedup/cut/plans.h"
#include "store/kept_values.h"

namespace kin::dedup {

// Some units of one record: their texts, normalised for lines and paragraphs, and their
// places.
class Reference {
 public:
  // Units of one field in a row.
  struct Run {
    UnitRange units;
    std::uint32_t field = 0;
    std::vector<ByteRange> ranges;    // by unit; for bytes one, of all of them
    std::vector<std::uint32_t> ends;  // of the units in `text`; empty for bytes
    std::string text;

    std::string_view text_of(std::uint32_t unit) const;
    // The position of units of the run in their field.
    ByteRange range_of(UnitRange some) const;
  };

  static Result<Reference> decode(std::string_view bytes);

  const std::optional<std::string>& id() const { return id_; }
  // The run that has this unit; nothing if there is none.
  const Run* find(std::uint32_t unit) const;
  // Approximate bytes of memory.
  std::size_t memory() const;

 private:
  std::optional<std::string> id_;
  std::vector<Run> runs_;  // in order
};

// The references of all records, on disk except for an index. Reading is thread-safe.
struct References {
  std::unique_ptr<store::KeptValues> values;
};

// Reads the records with references again and keeps their texts and ids, if any.
Result<References> collect_references(const CutInput& input, const Plans& plans);

// Reads references and caches some. One thread only; several may share the references.
class ReferenceReader {
 public:
  ReferenceReader(const References& references, std::uint64_t memory)
      : references_(references), memory_(memory) {}

  // Valid until the next call.
  Result<const Reference*> get(RecordId record);

 private:
  const References& references_;
  std::uint64_t memory_;
  std::uint64_t used_ = 0;
  std::unordered_map<RecordId, Reference> remembered_;
};

}  // namespace kin::dedup
