#include "index/present.h"

#include <gmock/gmock.h>

#include <set>

#include "index/shard/documents.h"
#include "index/testing/shard_query_fixture.h"

namespace kin::index {
namespace {

using testing::ElementsAre;

class PresentTest : public ShardQueryFixture {
 protected:
  PresentTest() {
    put(said("tides", "the moon pulls the sea, and the sea comes and goes"));
    put(said("boats", "boats sail the sea"));
    put(said("hills", "hills are far from water"));
  }
  static std::vector<std::string> marked(const HitSnippet& snippet) {
    std::vector<std::string> words;
    for (const TextRange& mark : snippet.marks)
      words.push_back(snippet.part.substr(mark.begin, mark.end - mark.begin));
    return words;
  }
  static DocIdentity entity(std::string_view key) { return {.id = id(key)}; }
  std::optional<StoredDocument> read(const DocIdentity& identity) {
    return std::move((*read_documents(view(), std::span(&identity, 1)))[0]);
  }
  std::vector<HitSnippet> shown(const DocIdentity& identity, const TextQuery& query,
                                const SnippetOptions& options = {}) {
    const std::optional<StoredDocument> document = read(identity);
    return std::move(
        (*make_snippets(shard_text_options(), query, std::span(&document, 1), options))[0]);
  }
  // One document of every kind, found by the word "sight".
  std::vector<ShardHit> one_of_each_kind() {
    put(said("eyes", "sight"));
    Edge sees = edge("eyes", "sees", "hills");
    sees.id.since = 7;
    sees.summary = "sight of hills";
    do_all({PutEdge{.edge = sees},
            AddFragment{.id = id("eyes"), .fragment = {.time = 5, .text = "sight lost"}},
            AddFragment{.id = id("eyes"), .fragment = {.time = 5, .text = "sight found"}},
            AddEdgeFragment{.from = id("eyes"),
                            .name = "sees",
                            .to = id("hills"),
                            .fragment = {.time = 9, .text = "sight again"}}});
    return found({.text = TextLeg{.query = "sight"}}).hits;
  }
};

TEST_F(PresentTest, EveryKindOfDocumentIsReadByItsIdentity) {
  const std::vector<ShardHit> hits = one_of_each_kind();
  ASSERT_EQ(hits.size(), 5U);
  std::set<DocIdentity> identities;
  for (const ShardHit& hit : hits) {
    identities.insert(hit.doc);
    const auto document = read(hit.doc);
    ASSERT_TRUE(document.has_value());
    const auto same = *view().document(hit.number, {.vectors = false, .summaries = false});
    EXPECT_EQ(document->index(), same->index());
    EXPECT_EQ(DocNumber{index::number_of(*document)}, hit.number);
  }
  EXPECT_EQ(identities.size(), hits.size());
}

TEST_F(PresentTest, DocumentsAreShownAsTheyAreNow) {
  const ShardHits hits = found({.text = TextLeg{.query = "sea"}});
  ASSERT_EQ(hits.hits.size(), 2U);
  put(said("boats", "boats cross the wide sea"));
  do_all({RemoveEntity{.id = id("tides")}});
  const TextQuery sea = plain_query("sea");
  const ShardView now = shard();
  for (const ShardHit& hit : hits.hits) {
    const auto document = read(hit.doc);
    if (hit.doc.id == id("tides")) {
      EXPECT_FALSE(document.has_value());
      EXPECT_TRUE(shown(hit.doc, sea).empty());
      continue;
    }
    EXPECT_EQ(shown(hit.doc, sea)[1].part, "boats cross the wide sea");
    const auto why = explain_text(now, sea, *document);
    ASSERT_TRUE(why.has_value());
    EXPECT_EQ(why->terms[0].term, "sea");
  }
}

TEST_F(PresentTest, RemovedEdgesAndFragmentsAreGone) {
  const std::vector<ShardHit> hits = one_of_each_kind();
  do_all({RemoveEntity{.id = id("eyes")}});
  for (const ShardHit& hit : hits) EXPECT_FALSE(read(hit.doc).has_value());
}

TEST_F(PresentTest, WordsAreCountedOnceInEveryField) {
  Entity kelp = said("kelp", "kelp grows");
  kelp.tags = {"kelp"};
  put(kelp);
  const auto why = explain_text(shard(), plain_query("kelp"), *read(entity("kelp")));
  ASSERT_TRUE(why.has_value());
  ASSERT_EQ(why->terms.size(), 1U);
  EXPECT_EQ(why->terms[0].frequency, 3U) << "once in the title, the text and the tags";
  EXPECT_EQ(why->terms[0].score, why->score);
}

TEST_F(PresentTest, SnippetsShowTheBestPartWithItsMarks) {
  const TextQuery query = *parse_query("moon tides -goes", shard_text_options());
  const auto all = shown(entity("tides"), query, {.length = 16});
  ASSERT_EQ(all.size(), 2U);
  EXPECT_EQ(all[0].field, "title");
  EXPECT_EQ(all[0].part, "tides");
  EXPECT_THAT(marked(all[0]), ElementsAre("tides"));
  EXPECT_EQ(all[1].field, "text");
  EXPECT_LE(all[1].part.size(), 16U);
  EXPECT_FALSE(all[1].ends_field);
  EXPECT_THAT(marked(all[1]), ElementsAre("moon"));
  const auto listed = shown(entity("boats"), {});
  EXPECT_EQ(listed[1].part, "boats sail the sea");
  EXPECT_TRUE(listed[1].ends_field);
  EXPECT_TRUE(listed[1].marks.empty());
}

TEST_F(PresentTest, SnippetsOfFragmentsShowWhatTheySay) {
  for (const ShardHit& hit : one_of_each_kind()) {
    if (hit.doc.kind != DocKind::kEdgeFragment) continue;
    const auto all = shown(hit.doc, plain_query("sight"));
    ASSERT_EQ(all.size(), 1U);
    EXPECT_EQ(all[0].part, "sight again");
    EXPECT_THAT(marked(all[0]), ElementsAre("sight"));
  }
}

}  // namespace
}  // namespace kin::index
