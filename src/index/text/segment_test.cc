#include "index/text/segment.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "base/bytes.h"
#include "base/hash.h"
#include "index/text/analyzer.h"
#include "index/text/builder.h"
#include "index/text/manifest.h"
#include "index/text/terms.h"

namespace kin::index {
namespace {

using testing::ElementsAre;

std::string build(const std::vector<TextDocument>& documents) {
  const TextOptions options;
  const auto analyzer = *TextAnalyzer::create(options.language);
  TextBuilder builder(options, *analyzer);
  for (const TextDocument& document : documents) builder.add(document);
  return std::move(builder).finish();
}

std::string small() {
  return build({{.number = 3, .fields = {"Apple pies", "an apple"}},
                {.number = 9,
                 .kind = DocKind::kEdge,
                 .fields = {"", "pie"},
                 .facets = {{.facet = 1, .value = "Red"}},
                 .valid_from = -5,
                 .valid_until = 5}});
}

std::vector<std::string> keys(const TextSegment& segment) {
  std::vector<std::string> found;
  TextSegment::Terms terms(segment);
  for (bool more = terms.seek(""); more; more = terms.next()) {
    std::string key = terms.key();
    for (char& c : key) c = static_cast<unsigned char>(c) < ' ' ? static_cast<char>('0' + c) : c;
    found.push_back(key);
  }
  return found;
}

TEST(TextSegment, HoldsTermsInOrderWithTheirPostings) {
  const auto segment = *TextSegment::decode(small());
  EXPECT_THAT(keys(*segment),
              ElementsAre("1Bred1Red", "2an", "2apple", "2pie", "2pies", "3an", "3appl", "3pie"));
  PostingCursor cursor(*segment->find(std::string(1, kStemKey) + "appl"));
  EXPECT_EQ(cursor.next(), 0U);
  EXPECT_EQ(cursor.frequency(), 12U);
  EXPECT_THAT(cursor.positions(), ElementsAre(0, 2 + kFieldGap + 1));
  EXPECT_EQ(cursor.next(), kNoDoc);
  EXPECT_FALSE(segment->find(std::string(1, kStemKey) + "absent"));
}

TEST(TextSegment, HoldsWhatDocumentsAre) {
  const auto segment = *TextSegment::decode(small());
  EXPECT_EQ(segment->size(), 2U);
  EXPECT_EQ(segment->ordinal(9), 1U);
  EXPECT_FALSE(segment->ordinal(4));
  EXPECT_EQ(segment->docs().kinds[1], DocKind::kEdge);
  EXPECT_EQ(segment->docs().lengths[0], 24U);
  EXPECT_EQ(segment->docs().valid_from[1], -5);
  EXPECT_THAT(segment->facet_values(0), ElementsAre());
  EXPECT_THAT(segment->facet_values(1), ElementsAre(0));
  EXPECT_EQ(segment->field_range(0, 1).begin, 2 + kFieldGap);
}

TEST(TextSegment, MovesThroughLongLists) {
  std::vector<TextDocument> documents;
  for (std::uint32_t i = 0; i < 5000; ++i)
    documents.push_back(
        {.number = i * 2, .fields = {i % 3 == 0 ? "fizz" : "word", i % 5 == 0 ? "buzz" : "word"}});
  const auto segment = *TextSegment::decode(build(documents));
  const TermPostings postings = *segment->find(std::string(1, kStemKey) + "fizz");
  EXPECT_EQ(postings.documents, 1667U);
  for (std::uint32_t step = 1; step < 5000; step = step * 3 + 1) {
    PostingCursor cursor(postings);
    for (std::uint32_t target = 0; target < 6000; target += step) {
      const std::uint32_t expected = (target + 2) / 3 * 3;
      ASSERT_EQ(cursor.seek(target), expected < 5000 ? expected : kNoDoc);
    }
  }
  PostingCursor cursor(postings);
  std::uint32_t expected = 0;
  for (std::uint32_t doc = cursor.next(); doc != kNoDoc; doc = cursor.next(), expected += 3)
    ASSERT_EQ(doc, expected);
  EXPECT_EQ(expected, 5001U);
}

TEST(TextSegment, HasTheBytesThatAreDocumented) {
  const std::string bytes = small();
  EXPECT_EQ(bytes.size(), 329U);
  EXPECT_EQ(fmt::format("{:016x}", checksum(bytes)), "66e9e15ddda5d09f");
}

TEST(TextSegment, RefusesDamageAndOtherVersions) {
  const std::string bytes = small();
  for (std::size_t i = 0; i < bytes.size(); ++i) {
    std::string damaged = bytes;
    damaged[i] = static_cast<char>(damaged[i] ^ 1);
    EXPECT_FALSE(TextSegment::decode(damaged).ok()) << i;
    EXPECT_FALSE(TextSegment::decode(bytes.substr(0, i)).ok()) << i;
  }
  std::string newer = bytes;
  store_le(newer.data() + 8, std::uint32_t{2});
  EXPECT_EQ(TextSegment::decode(newer).error().code, Code::kFailedPrecondition);
}

TEST(TextTerms, FindPatternsAndSimilarWords) {
  std::string text;
  for (const char* word : {"cat", "cats", "chat", "car", "bat", "ca", "concatenate", "äcat"})
    text += std::string(word) + " ";
  const auto segment = *TextSegment::decode(build({{.number = 0, .fields = {text}}}));
  const std::string space(1, kFormKey);
  std::vector<std::string> found;
  const auto note = [&](const TextSegment::Terms& terms, int distance) {
    found.push_back(terms.key().substr(1) + std::to_string(distance));
  };
  find_similar(*segment, space, "cat", 1, note);
  EXPECT_THAT(found, ElementsAre("bat1", "ca1", "car1", "cat0", "cats1", "chat1", "äcat1"));
  found.clear();
  find_similar(*segment, space, "cat", 0, note);
  EXPECT_THAT(found, ElementsAre("cat0"));
  found.clear();
  find_pattern(*segment, space, std::string("ca") + '\x01', note);
  EXPECT_THAT(found, ElementsAre("ca0", "car0", "cat0", "cats0"));
  found.clear();
  find_pattern(*segment, space, std::string("\x02") + "cat", note);
  EXPECT_THAT(found, ElementsAre("äcat0"));
  EXPECT_EQ(edit_distance("kitten", "sitting", 3), 3);
  EXPECT_EQ(edit_distance("kitten", "sitting", 2), 3);
}

TEST(TextManifest, ComesBackAsItWas) {
  const TextManifest manifest{.options = 1,
                              .applied = 2,
                              .next_id = 9,
                              .parts = {{.id = 7, .checksum = 8, .deleted = {1, 5}},
                                        {.id = 8, .checksum = 9, .deleted = {}}}};
  const std::string bytes = encode_manifest(manifest);
  EXPECT_EQ(bytes.size(), 96U);
  EXPECT_EQ(fmt::format("{:016x}", checksum(bytes)), "7dd735f91f63dc88");
  const auto read = *decode_manifest(bytes);
  EXPECT_EQ(read.applied, 2U);
  ASSERT_EQ(read.parts.size(), 2U);
  EXPECT_THAT(read.parts[0].deleted, ElementsAre(1, 5));
  for (std::size_t i = 0; i < bytes.size(); ++i) {
    std::string damaged = bytes;
    damaged[i] = static_cast<char>(damaged[i] ^ 4);
    EXPECT_FALSE(decode_manifest(damaged).ok()) << i;
    EXPECT_FALSE(decode_manifest(bytes.substr(0, i)).ok()) << i;
  }
}

}  // namespace
}  // namespace kin::index
