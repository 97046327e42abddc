// A document as people bring it: a line of JSON, a row of a table, the body of a request.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/json_writer.h"
#include "base/result.h"
#include "data/json_value.h"
#include "index/entity.h"
#include "index/mutation.h"

namespace kin::search {

inline constexpr std::string_view kLinkName = "links";  // of links that have no name of their own

struct Link {
  std::string to = {};  // id of a document, which need not be there
  std::string name = std::string(kLinkName);
  double weight = 1;
  index::Validity valid = {};
  friend bool operator==(const Link&, const Link&) = default;
};

// Within an index an id is one document, whatever its source.
struct Document {
  std::string id = {};
  std::string title = {};
  std::string text = {};
  std::string source = {};
  std::vector<std::string> tags = {};
  std::optional<std::vector<Link>> links = {};  // nothing: those it had stay
  std::vector<float> embedding = {};
  std::vector<index::SpaceVector> embeddings = {};  // of spaces that have names
  index::Validity valid = {};  // from when it was published, if nothing is said
  std::optional<index::Millis> published = {};
  std::vector<index::Attribute> attributes = {};  // whatever else it has
  friend bool operator==(const Document&, const Document&) = default;
};

// kInvalidArgument names the field that makes no sense. Thread-safe.
Result<Document> document_of(const data::JsonValue& json);

// The same of a row of a table: columns and their texts. Texts that are JSON where a list or an
// object is meant are read as such; tags may also be separated by commas.
using Row = std::vector<std::pair<std::string, std::string>>;
Result<Document> document_of(const Row& row);

// As document_of() reads it. Links and vectors are written if they are there.
void write_document(JsonWriter& json, const Document& document);

// What is written into a shard for it; `space` is that of `embedding`. Links by one name replace
// those there were by that name.
std::vector<index::Mutation> mutations_of(const Document& document, std::string_view space);
// Of what a shard holds.
Document document_of(const index::Entity& entity);

DocId doc_id(std::string_view id);

// A moment as people write it: ISO 8601, a year, a year and a month, or seconds since 1970.
Result<index::Millis> moment_of(std::string_view text);
// "2024-03-05T13:05:00Z", or null for the beginning and the end of time.
void write_moment(JsonWriter& json, std::string_view name, index::Millis moment);

}  // namespace kin::search
