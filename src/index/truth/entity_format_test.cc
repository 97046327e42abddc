#include "index/truth/entity_format.h"

#include <gtest/gtest.h>

#include "index/truth/change.h"

namespace kin::index {
namespace {

DocId id(std::uint8_t byte) {
  DocId made;
  made.bytes.fill(byte);
  return made;
}

EdgeKey edge_key() {
  return {.from = id(1), .name = NameId{2}, .to = id(3), .since = -4};
}
FragmentKey fragment_key() {
  return {.id = id(1), .name = NameId{2}, .to = id(3), .time = 5, .content = 6};
}
Counters counters() {
  return {.last_lsn = 1'000,
          .trimmed = 10,
          .numbers = 300,
          .names = 4,
          .entities = 5,
          .edges = 6,
          .fragments = 7};
}
HeadRow head() {
  return {.head = {.number = DocNumber{7},
                   .partition = PartitionId{300},
                   .assigned = {.epoch = 1, .lsn = 98},
                   .version = {.epoch = 1, .lsn = 99},
                   .valid = {.from = 10, .until = 20}},
          .source = NameId{1},
          .spaces = {NameId{2}, NameId{200}},
          .summaries = {{.low = 1, .high = 2}}};
}
HeadRow tombstone() {
  return {.deleted = true,
          .head = {.partition = PartitionId{3},
                   .assigned = {.epoch = 2, .lsn = 5},
                   .version = {.epoch = 2, .lsn = 5}}};
}
// The bytes that version 1 wrote for head() and for tombstone().
std::string first_head() {
  std::string row("\x01\x06\xac\x02\x01\x63", 6);
  append_le(row, std::uint32_t{7});
  row.append("\x01\x09", 2);
  append_le(row, Millis{10});
  append_le(row, Millis{20});
  row.append("\x01\x02\x02\xc8\x01\x01", 6);
  append_le(row, std::uint64_t{2});
  append_le(row, std::uint64_t{1});
  return row;
}
std::string first_tombstone() {
  return "\x01\x01\x03\x02\x05";
}
ContentRow content() {
  return {.key = "key",
          .title = "Title",
          .text = "Text",
          .tags = {"one", "two"},
          .attributes = {{NameId{1}, std::string("v")},
                         {NameId{2}, std::int64_t{-3}},
                         {NameId{3}, 0.5},
                         {NameId{4}, true}}};
}
EdgeRow edge() {
  return {.weight = 0.25,
          .until = 1'000,
          .version = {.epoch = 0, .lsn = 12},
          .number = DocNumber{8},
          .summary = Hash128{.low = 3, .high = 4}};
}
FragmentRow fragment() {
  return {.version = {.epoch = 0, .lsn = 3}, .number = DocNumber{9}, .text = "said"};
}
FragmentRow removed_fragment() {
  return {.deleted = true, .version = {.epoch = 1, .lsn = 300}};
}
Change change(ChangeKind kind) {
  Change made{.lsn = 17,
              .kind = kind,
              .partition = PartitionId{4},
              .version = {.epoch = 1, .lsn = 17},
              .number = DocNumber{5},
              .retired = DocNumber{2},
              .id = id(1)};
  if (kind == ChangeKind::kEntityAssigned) made.former = PartitionId{3};
  if (kind == ChangeKind::kEdgePut || kind == ChangeKind::kEdgeFragmentAdded) {
    made.name = NameId{6};
    made.to = id(9);
  }
  if (kind == ChangeKind::kEdgePut || kind == ChangeKind::kEdgeFragmentAdded) made.time = -7;
  if (kind == ChangeKind::kEdgeFragmentAdded) made.content = 8;
  return made;
}
const std::vector<float> kVector{1.5F, -2.0F};

// A change here is a change of format: raise the version and keep reading the old one.
TEST(EntityFormat, BytesOnDiskStayAsTheyWere) {
  const auto golden = [](std::string_view bytes) { return hash64(bytes); };
  EXPECT_EQ(golden(encode(counters())), 0x11241640b93bf214ULL);
  EXPECT_EQ(golden(first_head()), 0xb2dbb649a069a286ULL);
  EXPECT_EQ(golden(first_tombstone()), 0x83c676e8657cf81bULL);
  EXPECT_EQ(golden(encode(head())), 0xd45cdf7b0ae2460dULL);
  EXPECT_EQ(golden(encode(tombstone())), 0xd003cb0e3faf660dULL);
  EXPECT_EQ(golden(encode(content())), 0xf1babe5893c459edULL);
  EXPECT_EQ(golden(encode(edge())), 0xc2dd9c09c1fd29f9ULL);
  EXPECT_EQ(golden(encode(ReverseRow{.weight = 0.25, .until = 9})), 0x4d587d7a5d0cc7f9ULL);
  EXPECT_EQ(golden(encode(fragment())), 0x537c62ef86bb98f6ULL);
  EXPECT_EQ(golden(encode(removed_fragment())), 0xfa14abcf7b46df48ULL);
  EXPECT_EQ(golden(encode(Ownership{.epoch = 300, .owned = true})), 0x6196154cac76aa40ULL);
  EXPECT_EQ(golden(encode_follower(300)), 0xe96c77ad9f133d3aULL);
  EXPECT_EQ(golden(encode_session(300)), 0xe96c77ad9f133d3aULL);
  EXPECT_EQ(golden(encode(DocumentRow{.kind = DocKind::kEdge, .key = forward_key(edge_key())})),
            0x567524a56af6f258ULL);
  EXPECT_EQ(golden(encode_vector(kVector)), 0xefb3aea2cdde99ceULL);
  EXPECT_EQ(golden(encode_name("cites")), 0x0b3ce55541848c2bULL);
  EXPECT_EQ(golden(encode_summary_text("short")), 0x880aed6a556c944dULL);
  EXPECT_EQ(golden(encode_summary_count(300)), 0xe96c77ad9f133d3aULL);
  EXPECT_EQ(golden(encode(change(ChangeKind::kEntityPut))), 0xe337827fcd9e7c53ULL);
  EXPECT_EQ(golden(encode(change(ChangeKind::kEntityAssigned))), 0x442f71dcdad48dc6ULL);
  EXPECT_EQ(golden(encode(change(ChangeKind::kEdgePut))), 0x133bd8bed3781b9bULL);
  EXPECT_EQ(golden(encode(change(ChangeKind::kEdgeFragmentAdded))), 0x1897d849012b3308ULL);
}

TEST(EntityFormat, KeysOnDiskStayAsTheyWere) {
  const std::string all =
      name_key(NameId{2}) + vector_key(DocNumber{1}, NameId{2}) +
      summary_text_key({.low = 1, .high = 2}) + summary_count_key({.low = 1, .high = 2}) +
      forward_key(edge_key()) + reverse_key(edge_key()) +
      fragment_key(kEntityFragmentsFamily, fragment_key()) +
      fragment_key(kEdgeFragmentsFamily, fragment_key()) + document_key(DocNumber{3}) +
      member_key(PartitionId{4}, DocNumber{5}) + change_key(6);
  EXPECT_EQ(hash64(all), 0x546389ea052d6bbeULL);
  EXPECT_EQ(owner_key(PartitionId{0x61626364}), "owner/abcd");
  EXPECT_EQ(follower_key("node-1"), "follower/node-1");
  EXPECT_EQ(session_key(0x6162636465666768), "session/abcdefgh");
}

TEST(EntityFormat, DecodesWhatItEncoded) {
  EXPECT_EQ(*decode_counters(encode(counters())), counters());
  EXPECT_EQ(*decode_head(encode(head())), head());
  EXPECT_EQ(*decode_head(encode(tombstone())), tombstone());
  EXPECT_EQ(*decode_content(encode(content())), content());
  EXPECT_EQ(*decode_edge(encode(edge())), edge());
  EXPECT_EQ(*decode_edge(encode(EdgeRow{})), EdgeRow{});
  EXPECT_EQ(*decode_reverse(encode(ReverseRow{.weight = 2})), (ReverseRow{.weight = 2}));
  EXPECT_EQ(*decode_fragment(encode(fragment())), fragment());
  EXPECT_EQ(*decode_fragment(encode(removed_fragment())), removed_fragment());
  EXPECT_EQ(*decode_owner(encode(Ownership{.epoch = 3, .owned = true})),
            (Ownership{.epoch = 3, .owned = true}));
  EXPECT_EQ(*decode_follower(encode_follower(300)), 300U);
  EXPECT_EQ(*decode_session(encode_session(300)), 300U);
  EXPECT_EQ(decode_session_key(session_key(7)), 7U);
  EXPECT_EQ(decode_owner_key(owner_key(PartitionId{7})), PartitionId{7});
  EXPECT_EQ(*decode_vector(encode_vector(kVector)), kVector);
  EXPECT_EQ(*decode_summary_count(encode_summary_count(300)), 300U);
  EXPECT_EQ(*decode_forward_key(forward_key(edge_key())), edge_key());
  EXPECT_EQ(*decode_reverse_key(reverse_key(edge_key())), edge_key());
  EXPECT_EQ(*decode_fragment_key(kEdgeFragmentsFamily,
                                 fragment_key(kEdgeFragmentsFamily, fragment_key())),
            fragment_key());
  for (const auto kind : {ChangeKind::kEntityPut, ChangeKind::kEntityAssigned, ChangeKind::kEdgePut,
                          ChangeKind::kEdgeFragmentAdded, ChangeKind::kOwnerAssigned}) {
    EXPECT_EQ(*decode_change(17, encode(change(kind))), change(kind));
  }
}

TEST(EntityFormat, ReadsEntitiesOfTheFirstVersion) {
  HeadRow expected = head();
  expected.head.assigned = expected.head.version;
  EXPECT_EQ(*decode_head(first_head()), expected);
  EXPECT_EQ(*decode_head(first_tombstone()), tombstone());
}

TEST(EntityFormat, KeysAreInTheOrderOfTime) {
  EdgeKey earlier = edge_key();
  earlier.since = kBeginning;
  EXPECT_LT(forward_key(earlier), forward_key(edge_key()));
  EdgeKey later = edge_key();
  later.since = 3;
  EXPECT_LT(forward_key(edge_key()), forward_key(later));
  later.since = kForever;
  EXPECT_LT(forward_key(edge_key()), forward_key(later));
  EXPECT_LT(change_key(255), change_key(256));
}

TEST(EntityFormat, RowsThatAreCutOffOrTooLongAreRefused) {
  const std::vector<std::string> rows{encode(counters()), encode(head()), encode(content()),
                                      encode(edge()), encode(change(ChangeKind::kEdgePut))};
  const auto accepted = [](std::size_t row, std::string_view bytes) {
    switch (row) {
      case 0: return decode_counters(bytes).ok();
      case 1: return decode_head(bytes).ok();
      case 2: return decode_content(bytes).ok();
      case 3: return decode_edge(bytes).ok();
      default: return decode_change(17, bytes).ok();
    }
  };
  for (std::size_t row = 0; row < rows.size(); ++row) {
    ASSERT_TRUE(accepted(row, rows[row]));
    EXPECT_FALSE(accepted(row, rows[row] + "x"));
    for (std::size_t length = 0; length < rows[row].size(); ++length)
      EXPECT_FALSE(accepted(row, rows[row].substr(0, length))) << row << " " << length;
  }
}

TEST(EntityFormat, ARowOfALaterVersionIsToldFromDamage) {
  std::string later = encode(head());
  later[0] = 3;
  EXPECT_EQ(decode_head(later).error().code, Code::kFailedPrecondition);
  EXPECT_EQ(decode_head("").error().code, Code::kDataLoss);
  std::string counted = encode(counters());
  counted[3] = static_cast<char>(counted[3] ^ 1);
  EXPECT_EQ(decode_counters(counted).error().code, Code::kDataLoss);
}

}  // namespace
}  // namespace kin::index
