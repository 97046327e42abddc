// The text index against its model: random documents, changes, merges, restarts and queries.
#include <gtest/gtest.h>

#include <array>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "base/random.h"
#include "index/testing/text_model.h"
#include "index/text_index.h"

namespace kin::index {
namespace {

constexpr std::array kWords{
    "connect", "connected", "connection", "connections", "apple", "apples",   "pear", "pears",
    "run",     "running",   "runner",     "the",         "of",    "database", "data", "datum",
    "index",   "indexes",   "vector",     "vectors",     "a",     "an",       "x1",   "x2"};

class Maker {
 public:
  explicit Maker(std::uint64_t seed) : random_(seed) {}

  std::uint64_t below(std::uint64_t bound) { return random_.below(bound); }

  // Some words are much more frequent than others.
  std::string word() { return kWords[std::min(below(kWords.size()), below(kWords.size()))]; }

  std::string text(std::size_t most) {
    std::string text;
    for (std::size_t i = below(most + 1); i > 0; --i) text += word() + (below(9) == 0 ? ". " : " ");
    return text;
  }

  TextDocument document(std::uint32_t number) {
    TextDocument made{.number = number,
                      .kind = static_cast<DocKind>(below(kDocKinds)),
                      .fields = {text(4), text(below(4) == 0 ? 40 : 12), text(2)},
                      .facets = {},
                      .valid_from = static_cast<std::int64_t>(below(10)),
                      .valid_until = static_cast<std::int64_t>(10 + below(10))};
    for (std::uint64_t i = below(3); i > 0; --i)
      made.facets.push_back({.facet = below(2), .value = below(2) == 0 ? "Red" : word()});
    return made;
  }

  TextQuery query(int depth) {
    if (depth > 0 && below(2) == 0) return boolean(depth);
    TextQuery made{.kind = TextQuery::Kind::kWords, .text = word()};
    if (below(5) == 0) made.field = std::array{"title", "text", "tags"}[below(3)];
    switch (below(8)) {
      case 0: return phrase(made);
      case 1: return pattern(made);
      case 2: return fuzzy(made);
      case 3:
        return {.kind = TextQuery::Kind::kWords,
                .text = below(2) == 0 ? "RED" : word(),
                .field = below(2) == 0 ? "type" : "tag"};
      case 4:
        if (depth == 3) made.text += " " + word() + " " + word();
        return made;
      case 5:
        if (below(10) == 0) return {.kind = TextQuery::Kind::kEverything};
        return made;
      default: return made;
    }
  }

 private:
  TextQuery boolean(int depth) {
    TextQuery made;
    for (std::uint64_t i = below(3); i > 0; --i) made.must.push_back(query(depth - 1));
    for (std::uint64_t i = below(4); i > 0; --i) made.should.push_back(query(depth - 1));
    for (std::uint64_t i = below(2); i > 0; --i) made.must_not.push_back(query(depth - 1));
    if (made.must.empty() && made.should.empty() && made.must_not.empty()) return query(0);
    return made;
  }
  TextQuery phrase(TextQuery made) {
    made.kind = TextQuery::Kind::kPhrase;
    made.text += " " + word() + (below(3) == 0 ? " " + word() : "");
    return made;
  }
  TextQuery pattern(TextQuery made) {
    made.kind = TextQuery::Kind::kPattern;
    const std::size_t at = below(made.text.size());
    if (below(2) == 0)
      made.text[at] = kAnyCharacter;
    else
      made.text = made.text.substr(0, at) + kAnyText;
    if (below(4) == 0) made.text.insert(0, 1, kAnyText);
    return made;
  }
  TextQuery fuzzy(TextQuery made) {
    made.kind = TextQuery::Kind::kFuzzy;
    made.distance = static_cast<int>(below(3));
    for (std::uint64_t i = below(3); i > 0; --i)
      made.text[below(made.text.size())] = static_cast<char>('a' + below(26));
    return made;
  }

  Random random_;
};

std::string shape(const TextQuery& query) {
  std::string text = query.field + ":" + query.text + "/" +
                     std::to_string(static_cast<int>(query.kind)) + std::to_string(query.distance);
  for (const TextQuery& part : query.must) text += " +(" + shape(part) + ")";
  for (const TextQuery& part : query.should) text += " (" + shape(part) + ")";
  for (const TextQuery& part : query.must_not) text += " -(" + shape(part) + ")";
  return text;
}

std::map<std::string, std::uint64_t> facets_of(const TextModel& model,
                                               const std::map<std::uint32_t, double>& matches) {
  std::map<std::string, std::uint64_t> counts;
  for (const auto& [number, score] : matches) {
    std::set<std::string> own;
    for (const FacetValue& facet : model.document(number).facets) {
      if (facet.facet == 1) own.insert(facet.value);
    }
    for (const std::string& value : own) ++counts[value];
  }
  return counts;
}

void compare_matches(const TextView& view, const TextModel& model, const TextQuery& query,
                     const TextStatistics& statistics) {
  SCOPED_TRACE(shape(query));
  const auto expected = model.matches(query);
  const auto found = *view.search(
      query, {.k = 10'000, .count = true, .facets = {"tag"}, .statistics = &statistics});
  ASSERT_EQ(found.count, expected.size());
  ASSERT_EQ(found.hits.size(), expected.size());
  for (const TextHit& hit : found.hits) {
    ASSERT_TRUE(expected.contains(hit.number));
    EXPECT_NEAR(hit.score, expected.at(hit.number), 1e-3);
    EXPECT_EQ(hit.kind, model.document(hit.number).kind);
  }
  std::map<std::string, std::uint64_t> counts;
  for (const FacetCount& one : found.facets[0].values) counts[one.value] = one.count;
  EXPECT_EQ(counts, facets_of(model, expected));
}

// The best hits are the same with and without pruning.
void compare_pruned(const TextView& view, const TextQuery& query, TextSearch search) {
  search.exhaustive = true;
  const auto all = *view.search(query, search);
  search.exhaustive = false;
  const auto pruned = *view.search(query, search);
  ASSERT_EQ(pruned.hits.size(), all.hits.size());
  for (std::size_t i = 0; i < all.hits.size(); ++i) {
    EXPECT_EQ(pruned.hits[i].number, all.hits[i].number);
    EXPECT_EQ(pruned.hits[i].score, all.hits[i].score);
  }
}

void compare_filtered(const TextView& view, const TextModel& model, const TextQuery& query,
                      Maker& maker) {
  DocSet filter;
  const std::uint64_t rarity = 1 + maker.below(200);
  for (const std::uint32_t number : model.numbers()) {
    if (maker.below(rarity) == 0) filter.add(number);
  }
  const auto valid_at = static_cast<std::int64_t>(maker.below(20));
  const auto kinds = static_cast<std::uint8_t>(maker.below(16));
  TextSearch search{.k = 10'000, .filter = &filter, .kinds = kinds, .valid_at = valid_at};
  std::set<std::uint32_t> expected;
  for (const auto& [number, score] : model.matches(query)) {
    const TextDocument& one = model.document(number);
    if (filter.contains(number) && (kinds & kind_bit(one.kind)) != 0 &&
        one.valid_from <= valid_at && valid_at < one.valid_until)
      expected.insert(number);
  }
  std::set<std::uint32_t> found;
  const auto hits = *view.search(query, search);
  for (const TextHit& hit : hits.hits) found.insert(hit.number);
  EXPECT_EQ(found, expected);
  const std::vector<std::uint32_t> matching = view.matching(query, search).numbers();
  EXPECT_EQ(std::set(matching.begin(), matching.end()), expected);
  search.k = 3;
  compare_pruned(view, query, search);
}

void compare_explained(const TextView& view, const TextQuery& query,
                       const TextStatistics& statistics) {
  const auto hits = view.search(query, {.k = 2, .statistics = &statistics})->hits;
  for (const TextHit& hit : hits) {
    const auto why = view.explain(query, hit.number, {.statistics = &statistics});
    ASSERT_TRUE(why);
    EXPECT_EQ(why->score, hit.score);
    double sum = 0;
    for (const TermExplanation& term : why->terms) sum += term.score;
    EXPECT_NEAR(sum, hit.score, 1e-3);
  }
}

void compare(const TextView& view, const TextModel& model, Maker& maker) {
  ASSERT_EQ(view.numbers(), model.numbers());
  const TextStatistics statistics = model.statistics();
  for (int i = 0; i < 12; ++i) {
    const TextQuery query = maker.query(3);
    compare_matches(view, model, query, statistics);
    compare_pruned(view, query, {.k = 1 + maker.below(12), .statistics = &statistics});
    compare_filtered(view, model, query, maker);
    compare_explained(view, query, statistics);
    if (testing::Test::HasFailure()) return;
  }
}

TextIndex reopened(const TextIndex& index) {
  const TextCheckpoint saved = index.checkpoint();
  std::map<std::uint64_t, std::string> parts;
  for (const CheckpointPart& part : saved.parts) parts[part.id] = part.segment->bytes();
  auto opened =
      TextIndex::open(index.options(), saved.manifest,
                      [&](std::uint64_t id) -> Result<std::string> { return parts.at(id); });
  EXPECT_TRUE(opened.ok()) << opened.error().message;
  return std::move(*opened);
}

class TextIndexModel : public testing::TestWithParam<int> {};

TEST_P(TextIndexModel, AgreesWithMapsAndLoops) {
  Maker maker(static_cast<std::uint64_t>(GetParam()));
  TextOptions options;
  options.fields[0].weight = 2.25;
  options.ranking = {.k1 = 1.2, .b = 0.6};
  TextIndex index = *TextIndex::create(options);
  TextModel model(options);
  TextView old_view = index.view();
  TextModel old_model = model;
  std::uint64_t lsn = 0;
  for (int step = 0; step < 60; ++step) {
    TextChanges changes{.lsn = ++lsn};
    for (std::uint64_t i = maker.below(4); i > 0; --i)
      changes.deletes.push_back(static_cast<std::uint32_t>(maker.below(300)));
    for (std::uint64_t i = maker.below(3) == 0 ? maker.below(40) : maker.below(3); i > 0; --i)
      changes.upserts.push_back(maker.document(static_cast<std::uint32_t>(maker.below(300))));
    for (const std::uint32_t number : changes.deletes) model.remove(number);
    for (const TextDocument& document : changes.upserts) model.put(document);
    index.apply(std::move(changes));
    if (maker.below(10) == 0) index.merge();
    if (maker.below(20) == 0) index.merge_all();
    if (maker.below(15) == 0) index = reopened(index);
    if (step % 12 == 11) {
      compare(index.view(), model, maker);
      compare(old_view, old_model, maker);
      old_view = index.view();
      old_model = model;
    }
    if (HasFailure()) return;
  }
}

INSTANTIATE_TEST_SUITE_P(Seeds, TextIndexModel, testing::Range(0, 12));

// Lists of many blocks, over several windows.
TEST(TextIndex, PrunesWithoutLosingAHitAmongManyDocuments) {
  Maker maker(99);
  TextIndex index = *TextIndex::create({});
  std::uint64_t lsn = 0;
  for (std::uint32_t at = 0; at < 12'000; at += 3'000) {
    TextChanges changes{.lsn = ++lsn};
    for (std::uint32_t i = at; i < at + 3'000; ++i) changes.upserts.push_back(maker.document(i));
    index.apply(std::move(changes));
  }
  for (int round = 0; round < 2; ++round) {
    for (int i = 0; i < 60; ++i) {
      compare_pruned(index.view(), maker.query(3), {.k = 1 + maker.below(20)});
      compare_pruned(index.view(), plain_query(maker.text(5)), {.k = 1 + maker.below(20)});
    }
    index.merge_all();
  }
}

}  // namespace
}  // namespace kin::index
