// A small shard made of its parts, for tests of searches.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "index/query.h"
#include "index/shard/documents.h"
#include "index/testing/truth_fixture.h"
#include "index/text_index.h"

namespace kin::index {

// Vectors that count how often each letter occurs in a text.
class LetterSource : public VectorSource {
 public:
  static constexpr std::uint32_t kDimension = 26;
  static std::vector<float> count(std::string_view text) {
    std::vector<float> counts(kDimension);
    for (const char c : text) {
      if (c >= 'a' && c <= 'z') counts[static_cast<std::size_t>(c - 'a')] += 1;
    }
    return counts;
  }
  Result<std::vector<std::vector<float>>> documents(
      std::span<const SourceText> texts) const override {
    std::vector<std::vector<float>> all;
    for (const SourceText& text : texts) all.push_back(count(text.text));
    return all;
  }
  Result<std::vector<float>> query(std::string_view text) const override { return count(text); }
};

inline TextOptions shard_text_options() {
  return {.facets = {"type", "tag", "source", "attribute"}};
}

// Collects entities, edges and fragments; shard() makes a view of them.
class ShardQueryFixture : public TruthFixture {
 protected:
  void put(const Entity& entity) { do_all({PutEntity{.entity = entity}}); }
  void link(std::string_view from, std::string_view to, double weight = 1,
            const std::string& name = "cites") {
    Edge made = edge(from, name, to);
    made.weight = weight;
    do_all({PutEdge{.edge = made}});
  }
  static Entity said(const std::string& key, const std::string& text) {
    Entity entity = made(key);
    entity.title = key;
    entity.text = text;
    return entity;
  }

  DocNumber number_of(std::string_view key) { return get(id(key))->head.number; }
  std::string key_of(const ShardHit& hit) {
    const auto found = get(hit.doc.id);
    return found ? found->entity.key : "?";
  }
  std::vector<std::string> keys(const ShardHits& hits) {
    std::vector<std::string> all;
    for (const ShardHit& hit : hits.hits) all.push_back(key_of(hit));
    return all;
  }
  std::vector<std::string> sorted_keys(const ShardHits& hits) {
    std::vector<std::string> all = keys(hits);
    std::ranges::sort(all);
    return all;
  }

  // A vector leg for a text in the space "letters".
  static VectorLeg letters(std::string_view text, bool exact = false) {
    return {.space = "letters", .vector = LetterSource::count(text), .exact = exact};
  }

  // A view of everything in the truth now. The space "main" has the vectors that entities bring,
  // the space "letters" those that LetterSource makes of their texts.
  ShardView shard() {
    TruthView truth = view();
    auto text = *TextIndex::create(shard_text_options());
    TextChanges changes{.lsn = 1};
    auto letters = *VectorIndex::create({.space = {.dimension = LetterSource::kDimension}});
    auto main = *VectorIndex::create({.space = {.dimension = 2, .storage = RawStorage::kF32}});
    for (std::uint32_t n = 0; n < truth.counters().numbers; ++n) {
      const auto document = *truth.document(DocNumber{n});
      if (!document) continue;
      changes.upserts.push_back(text_document(*document));
      const auto* stored = std::get_if<StoredEntity>(&*document);
      if (stored == nullptr) continue;
      const auto counts = LetterSource::count(stored->entity.text);
      if (std::ranges::any_of(counts, [](float c) { return c > 0; }))
        KIN_CHECK(letters->insert(n, counts).ok(), "letters are taken in");
      for (const SpaceVector& vector : stored->entity.vectors)
        KIN_CHECK(main->insert(n, vector.values).ok(), "vectors are taken in");
    }
    text.apply(std::move(changes));
    const auto retired = std::make_shared<const std::vector<std::uint32_t>>();
    auto state = std::make_shared<ShardView::State>(
        ShardView::State{.truth = std::move(truth), .text = text.view()});
    state->spaces.push_back({.name = "letters",
                             .index = std::move(letters),
                             .source = std::make_shared<LetterSource>(),
                             .below = state->truth.counters().numbers,
                             .retired = retired});
    state->spaces.push_back({.name = "main",
                             .index = std::move(main),
                             .below = state->truth.counters().numbers,
                             .retired = retired});
    return ShardView(std::move(state));
  }

  ShardHits found(const ShardQuery& query) {
    auto hits = search(shard(), query);
    KIN_CHECK(hits.ok(), "the query makes sense");
    return std::move(*hits);
  }
};

}  // namespace kin::index
