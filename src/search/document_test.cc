#include "search/document.h"

#include <gtest/gtest.h>

namespace kin::search {
namespace {

Result<Document> read(std::string_view json) {
  KIN_TRY(const data::JsonValue value, data::parse_json(json));
  return document_of(value);
}

std::string written(const Document& document) {
  JsonWriter json;
  write_document(json, document);
  return json.take();
}

std::string complaint(std::string_view json) {
  const auto document = read(json);
  return document ? "none" : document.error().message;
}

TEST(Document, KeepsFieldsItDoesNotKnowAsAttributes) {
  const auto document = read(
      R"({"id": 7, "title": "T", "text": "x", "year": 1966, "score": 0.5, "ok": true, "nested": {"a": [1, null]}, "gone": null})");
  ASSERT_TRUE(document.ok());
  EXPECT_EQ(document->id, "7");
  const std::vector<index::Attribute> expected{{"year", std::int64_t{1966}},
                                               {"score", 0.5},
                                               {"ok", true},
                                               {"nested", std::string(R"({"a":[1,null]})")}};
  EXPECT_EQ(document->attributes, expected);
}

TEST(Document, ReadsLinksOfEveryKind) {
  const auto document = read(
      R"({"id": "a", "links": ["b", 3, {"to": "c", "name": "cites", "weight": 2, "valid_from": "2020-01-01"}]})");
  ASSERT_TRUE(document.ok());
  ASSERT_TRUE(document->links);
  ASSERT_EQ(document->links->size(), 3U);
  EXPECT_EQ((*document->links)[1].to, "3");
  EXPECT_EQ((*document->links)[2].name, "cites");
  EXPECT_EQ((*document->links)[2].valid.from, 1'577'836'800'000);
}

TEST(Document, IsValidFromWhenItWasPublished) {
  const auto document = read(R"({"id": "a", "published": "1970-01-02"})");
  ASSERT_TRUE(document.ok());
  EXPECT_EQ(document->valid.from, 86'400'000);
  const auto other = read(R"({"id": "a", "published": "1970-01-02", "valid_from": "1970-01-03"})");
  EXPECT_EQ(other->valid.from, 2 * 86'400'000);
}

TEST(Document, SaysWhichFieldMakesNoSense) {
  EXPECT_EQ(complaint("[]"), "a document must be a JSON object");
  EXPECT_EQ(complaint(R"({"title": "T"})"), "a document needs an \"id\"");
  EXPECT_EQ(complaint(R"({"id": "a", "text": []})"), "field \"text\" is not a text");
  EXPECT_EQ(complaint(R"({"id": "a", "embedding": [1, "x"]})"),
            "field \"embedding\" is not a list of numbers");
  EXPECT_EQ(complaint(R"({"id": "a", "links": [{"name": "x"}]})"),
            "field \"links\" has a link without \"to\"");
  EXPECT_EQ(complaint(R"({"id": "a", "published": "soon"})"),
            "field \"published\": \"soon\" is not a time (write it like 2024-03-05 or "
            "2024-03-05T13:05:00Z)");
  EXPECT_EQ(complaint(R"({"id": "a", "valid_from": "2021", "valid_until": "2020"})"),
            "field \"valid_until\" is not later than \"valid_from\"");
}

TEST(Document, WritesWhatItReads) {
  const std::string line =
      R"({"id":"a","title":"T","text":"x","tags":["q","r"],"source":"s","published":"2020-01-01T00:00:00Z",)"
      R"("valid_from":"2020-01-01T00:00:00Z","valid_until":null,)"
      R"("links":[{"to":"b","name":"links","weight":1,"valid_from":null,"valid_until":null}],"n":5})";
  const auto document = read(line);
  ASSERT_TRUE(document.ok());
  EXPECT_EQ(written(*document), line);
}

TEST(Document, WritesSummariesAndFragmentsAsItReadsThem) {
  const std::string line =
      R"({"id":"a","title":"T","text":"x","tags":[],"source":"","published":null,)"
      R"("valid_from":null,"valid_until":null,"summaries":["short","shorter"],)"
      R"("fragments":[{"time":"2020-01-01T00:00:00Z","text":"said of it"}],)"
      R"("links":[{"to":"b","name":"cites","weight":1,"valid_from":null,"valid_until":null,)"
      R"("summary":"why it cites","fragments":[{"time":"2021-01-01T00:00:00Z","text":"said"}]}]})";
  const auto document = read(line);
  ASSERT_TRUE(document.ok()) << document.error().message;
  EXPECT_EQ(written(*document), line);
  EXPECT_EQ(read(R"({"id": "a", "summary": "short"})")->summaries,
            std::vector<std::string>{"short"});
}

TEST(Document, EndsALinkWithoutSettingTheOthers) {
  const auto document =
      read(R"({"id": "a", "links": [{"to": "b", "name": "works_at", "until": "2020"}]})");
  ASSERT_TRUE(document.ok()) << document.error().message;
  const auto mutations = mutations_of(*document, "main");
  ASSERT_EQ(mutations.size(), 2U);
  const auto& close = std::get<index::CloseEdge>(mutations[1]);
  EXPECT_EQ(close.name, "works_at");
  EXPECT_EQ(close.to, doc_id("b"));
  EXPECT_EQ(close.at, 1'577'836'800'000);
}

TEST(Document, RefusesFragmentsAndEndsThatAreNotWhole) {
  EXPECT_EQ(complaint(R"({"id": "a", "fragments": [{"text": "x"}]})"),
            "field \"fragments\" has a fragment without \"time\" or \"text\"");
  EXPECT_EQ(complaint(R"({"id": "a", "fragments": "x"})"),
            "field \"fragments\" is not a list of fragments");
  EXPECT_EQ(complaint(R"({"id": "a", "links": [{"to": "b", "until": "2020", "weight": 2}]})"),
            "field \"links\" has a link with \"until\" and other fields than \"to\" and \"name\"");
}

TEST(Document, ComesBackFromWhatAShardHolds) {
  const auto document =
      read(R"({"id": "a", "text": "x", "tags": ["q"], "published": "2020", "n": 5})");
  const auto mutations = mutations_of(*document, "main");
  const auto& put = std::get<index::PutEntity>(mutations.front());
  EXPECT_EQ(document_of(put.entity), *document);
}

TEST(Document, ReadsRowsOfTables) {
  const auto document = document_of(Row{{"id", "7"},
                                        {"tags", "sea, tides"},
                                        {"links", "[\"b\"]"},
                                        {"embedding", "[0.5, 1]"},
                                        {"zip", "00123"}});
  ASSERT_TRUE(document.ok());
  EXPECT_EQ(document->tags, (std::vector<std::string>{"sea", "tides"}));
  EXPECT_EQ(document->links->front().to, "b");
  EXPECT_EQ(document->embedding, (std::vector<float>{0.5F, 1.0F}));
  EXPECT_EQ(document->attributes.front(), (index::Attribute{"zip", std::string("00123")}));
}

TEST(Moment, MayBeAYearOrAMonth) {
  EXPECT_EQ(*moment_of("1970"), 0);
  EXPECT_EQ(*moment_of("1970-02"), 31 * 86'400'000LL);
  EXPECT_EQ(*moment_of("1970-01-02T00:00:01Z"), 86'401'000);
  EXPECT_FALSE(moment_of("yesterday").ok());
}

}  // namespace
}  // namespace kin::search
