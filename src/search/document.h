// A document, as in a line of JSON, a row of a table or the body of a request.
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

inline constexpr std::string_view kLinkName = "links";  // the default name of a link

struct Link {
  std::string to = {};  // id of a document, which need not be there
  std::string name = std::string(kLinkName);
  double weight = 1;
  index::Validity valid = {};
  std::string summary = {};                     // what the link says; searched as a text of its own
  std::vector<index::Fragment> fragments = {};  // added to those it has
  // Used instead of all of the above but `to` and `name`: ends the link that holds at this moment.
  // Other links by the name stay as they are.
  std::optional<index::Millis> until = {};
  friend bool operator==(const Link&, const Link&) = default;
};

// The id is unique within an index, whatever the source.
struct Document {
  std::string id = {};
  std::string title = {};
  std::string text = {};
  std::string source = {};
  std::vector<std::string> tags = {};
  std::optional<std::vector<Link>> links = {};  // nothing: the links it has stay
  std::vector<float> embedding = {};
  std::vector<index::SpaceVector> embeddings = {};  // of the named spaces
  index::Validity valid = {};                       // by default from `published` on
  std::optional<index::Millis> published = {};
  std::vector<std::string> summaries = {};        // searched with the text
  std::vector<index::Fragment> fragments = {};    // added to those it has; texts of their own
  std::vector<index::Attribute> attributes = {};  // all other fields
  friend bool operator==(const Document&, const Document&) = default;
};

// kInvalidArgument names the field that is wrong. Thread-safe.
Result<Document> document_of(const data::JsonValue& json);

// Reads a row of a table: columns and their texts. Columns that hold lists or objects are read as
// JSON; tags and links may also be separated by commas.
using Row = std::vector<std::pair<std::string, std::string>>;
Result<Document> document_of(const Row& row);

// Writes what document_of() reads. Links, vectors, summaries and fragments only if there are any.
void write_document(JsonWriter& json, const Document& document);

// The mutations that write it into a shard, the document itself first; `space` is that of
// `embedding`. Links by one name replace all links by that name; links with `until` end others.
std::vector<index::Mutation> mutations_of(const Document& document, std::string_view space);
// The document of a stored entity, without links and fragments.
Document document_of(const index::Entity& entity);

DocId doc_id(std::string_view id);

// Reads ISO 8601, a year, a year and a month, or seconds since 1970.
Result<index::Millis> moment_of(std::string_view text);
// Writes "2024-03-05T13:05:00Z", or null for kBeginning and kForever.
void write_moment(JsonWriter& json, std::string_view name, index::Millis moment);

}  // namespace kin::search
