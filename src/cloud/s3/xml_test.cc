#include "cloud/s3/xml.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace kin::cloud {
namespace {

using ::testing::HasSubstr;

TEST(Xml, GivesElementsAndTheirText) {
  const auto root = parse_xml(
      "<?xml version=\"1.0\"?>\n<!-- note --><s3:List xmlns:s3='http://x/'>"
      "<Key a=\"1>2\" "
      ">a&amp;b&lt;&#233;&#x6f22;</Key><Empty/><Key><![CDATA[<c>]]></Key></s3:List>\n");
  ASSERT_TRUE(root.ok()) << root.error().message;
  EXPECT_EQ(root->name, "List");
  ASSERT_EQ(root->children.size(), 3U);
  EXPECT_EQ(root->text_of("Key"), "a&b<\u00e9\u6f22");
  EXPECT_EQ(root->children[2].text, "<c>");
  EXPECT_EQ(root->text_of("Empty"), "");
  EXPECT_EQ(root->child("Other"), nullptr);
}

TEST(Xml, RefusesWhatIsNotWellFormed) {
  for (const char* wrong : {"", "text", "<a>", "<a></b>", "<a/><b/>", "</a>", "<a", "<a b>",
                            "<a b=\"c>", "<a>&x;</a>", "<a>&#xD800;</a>", "<a>&#1114112;</a>",
                            "<a>&amp</a>", "<!DOCTYPE a><a/>", "<a/>text", "<>"})
    EXPECT_FALSE(parse_xml(wrong).ok()) << wrong;
  std::string deep;
  for (int i = 0; i < 40; ++i) deep += "<a>";
  EXPECT_THAT(parse_xml(deep).error().message, HasSubstr("nested too deeply"));
}

TEST(Xml, EscapesWhatMeansSomething) {
  const std::string odd = "a<b>&\"c";
  EXPECT_EQ(parse_xml("<k>" + xml_escaped(odd) + "</k>")->text, odd);
}

}  // namespace
}  // namespace kin::cloud
