// The rows of the truth: what stands under the keys of entity_keys.h. Every value begins with the
// version of its format; decoders take any bytes and refuse (kDataLoss) what no encoder writes.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/hash.h"
#include "base/result.h"
#include "index/entity.h"
#include "index/truth/doc_kind.h"
#include "index/truth/entity_keys.h"
#include "index/truth/name_id.h"

namespace kin::index {

inline constexpr std::size_t kMaxDimensions = 65'536;

// What the next change gets. One row, in every batch.
struct Counters {
  Lsn last_lsn = 0;             // of the last change
  Lsn trimmed = 0;              // changes up to this one are no longer kept
  std::uint32_t numbers = 0;    // given out; the next document gets this one
  std::uint32_t names = 0;      // given out
  std::uint64_t entities = 0;   // that are there
  std::uint64_t edges = 0;      // that are there
  std::uint64_t fragments = 0;  // that are there, of both kinds
  friend bool operator==(const Counters&, const Counters&) = default;
};

// Under `entities`. A deleted entity leaves its version and its partition.
struct HeadRow {
  bool deleted = false;
  EntityHead head = {};
  Version born = {};  // since when it is there without having been deleted
  NameId source{};
  std::vector<NameId> spaces = {};  // it has vectors of
  std::vector<Hash128> summaries = {};
  friend bool operator==(const HeadRow&, const HeadRow&) = default;
};

struct AttributeRow {
  NameId name{};
  AttributeValue value = {};
  friend bool operator==(const AttributeRow&, const AttributeRow&) = default;
};

// Under `contents`, by number.
struct ContentRow {
  std::string key = {};
  std::string title = {};
  std::string text = {};
  std::vector<std::string> tags = {};
  std::vector<AttributeRow> attributes = {};
  friend bool operator==(const ContentRow&, const ContentRow&) = default;
};

// Under `forward_edges`. A removed edge leaves its version.
struct EdgeRow {
  bool deleted = false;
  double weight = 1;
  Millis until = kForever;
  Version version = {};
  DocNumber number = kNoNumber;  // there if and only if `summary` is
  std::optional<Hash128> summary = {};
  friend bool operator==(const EdgeRow&, const EdgeRow&) = default;
};

// Under `reverse_edges`: enough to walk by.
struct ReverseRow {
  double weight = 1;
  Millis until = kForever;
  friend bool operator==(const ReverseRow&, const ReverseRow&) = default;
};

// Under `entity_fragments` and `edge_fragments`.
struct FragmentRow {
  Version version = {};
  DocNumber number = kNoNumber;
  std::string text = {};
  friend bool operator==(const FragmentRow&, const FragmentRow&) = default;
};

// Under `documents`: the kind, and the key of the row it is the number of.
struct DocumentRow {
  DocKind kind = DocKind::kEntity;
  std::string key = {};
  friend bool operator==(const DocumentRow&, const DocumentRow&) = default;
};

std::string encode(const Counters& counters);
std::string encode(const HeadRow& row);
std::string encode(const ContentRow& row);
std::string encode(const EdgeRow& row);
std::string encode(const ReverseRow& row);
std::string encode(const FragmentRow& row);
std::string encode(const DocumentRow& row);
std::string encode_vector(std::span<const float> values);
std::string encode_name(std::string_view name);
std::string encode_summary_text(std::string_view text);
std::string encode_summary_count(std::uint64_t count);

Result<Counters> decode_counters(std::string_view bytes);
Result<HeadRow> decode_head(std::string_view bytes);
Result<ContentRow> decode_content(std::string_view bytes);
Result<EdgeRow> decode_edge(std::string_view bytes);
Result<ReverseRow> decode_reverse(std::string_view bytes);
Result<FragmentRow> decode_fragment(std::string_view bytes);
Result<DocumentRow> decode_document(std::string_view bytes);
Result<std::vector<float>> decode_vector(std::string_view bytes);
Result<std::string> decode_name(std::string_view bytes);
Result<std::string> decode_summary_text(std::string_view bytes);
Result<std::uint64_t> decode_summary_count(std::string_view bytes);

}  // namespace kin::index
