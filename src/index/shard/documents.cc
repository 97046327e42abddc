#include "index/shard/documents.h"

#include <fmt/format.h>

#include "base/bytes.h"
#include "base/hash.h"

namespace kin::index {
namespace {

// Documents per page.
constexpr std::size_t kPage = 4'000;

std::string as_text(const AttributeValue& value) {
  struct Print {
    std::string operator()(const std::string& text) const { return text; }
    std::string operator()(std::int64_t number) const { return fmt::format("{}", number); }
    std::string operator()(double number) const { return fmt::format("{}", number); }
    std::string operator()(bool truth) const { return truth ? "true" : "false"; }
  };
  return std::visit(Print{}, value);
}

// Values of facets must not have control characters.
void add_facet(TextDocument& document, std::size_t facet, std::string value) {
  if (value.empty() || value.size() > kMostFacetBytes) return;
  for (char& c : value) {
    if (static_cast<unsigned char>(c) < 0x20) c = ' ';
  }
  document.facets.push_back({.facet = facet, .value = std::move(value)});
}

TextDocument begun(DocKind kind, DocNumber number) {
  TextDocument document{.number = static_cast<std::uint32_t>(number), .kind = kind};
  add_facet(document, kTypeFacet, std::string(name_of(kind)));
  return document;
}

TextDocument made(const StoredEntity& stored) {
  const Entity& entity = stored.entity;
  TextDocument document = begun(DocKind::kEntity, stored.head.number);
  document.valid_from = entity.valid.from;
  document.valid_until = entity.valid.until;
  std::string text = entity.text;
  for (const std::string& summary : entity.summaries) text += "\n\n" + summary;
  // Tags are searched as words, and filtered by as facets.
  std::string tags;
  for (const std::string& tag : entity.tags) {
    tags += tag + '\n';
    add_facet(document, kTagFacet, tag);
  }
  document.fields = {entity.title, std::move(text), std::move(tags)};
  add_facet(document, kSourceFacet, entity.source);
  for (const Attribute& attribute : entity.attributes)
    add_facet(document, kAttributeFacet, attribute.name + "=" + as_text(attribute.value));
  return document;
}

TextDocument made(const StoredEdge& stored) {
  const Edge& edge = stored.edge;
  TextDocument document = begun(DocKind::kEdge, stored.number);
  document.valid_from = edge.id.since;
  document.valid_until = edge.until;
  document.fields = {"", edge.summary};
  add_facet(document, kAttributeFacet, "name=" + edge.id.name);
  return document;
}

TextDocument made(DocKind kind, const StoredFragment& said) {
  TextDocument document = begun(kind, said.number);
  document.valid_from = said.fragment.time;
  document.fields = {"", said.fragment.text};
  return document;
}

TextDocument made(const EntityFragmentRef& said) {
  return made(DocKind::kEntityFragment, said.fragment);
}

TextDocument made(const EdgeFragmentRef& said) {
  TextDocument document = made(DocKind::kEdgeFragment, said.fragment);
  add_facet(document, kAttributeFacet, "name=" + said.edge.name);
  return document;
}

struct Number {
  DocNumber operator()(const StoredEntity& stored) const { return stored.head.number; }
  DocNumber operator()(const StoredEdge& stored) const { return stored.number; }
  DocNumber operator()(const EntityFragmentRef& said) const { return said.fragment.number; }
  DocNumber operator()(const EdgeFragmentRef& said) const { return said.fragment.number; }
};

Status compute(const SpaceOptions& space, std::span<const StoredDocument> documents,
               std::vector<std::optional<std::vector<float>>>& vectors) {
  // Only entities have vectors. One call for all texts: a source may be another machine.
  std::vector<SourceText> texts;
  std::vector<std::size_t> places;
  for (std::size_t i = 0; i < documents.size(); ++i) {
    const auto* stored = std::get_if<StoredEntity>(&documents[i]);
    if (stored == nullptr) continue;
    texts.push_back({.title = stored->entity.title, .text = stored->entity.text});
    places.push_back(i);
  }
  if (texts.empty()) return Done{};
  KIN_TRY(auto made, space.source->documents(texts));
  if (made.size() != texts.size())
    return Error{Code::kInternal,
                 fmt::format("the source of the space {} made {} vectors for {} texts", space.name,
                             made.size(), texts.size())};
  for (std::size_t i = 0; i < made.size(); ++i) {
    if (made[i].empty()) continue;  // no word of the text is known
    if (made[i].size() != space.space.dimension)
      return Error{Code::kInternal,
                   fmt::format("the source of the space {} makes vectors of {} dimensions, not {}",
                               space.name, made[i].size(), space.space.dimension)};
    vectors[places[i]] = std::move(made[i]);
  }
  return Done{};
}

}  // namespace

TextOptions text_options(const ShardOptions& options) {
  TextOptions text;
  text.facets = {"type", "tag", "source", "attribute"};
  text.language = options.language;
  text.ranking = options.ranking;
  return text;
}

std::uint32_t number_of(const StoredDocument& document) {
  return static_cast<std::uint32_t>(std::visit(Number{}, document));
}

TextDocument text_document(const StoredDocument& document) {
  return std::visit([](const auto& one) { return made(one); }, document);
}

Status each_page(const TruthView& view, const Want& want, const SeePage& see) {
  kv::Cursor at = view.rows(kDocumentsFamily);
  do {
    std::vector<DocNumber> numbers;
    for (; at.valid() && numbers.size() < kPage; at.next()) {
      const auto number = decode_document_key(at.key());
      if (!number) return Error{Code::kDataLoss, "a key of documents is damaged"};
      numbers.push_back(*number);
    }
    KIN_RETURN_IF_ERROR(at.status());
    KIN_TRY(auto found, view.documents(numbers, want));
    std::vector<StoredDocument> page;
    for (auto& document : found) {
      if (document) page.push_back(std::move(*document));
    }
    // Also for an empty page: `see` must get a last page.
    KIN_RETURN_IF_ERROR(see(page, !at.valid()));
  } while (at.valid());
  return Done{};
}

Result<std::vector<std::optional<std::vector<float>>>> vectors_of(
    const SpaceOptions& space, std::span<const StoredDocument> documents) {
  std::vector<std::optional<std::vector<float>>> vectors(documents.size());
  if (space.origin == VectorOrigin::kComputed) {
    KIN_RETURN_IF_ERROR(compute(space, documents, vectors));
  } else {
    for (std::size_t i = 0; i < documents.size(); ++i) {
      const auto* stored = std::get_if<StoredEntity>(&documents[i]);
      if (stored == nullptr) continue;
      for (const SpaceVector& vector : stored->entity.vectors)
        if (vector.space == space.name) vectors[i] = vector.values;
    }
  }
  // A vector that was stored for an earlier space of the same name may not fit this one.
  for (auto& vector : vectors)
    if (vector && !check_vector(space.space, *vector).ok()) vector.reset();
  return vectors;
}

Status check_space_options(const SpaceOptions& space) {
  if (space.name.empty()) return Error{Code::kInvalidArgument, "an embedding space has no name"};
  if (space.origin == VectorOrigin::kComputed && space.source == nullptr)
    return Error{Code::kInvalidArgument,
                 fmt::format("the space {} has no source to compute its vectors", space.name)};
  if (const Status fits = check_space(space.space); !fits.ok())
    return with_context(fmt::format("the space {}", space.name), fits.error());
  return Done{};
}

std::uint64_t options_hash(const SpaceOptions& space) {
  // Everything that decides which vectors the index has and how it codes them.
  std::string bytes = space.name + '\0';
  append_le(bytes, space.generation);
  append_le(bytes, space.origin);
  append_le(bytes, space.space.dimension);
  append_le(bytes, space.space.distance);
  append_le(bytes, space.space.storage);
  append_le(bytes, space.space.bits);
  append_le(bytes, space.space.seed);
  return hash64(bytes);
}

}  // namespace kin::index
