#include "index/text_index.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <vector>

namespace kin::index {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using testing::UnorderedElementsAre;

TextDocument document(std::uint32_t number, std::string title, std::string text = "") {
  return {.number = number, .fields = {std::move(title), std::move(text)}};
}

class TextIndexTest : public testing::Test {
 protected:
  void put(TextDocument one) { index_.apply({.upserts = {std::move(one)}, .lsn = ++lsn_}); }
  void remove(std::uint32_t number) { index_.apply({.deletes = {number}, .lsn = ++lsn_}); }

  std::vector<std::uint32_t> find(std::string_view query, const TextSearch& search = {}) const {
    return find_in(index_.view(), query, search);
  }
  static std::vector<std::uint32_t> find_in(const TextView& view, std::string_view query,
                                            const TextSearch& search = {}) {
    const auto parsed = parse_query(query, view.options());
    EXPECT_TRUE(parsed.ok()) << parsed.error().message;
    std::vector<std::uint32_t> numbers;
    const auto found = view.search(*parsed, search);
    for (const TextHit& hit : found->hits) numbers.push_back(hit.number);
    return numbers;
  }

  TextIndex index_ = *TextIndex::create({});
  std::uint64_t lsn_ = 0;
};

TEST_F(TextIndexTest, FindsADocumentAsSoonAsItIsApplied) {
  put(document(7, "Cats and dogs"));
  EXPECT_THAT(find("cat"), ElementsAre(7));
  remove(7);
  EXPECT_THAT(find("cat"), IsEmpty());
}

TEST_F(TextIndexTest, ListsTheValuesOfAFacet) {
  TextDocument one = document(1, "one");
  one.facets = {{1, "Sea"}, {1, "land"}, {0, "kind"}};
  put(one);
  TextDocument two = document(2, "two");
  two.facets = {{1, "sea"}, {1, "air"}};
  put(two);
  const TextView view = index_.view();
  EXPECT_THAT(view.facet_values("tag"), ElementsAre("air", "land", "Sea", "sea"));
  EXPECT_THAT(view.facet_values("type"), ElementsAre("kind"));
  EXPECT_THAT(view.facet_values("no such facet"), IsEmpty());
}

TEST_F(TextIndexTest, ShowsAReaderTheStateOfItsMoment) {
  put(document(1, "old words"));
  const TextView before = index_.view();
  put(document(1, "new words"));
  EXPECT_THAT(find_in(before, "old"), ElementsAre(1));
  EXPECT_THAT(find_in(before, "new"), IsEmpty());
  EXPECT_THAT(find("old"), IsEmpty());
  EXPECT_THAT(find("words"), ElementsAre(1));
  index_.merge_all();
  EXPECT_THAT(find_in(before, "old"), ElementsAre(1));
}

TEST_F(TextIndexTest, UnderstandsItsQueryLanguage) {
  put(document(1, "red apple pie", "sweet"));
  put(document(2, "green apple", "a red barn"));
  put(document(3, "blueberry pie", "sour"));
  EXPECT_THAT(find("apple pie"), UnorderedElementsAre(1, 2, 3));
  EXPECT_THAT(find("apple AND pie"), ElementsAre(1));
  EXPECT_THAT(find("apple -pie"), ElementsAre(2));
  EXPECT_THAT(find("NOT apple"), ElementsAre(3));
  EXPECT_THAT(find("\"red apple\""), ElementsAre(1));
  EXPECT_THAT(find("\"apple red\""), IsEmpty());
  EXPECT_THAT(find("title:red"), ElementsAre(1));
  EXPECT_THAT(find("text:(red OR sour)"), UnorderedElementsAre(2, 3));
  EXPECT_THAT(find("blue*"), ElementsAre(3));
  EXPECT_THAT(find("*berr?"), ElementsAre(3));
  EXPECT_THAT(find("aple~1"), UnorderedElementsAre(1, 2));
  EXPECT_THAT(find("bluberri~2"), ElementsAre(3));
  EXPECT_THAT(find("*"), ElementsAre(1, 2, 3));
  EXPECT_THAT(find("(red OR sour) AND pie"), UnorderedElementsAre(1, 3));
}

TEST_F(TextIndexTest, FindsNoPhraseAcrossFields) {
  put(document(1, "ends with apple", "pie begins"));
  EXPECT_THAT(find("\"apple pie\""), IsEmpty());
}

TEST_F(TextIndexTest, FindsCharactersOfScriptsWithoutSpaces) {
  put(document(1, "東京タワー"));
  put(document(2, "京都の東"));
  EXPECT_THAT(find("東京"), ElementsAre(1));
  EXPECT_THAT(find("京"), UnorderedElementsAre(1, 2));
  EXPECT_THAT(find("\"東京タワー\""), ElementsAre(1));
}

TEST_F(TextIndexTest, RanksRareWordsAndShortDocumentsHigher) {
  put(document(1, "common common filler words that go on and on for a long time"));
  put(document(2, "common rare"));
  put(document(3, "common"));
  EXPECT_THAT(find("common rare"), ElementsAre(2, testing::_, testing::_));
}

TEST_F(TextIndexTest, KeepsToFiltersKindsAndValidity) {
  for (std::uint32_t i = 0; i < 10; ++i) {
    TextDocument one = document(i, "same words");
    one.kind = i % 2 == 0 ? DocKind::kEntity : DocKind::kEdgeFragment;
    one.valid_from = i;
    one.valid_until = i + 5;
    put(std::move(one));
  }
  const DocSet filter(std::vector<std::uint32_t>{1, 2, 3, 40});
  EXPECT_THAT(find("words", {.filter = &filter}), ElementsAre(1, 2, 3));
  EXPECT_THAT(find("words", {.filter = &filter, .kinds = kind_bit(DocKind::kEntity)}),
              ElementsAre(2));
  EXPECT_THAT(find("words", {.valid_at = 4}), ElementsAre(0, 1, 2, 3, 4));
  EXPECT_THAT(find("words", {.valid_at = 5}), ElementsAre(1, 2, 3, 4, 5));
}

TEST_F(TextIndexTest, CountsFacetsOfAllMatchesExactly) {
  for (std::uint32_t i = 0; i < 30; ++i) {
    TextDocument one = document(i, i < 20 ? "match" : "other");
    one.facets = {{.facet = 0, .value = i % 2 == 0 ? "Article" : "note"},
                  {.facet = 1, .value = "all"},
                  {.facet = 1, .value = i % 3 == 0 ? "three" : "all"}};
    one.valid_until = i;
    put(std::move(one));
  }
  const TextView view = index_.view();
  const auto hits = *view.search(
      *parse_query("match", view.options()),
      {.k = 3, .count = true, .facets = {"tag", "type", "validity"}, .validity_at = 5});
  EXPECT_EQ(hits.hits.size(), 3U);
  EXPECT_EQ(hits.count, 20U);
  std::map<std::string, std::uint64_t> counts;
  for (const FacetCounts& facet : hits.facets) {
    for (const FacetCount& one : facet.values) counts[facet.name + ":" + one.value] = one.count;
  }
  EXPECT_EQ(counts, (std::map<std::string, std::uint64_t>{{"tag:all", 20},
                                                          {"tag:three", 7},
                                                          {"type:Article", 10},
                                                          {"type:note", 10},
                                                          {"validity:valid", 14},
                                                          {"validity:expired", 6},
                                                          {"validity:future", 0}}));
  EXPECT_THAT(find("tag:THREE AND match", {.k = 100}).size(), 7U);
  EXPECT_THAT(find("type:art*", {.k = 100}).size(), 15U);
  EXPECT_FALSE(view.search(plain_query("x"), {.facets = {"colour"}}).ok());
}

TEST_F(TextIndexTest, ExplainsAScoreByItsTerms) {
  put(document(1, "apple pie", "pie"));
  put(document(2, "apple"));
  const TextView view = index_.view();
  const TextQuery query = plain_query("apples pies");
  const auto hits = view.search(query)->hits;
  const auto why = view.explain(query, 1);
  ASSERT_TRUE(why);
  EXPECT_DOUBLE_EQ(why->score, hits[0].score);
  ASSERT_EQ(why->terms.size(), 2U);
  EXPECT_DOUBLE_EQ(why->terms[0].score + why->terms[1].score, why->score);
  EXPECT_EQ(why->terms[1].term, "pie");
  EXPECT_EQ(why->terms[1].frequency, 2U) << "one in the title, one in the text";
  EXPECT_EQ(why->terms[1].documents, 1U);
  EXPECT_FALSE(view.explain(query, 3));
}

TEST_F(TextIndexTest, TakesStatisticsOfAllShards) {
  TextIndex other = *TextIndex::create({});
  put(document(1, "apple"));
  put(document(2, "pear"));
  other.apply({.upserts = {document(3, "apple"), document(4, "apple juice")}, .lsn = 1});
  const TextQuery query = plain_query("apple pear");
  TextStatistics global = index_.view().statistics(query);
  EXPECT_EQ(global.documents, 2U);
  global.add(other.view().statistics(query));
  EXPECT_EQ(global.documents, 4U);

  TextIndex both = *TextIndex::create({});
  both.apply({.upserts = {document(1, "apple"), document(2, "pear"), document(3, "apple"),
                          document(4, "apple juice")},
              .lsn = 1});
  const auto expected = both.view().search(query)->hits;
  std::map<std::uint32_t, double> scores;
  for (const TextView& view : {index_.view(), other.view()}) {
    const auto found = view.search(query, {.statistics = &global});
    for (const TextHit& hit : found->hits) scores[hit.number] = hit.score;
  }
  ASSERT_EQ(scores.size(), expected.size());
  for (const TextHit& hit : expected) EXPECT_DOUBLE_EQ(scores[hit.number], hit.score);
}

TEST_F(TextIndexTest, ComesBackFromACheckpoint) {
  for (std::uint32_t i = 0; i < 100; ++i) put(document(i, "word" + std::to_string(i % 7)));
  for (std::uint32_t i = 0; i < 100; i += 9) remove(i);
  const TextCheckpoint saved = index_.checkpoint();
  EXPECT_EQ(saved.applied, lsn_);
  const auto load = [&](std::uint64_t id) -> Result<std::string> {
    for (const CheckpointPart& part : saved.parts) {
      if (part.id == id) return part.segment->bytes();
    }
    return Error{Code::kDataLoss, "no such part"};
  };
  TextIndex opened = *TextIndex::open({}, saved.manifest, load);
  EXPECT_EQ(opened.view().numbers(), index_.view().numbers());
  EXPECT_EQ(find_in(opened.view(), "word3", {.k = 100}), find("word3", {.k = 100}));
  opened.apply({.deletes = {1}, .lsn = lsn_});
  EXPECT_EQ(std::ranges::count(opened.view().numbers(), 1U), 1) << "an old change is ignored";
  opened.apply({.deletes = {1}, .lsn = lsn_ + 1});
  EXPECT_EQ(std::ranges::count(opened.view().numbers(), 1U), 0);

  TextOptions german;
  german.language = "german";
  EXPECT_EQ(TextIndex::open(german, saved.manifest, load).error().code, Code::kFailedPrecondition);
  EXPECT_EQ(TextIndex::open({}, saved.manifest,
                            [](auto) -> Result<std::string> { return std::string("nonsense"); })
                .error()
                .code,
            Code::kDataLoss);
}

TEST_F(TextIndexTest, MergesToOneSegmentWithoutTheDead) {
  for (std::uint32_t i = 0; i < 2000; ++i)
    put(document(i * 7 % 2000, "w" + std::to_string(i % 50)));
  for (std::uint32_t i = 0; i < 2000; i += 2) remove(i);
  const auto before = find("w3", {.k = 1000});
  EXPECT_LT(index_.view().segments(), 40U);
  index_.merge_all();
  EXPECT_EQ(index_.view().segments(), 1U);
  EXPECT_EQ(index_.view().documents(), 1000U);
  EXPECT_THAT(find("w3", {.k = 1000}), testing::UnorderedElementsAreArray(before));
}

TEST_F(TextIndexTest, AHiddenSectionIsNeitherFoundNorCounted) {
  for (std::uint32_t i = 0; i < 20; ++i) put(document(i, "tide"));
  const TextQuery query = *parse_query("tide", index_.options());
  const TextStatistics before = index_.view().statistics(query);
  const std::uint64_t state = index_.view().statistics_state();
  const TextSection section = index_.begin_section({});
  for (std::uint32_t i = 100; i < 700; ++i) {
    TextDocument one = document(i, "tide and sand");
    one.section = section;
    put(std::move(one));
    while (index_.merge()) continue;
  }
  const TextView view = index_.view();
  EXPECT_EQ(view.statistics(query, {section}).documents, before.documents);
  EXPECT_EQ(view.statistics(query, {section}).total_length, before.total_length);
  EXPECT_EQ(view.statistics(query, {section}).frequencies, before.frequencies);
  EXPECT_EQ(view.statistics_state({section}), state);
  EXPECT_EQ(view.statistics(query).documents, 620U);
  EXPECT_THAT(find("tide", {.k = 1000}), testing::SizeIs(620));
  EXPECT_THAT(find("tide", {.k = 1000, .hidden = {section}}), testing::SizeIs(20));
  EXPECT_THAT(find("sand", {.hidden = {section}}), IsEmpty());
  EXPECT_EQ(view.matching(query, {.hidden = {section}}).size(), 20U);
  // A section that has ended is merged with the others.
  index_.merge_all();
  EXPECT_EQ(index_.view().segments(), 2U);
  index_.end_section(section);
  index_.merge_all();
  EXPECT_EQ(index_.view().segments(), 1U);
  EXPECT_THAT(find("tide", {.k = 1000, .hidden = {section}}), testing::SizeIs(620));
}

TEST_F(TextIndexTest, ASectionTakesTheSegmentsThatAreAllItsOwn) {
  for (std::uint32_t i = 0; i < 8; ++i) put(document(i, "mixed"));
  index_.merge_all();
  for (std::uint32_t i = 8; i < 16; ++i) put(document(i, "alone"));
  index_.merge_all();
  for (std::uint32_t i = 16; i < 18; ++i) put(document(i, "alone"));
  put(document(18, "mixed"));
  // One of the documents shares a segment with others, as does none of the rest.
  const TextSection section =
      index_.begin_section(DocSet(std::vector<std::uint32_t>{3, 16, 17}));
  const TextView view = index_.view();
  const TextSearch without{.k = 100, .hidden = {section}};
  EXPECT_THAT(find("alone", without), testing::SizeIs(8));
  EXPECT_THAT(find("mixed", without), testing::SizeIs(9));
}

TEST(TextIndex, RefusesOptionsThatMakeNoSense) {
  EXPECT_FALSE(TextIndex::create({.fields = {}}).ok());
  EXPECT_FALSE(TextIndex::create({.fields = {{"a", 0.1}}}).ok());
  EXPECT_FALSE(TextIndex::create({.fields = {{"a", 1}, {"a", 1}}}).ok());
  EXPECT_FALSE(TextIndex::create({.fields = {{"a b", 1}}}).ok());
  EXPECT_FALSE(TextIndex::create({.language = "klingon"}).ok());
}

}  // namespace
}  // namespace kin::index
