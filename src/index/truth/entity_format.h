// The rows of the truth, under the keys of entity_keys.h. Every row begins with the version of its
// format. Decoders take any bytes: kDataLoss for what no encoder writes, kFailedPrecondition for a
// version that this program does not read.
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
#include "index/truth/entity_bytes.h"
#include "index/truth/entity_keys.h"
#include "index/truth/name_id.h"

namespace kin::index {

// One row, written with every batch. Tombstones do not count.
struct Counters {
  Lsn last_lsn = 0;           // of the last change
  Lsn trimmed = 0;            // the log keeps the changes after this one
  std::uint32_t numbers = 0;  // given out; the next document gets this one
  std::uint32_t names = 0;    // given out
  std::uint64_t entities = 0;
  std::uint64_t edges = 0;
  std::uint64_t fragments = 0;  // of entities and of edges
  friend bool operator==(const Counters&, const Counters&) = default;
};

// Under `entities`. A deleted entity leaves its versions and its partition.
struct HeadRow {
  bool deleted = false;
  EntityHead head = {};
  NameId source{};
  std::vector<NameId> spaces = {};  // in which it has a vector
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
  DocNumber number = kNoNumber;  // only of an edge with a summary
  std::optional<Hash128> summary = {};
  friend bool operator==(const EdgeRow&, const EdgeRow&) = default;
};

// Under `reverse_edges`: what a walk needs.
struct ReverseRow {
  double weight = 1;
  Millis until = kForever;
  friend bool operator==(const ReverseRow&, const ReverseRow&) = default;
};

// Under `entity_fragments` and `edge_fragments`. A removed fragment leaves its version.
struct FragmentRow {
  bool deleted = false;
  Version version = {};
  DocNumber number = kNoNumber;
  std::string text = {};
  friend bool operator==(const FragmentRow&, const FragmentRow&) = default;
};

// Under `documents`: the kind of a document, and the key of its row.
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
std::string encode(const Ownership& owner);
std::string encode_follower(Lsn applied);
std::string encode_session(std::uint64_t sequence);
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
Result<Ownership> decode_owner(std::string_view bytes);
Result<Lsn> decode_follower(std::string_view bytes);
Result<std::uint64_t> decode_session(std::string_view bytes);
Result<std::vector<float>> decode_vector(std::string_view bytes);
Result<std::string> decode_name(std::string_view bytes);
Result<std::string> decode_summary_text(std::string_view bytes);
Result<std::uint64_t> decode_summary_count(std::string_view bytes);

}  // namespace kin::index
