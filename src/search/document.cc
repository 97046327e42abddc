#include "search/document.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <iterator>
#include <map>
#include <span>

#include "data/timestamp.h"

namespace kin::search {
namespace {

using data::JsonValue;
using index::Attribute;
using index::Millis;

constexpr std::string_view kPublished = "published";

Error wrong(std::string_view field, std::string_view what) {
  return {Code::kInvalidArgument, fmt::format("field \"{}\" {}", field, what)};
}

// Doubles, which numbers in JSON are, hold whole numbers exactly up to 2^53, about 9.007e15.
bool is_whole(double number) {
  return number == std::floor(number) && std::abs(number) < 9e15;
}

// A number as an id is written: whole ones without a point.
std::string number_text(double number) {
  if (is_whole(number)) return std::to_string(static_cast<std::int64_t>(number));
  return fmt::format("{}", number);
}

void write_value(JsonWriter& json, const JsonValue& value) {
  if (const bool* truth = value.boolean()) {
    json.value(*truth);
  } else if (const double* number = value.number()) {
    json.raw(number_text(*number));
  } else if (const std::string* text = value.string()) {
    json.value(*text);
  } else if (const JsonValue::Object* object = value.object()) {
    json.begin_object();
    for (const auto& [name, member] : *object) write_value(json.key(name), member);
    json.end();
  } else if (value.is_null()) {
    json.null();
  } else {
    json.begin_array();
    for (const JsonValue& item : value.items()) write_value(json, item);
    json.end();
  }
}

// Ids and titles of datasets are often numbers, so these are texts too. Null counts as missing.
Result<std::string> text_in(std::string_view field, const JsonValue& value) {
  if (value.is_null()) return std::string();
  if (const std::string* text = value.string()) return *text;
  if (const double* number = value.number()) return number_text(*number);
  return wrong(field, "is not a text");
}

// The items of a list, or a value that is not a list as the only item.
std::span<const JsonValue> items_of(const JsonValue& value) {
  return value.array() != nullptr ? std::span(*value.array()) : std::span(&value, 1);
}

Result<std::vector<std::string>> texts_in(std::string_view field, const JsonValue& value) {
  std::vector<std::string> texts;
  for (const JsonValue& item : items_of(value)) {
    KIN_TRY(std::string text, text_in(field, item));
    if (!text.empty()) texts.push_back(std::move(text));
  }
  return texts;
}

Result<std::vector<float>> vector_in(std::string_view field, const JsonValue& value) {
  std::vector<float> vector;
  if (value.is_null()) return vector;
  if (value.array() == nullptr) return wrong(field, "is not a list of numbers");
  for (const JsonValue& item : value.items()) {
    const double* number = item.number();
    // A number may be finite as a double and not as a float.
    if (number == nullptr || !std::isfinite(static_cast<float>(*number)))
      return wrong(field, "is not a list of numbers");
    vector.push_back(static_cast<float>(*number));
  }
  return vector;
}

Result<Millis> moment_in(std::string_view field, const JsonValue& value, Millis otherwise) {
  if (value.is_null()) return otherwise;
  KIN_TRY(const std::string text, text_in(field, value));
  if (text.empty()) return otherwise;
  auto moment = moment_of(text);
  if (!moment) return with_context(fmt::format("field \"{}\"", field), moment.error());
  return *moment;
}

Result<index::Validity> validity_in(const JsonValue& json, Millis otherwise) {
  index::Validity valid;
  KIN_TRY(valid.from, moment_in("valid_from", json["valid_from"], otherwise));
  KIN_TRY(valid.until, moment_in("valid_until", json["valid_until"], index::kForever));
  if (valid.from >= valid.until) return wrong("valid_until", "is not later than \"valid_from\"");
  return valid;
}

Result<std::vector<index::Fragment>> fragments_in(std::string_view field, const JsonValue& value) {
  std::vector<index::Fragment> fragments;
  if (value.is_null()) return fragments;
  if (value.array() == nullptr) return wrong(field, "is not a list of fragments");
  for (const JsonValue& item : value.items()) {
    index::Fragment fragment;
    KIN_TRY(fragment.text, text_in(field, item["text"]));
    KIN_TRY(fragment.time, moment_in(field, item["time"], index::kBeginning));
    // kBeginning is what moment_in() gives for a missing time.
    if (fragment.text.empty() || fragment.time == index::kBeginning)
      return wrong(field, "has a fragment without \"time\" or \"text\"");
    fragments.push_back(std::move(fragment));
  }
  return fragments;
}

// A text or a number is the id that the link leads to.
Result<Link> link_in(const JsonValue& value) {
  if (value.object() == nullptr) {
    KIN_TRY(std::string to, text_in("links", value));
    if (to.empty()) return wrong("links", "has an empty link");
    return Link{.to = std::move(to)};
  }
  Link link;
  KIN_TRY(link.to, text_in("links.to", value["to"]));
  if (link.to.empty()) return wrong("links", "has a link without \"to\"");
  KIN_TRY(const std::string name, text_in("links.name", value["name"]));
  if (!name.empty()) link.name = name;
  if (const JsonValue& weight = value["weight"]; !weight.is_null()) {
    if (weight.number() == nullptr || !std::isfinite(*weight.number()))
      return wrong("links", "has a weight that is not a number");
    link.weight = *weight.number();
  }
  auto valid = validity_in(value, index::kBeginning);
  if (!valid) return with_context("links", valid.error());
  link.valid = *valid;
  KIN_TRY(link.summary, text_in("links.summary", value["summary"]));
  KIN_TRY(link.fragments, fragments_in("links.fragments", value["fragments"]));
  if (value["until"].is_null()) return link;
  KIN_TRY(link.until, moment_in("links.until", value["until"], index::kForever));
  // Any other field that is set makes the two differ.
  if (link != Link{.to = link.to, .name = link.name, .until = link.until})
    return wrong("links", "has a link with \"until\" and other fields than \"to\" and \"name\"");
  return link;
}

Result<std::optional<std::vector<Link>>> links_in(const JsonValue& value) {
  if (value.is_null()) return std::optional<std::vector<Link>>();
  std::vector<Link> links;
  for (const JsonValue& item : items_of(value)) {
    KIN_TRY(Link link, link_in(item));
    links.push_back(std::move(link));
  }
  return std::optional(std::move(links));
}

Result<std::vector<index::SpaceVector>> embeddings_in(const JsonValue& value) {
  std::vector<index::SpaceVector> vectors;
  if (value.is_null()) return vectors;
  if (value.object() == nullptr)
    return wrong("embeddings", "is not an object with lists of numbers");
  for (const auto& [space, numbers] : *value.object()) {
    KIN_TRY(std::vector<float> values, vector_in("embeddings." + space, numbers));
    if (!values.empty()) vectors.push_back({space, std::move(values)});
  }
  return vectors;
}

std::optional<index::AttributeValue> attribute_of(const JsonValue& value) {
  if (value.is_null()) return std::nullopt;
  if (const bool* truth = value.boolean()) return *truth;
  if (const std::string* text = value.string()) return *text;
  if (const double* number = value.number()) {
    if (is_whole(*number)) return static_cast<std::int64_t>(*number);
    return *number;
  }
  // Attributes have no lists or objects: these are kept as their JSON.
  JsonWriter json;
  write_value(json, value);
  return json.take();
}

bool is_known(std::string_view field) {
  constexpr std::string_view kKnown[] = {
      "id",     "title",      "text",        "tags",     "links",   "embedding", "embeddings",
      "source", "valid_from", "valid_until", kPublished, "summary", "summaries", "fragments"};
  return std::ranges::find(kKnown, field) != std::end(kKnown);
}

Status fill_texts(const JsonValue& json, Document& document) {
  KIN_TRY(document.id, text_in("id", json["id"]));
  if (document.id.empty()) return Error{Code::kInvalidArgument, "a document needs an \"id\""};
  KIN_TRY(document.title, text_in("title", json["title"]));
  KIN_TRY(document.text, text_in("text", json["text"]));
  KIN_TRY(document.source, text_in("source", json["source"]));
  KIN_TRY(document.tags, texts_in("tags", json["tags"]));
  KIN_TRY(document.summaries, texts_in("summaries", json["summaries"]));
  KIN_TRY(std::string summary, text_in("summary", json["summary"]));
  if (!summary.empty()) document.summaries.push_back(std::move(summary));
  KIN_TRY(document.fragments, fragments_in("fragments", json["fragments"]));
  return Done{};
}

// "a, b" as a list, as people write tags into tables.
JsonValue separated(std::string_view text) {
  JsonValue::Array items;
  for (std::size_t from = 0; from <= text.size();) {
    const std::size_t comma = std::min(text.find(',', from), text.size());
    std::string_view item = text.substr(from, comma - from);
    while (item.starts_with(' ')) item.remove_prefix(1);
    while (item.ends_with(' ')) item.remove_suffix(1);
    if (!item.empty()) items.emplace_back(std::string(item));
    from = comma + 1;
  }
  return JsonValue(std::move(items));
}

// Cells of tables are texts. Only columns whose fields are lists or objects are read as JSON: a
// title may begin with a bracket.
Result<JsonValue> cell_of(const std::string& column, const std::string& text) {
  const bool structured = column == "tags" || column == "links" || column == "embedding" ||
                          column == "embeddings" || column == "summaries" || column == "fragments";
  if (!structured) return JsonValue(text);
  if (text.empty()) return JsonValue();
  const bool is_list = text.starts_with('[') && text.ends_with(']');
  const bool is_object = text.starts_with('{') && text.ends_with('}');
  if (is_list || is_object) {
    auto parsed = data::parse_json(text);
    if (!parsed) return with_context(fmt::format("column \"{}\"", column), parsed.error());
    return parsed;
  }
  return column == "tags" || column == "links" ? separated(text) : JsonValue(text);
}

void write_fragments(JsonWriter& json, const std::vector<index::Fragment>& fragments) {
  if (fragments.empty()) return;
  json.key("fragments").begin_array();
  for (const index::Fragment& fragment : fragments) {
    json.begin_object();
    write_moment(json, "time", fragment.time);
    json.field("text", fragment.text).end();
  }
  json.end();
}

void write_links(JsonWriter& json, const std::vector<Link>& links) {
  json.key("links").begin_array();
  for (const Link& link : links) {
    json.begin_object().field("to", link.to).field("name", link.name);
    json.field("weight", link.weight);
    write_moment(json, "valid_from", link.valid.from);
    write_moment(json, "valid_until", link.valid.until);
    if (!link.summary.empty()) json.field("summary", link.summary);
    write_fragments(json, link.fragments);
    json.end();
  }
  json.end();
}

void write_vector(JsonWriter& json, const std::vector<float>& vector) {
  json.begin_array();
  // The fewest digits that keep a float; as a double it would have twice as many.
  for (const float number : vector) json.raw(fmt::format("{}", number));
  json.end();
}

// Sets the links of each name as a whole, then ends links and adds fragments to links: a fragment
// is refused unless its link is there.
void add_links(const DocId& id, const std::vector<Link>& links,
               std::vector<index::Mutation>& mutations) {
  std::map<std::string, index::SetEdges> by_name;
  std::vector<index::Mutation> later;
  const auto set_of = [&](const std::string& name) -> index::SetEdges& {
    return by_name.try_emplace(name, index::SetEdges{.from = id, .name = name}).first->second;
  };
  // A list without links by the usual name removes those; one that only ends links removes none.
  if (std::ranges::none_of(links, [](const Link& link) { return link.until.has_value(); }))
    set_of(std::string(kLinkName));
  for (const Link& link : links) {
    const DocId to = doc_id(link.to);
    for (const index::Fragment& fragment : link.fragments)
      later.emplace_back(
          index::AddEdgeFragment{.from = id, .name = link.name, .to = to, .fragment = fragment});
    if (link.until) {
      later.emplace_back(
          index::CloseEdge{.from = id, .name = link.name, .to = to, .at = *link.until});
      continue;
    }
    index::SetEdges& set = set_of(link.name);
    index::Edge edge{.id = {id, link.name, to, link.valid.from},
                     .until = link.valid.until,
                     .weight = link.weight,
                     .summary = link.summary};
    // A link that is named twice is one edge; a set with equal edges would be refused.
    const auto same = [&](const index::Edge& other) { return other.id == edge.id; };
    if (std::ranges::none_of(set.edges, same)) set.edges.push_back(std::move(edge));
  }
  for (auto& [name, set] : by_name) mutations.emplace_back(std::move(set));
  std::ranges::move(later, std::back_inserter(mutations));
}

}  // namespace

DocId doc_id(std::string_view id) {
  return doc_id_of("", id);
}

Result<Document> document_of(const JsonValue& json) {
  if (json.object() == nullptr)
    return Error{Code::kInvalidArgument, "a document must be a JSON object"};
  Document document;
  KIN_RETURN_IF_ERROR(fill_texts(json, document));
  KIN_TRY(document.links, links_in(json["links"]));
  KIN_TRY(document.embedding, vector_in("embedding", json["embedding"]));
  KIN_TRY(document.embeddings, embeddings_in(json["embeddings"]));
  if (const JsonValue& published = json[kPublished]; !published.is_null()) {
    KIN_TRY(document.published, moment_in(kPublished, published, index::kBeginning));
    // An empty text is not a time, as in the columns of tables.
    if (document.published == index::kBeginning) document.published = std::nullopt;
  }
  KIN_TRY(document.valid, validity_in(json, document.published.value_or(index::kBeginning)));
  for (const auto& [name, value] : *json.object()) {
    if (name.empty() || is_known(name)) continue;
    if (auto attribute = attribute_of(value))
      document.attributes.push_back({name, std::move(*attribute)});
  }
  return document;
}

Result<Document> document_of(const Row& row) {
  JsonValue::Object object;
  for (const auto& [column, text] : row) {
    KIN_TRY(JsonValue value, cell_of(column, text));
    object.emplace_back(column, std::move(value));
  }
  return document_of(JsonValue(std::move(object)));
}

void write_moment(JsonWriter& json, std::string_view name, Millis moment) {
  json.key(name);
  if (moment == index::kBeginning || moment == index::kForever) {
    json.null();
    return;
  }
  // Whole seconds, rounded down before 1970 too.
  json.value(data::format_timestamp(moment / 1000 - (moment % 1000 < 0 ? 1 : 0)));
}

void write_document(JsonWriter& json, const Document& document) {
  json.begin_object().field("id", document.id);
  json.field("title", document.title).field("text", document.text);
  json.field("tags", document.tags).field("source", document.source);
  write_moment(json, kPublished, document.published.value_or(index::kBeginning));
  write_moment(json, "valid_from", document.valid.from);
  write_moment(json, "valid_until", document.valid.until);
  if (!document.summaries.empty()) json.field("summaries", document.summaries);
  write_fragments(json, document.fragments);
  if (document.links) write_links(json, *document.links);
  if (!document.embedding.empty()) write_vector(json.key("embedding"), document.embedding);
  if (!document.embeddings.empty()) {
    json.key("embeddings").begin_object();
    for (const index::SpaceVector& vector : document.embeddings)
      write_vector(json.key(vector.space), vector.values);
    json.end();
  }
  for (const Attribute& attribute : document.attributes) {
    json.key(attribute.name);
    std::visit([&](const auto& value) { json.value(value); }, attribute.value);
  }
  json.end();
}

std::vector<index::Mutation> mutations_of(const Document& document, std::string_view space) {
  index::Entity entity{.id = doc_id(document.id),
                       .key = document.id,
                       .source = document.source,
                       .title = document.title,
                       .text = document.text,
                       .tags = document.tags,
                       .attributes = document.attributes,
                       .vectors = document.embeddings,
                       .valid = document.valid,
                       .summaries = document.summaries};
  // Entities have no field for it: it is an attribute, which document_of() takes out again.
  if (document.published)
    entity.attributes.push_back({std::string(kPublished), *document.published});
  if (!document.embedding.empty())
    entity.vectors.push_back({std::string(space), document.embedding});
  // The entity comes first: its fragments are refused while it is not there.
  const DocId id = entity.id;
  std::vector<index::Mutation> mutations{index::PutEntity{.entity = std::move(entity)}};
  if (document.links) add_links(id, *document.links, mutations);
  for (const index::Fragment& fragment : document.fragments)
    mutations.emplace_back(index::AddFragment{.id = id, .fragment = fragment});
  return mutations;
}

Document document_of(const index::Entity& entity) {
  Document document{.id = entity.key,
                    .title = entity.title,
                    .text = entity.text,
                    .source = entity.source,
                    .tags = entity.tags,
                    .valid = entity.valid,
                    .summaries = entity.summaries};
  for (const Attribute& attribute : entity.attributes) {
    const auto* moment = std::get_if<std::int64_t>(&attribute.value);
    if (attribute.name == kPublished && moment != nullptr) {
      document.published = *moment;
    } else {
      document.attributes.push_back(attribute);
    }
  }
  return document;
}

Result<Millis> moment_of(std::string_view text) {
  std::string whole(text);
  // A year or a month stands for its first day. parse_timestamp() refuses what only looks like one.
  if (text.size() == 4) whole += "-01-01";
  if (text.size() == 7 && text[4] == '-') whole += "-01";
  if (const auto seconds = data::parse_timestamp(whole)) return *seconds * 1000;
  return Error{
      Code::kInvalidArgument,
      fmt::format("\"{}\" is not a time (write it like 2024-03-05 or 2024-03-05T13:05:00Z)", text)};
}

}  // namespace kin::search
