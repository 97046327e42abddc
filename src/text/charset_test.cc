#include "text/charset.h"

#include <gtest/gtest.h>

#include "text/normalize.h"

namespace kin::text {
namespace {

using namespace std::string_literals;

struct Case {
  std::string bytes;
  CharsetHints hints;
  std::string utf8;
  std::string charset;
};

TEST(DecodeText, ReadsWhatIsDeclared) {
  const Case cases[] = {
      {"caf\xE9", {.transport = "iso-8859-1"}, "café", "windows-1252"},
      {"caf\xE9", {.document = "Latin1"}, "café", "windows-1252"},
      {"\xCF\xF0\xE8\xE2\xE5\xF2", {.document = "windows-1251"}, "Привет", "windows-1251"},
      {"\xF0\xD2\xC9\xD7\xC5\xD4", {.transport = "KOI8-R"}, "Привет", "koi8-r"},
      {"\x83\x6A\x83\x85\x81\x5B\x83\x58", {.transport = "Shift_JIS"}, "ニュース", "windows-31j"},
      {"\xA5\xCB\xA5\xE5\xA1\xBC\xA5\xB9", {.document = "EUC-JP"}, "ニュース", "euc-jp"},
      {"\x1B$B%K%e!<%9\x1B(B", {.document = "ISO-2022-JP"}, "ニュース", "iso-2022-jp"},
      {"\xD0\xC2\xCE\xC5", {.document = "GB2312"}, "新闻", "gb18030"},
      {"\xB7s\xBB"
       "D",
       {.document = "Big5"},
       "新聞",
       "big5-hkscs"},
      {"\xB4\xBA\xBD\xBA", {.document = "euc-kr"}, "뉴스", "windows-949"},
      {"\xA4 5", {.document = "iso-8859-15"}, "€ 5", "iso-8859-15"},
  };
  for (const Case& c : cases) {
    const DecodedText decoded = decode_text(c.bytes, c.hints);
    EXPECT_EQ(decoded.utf8, c.utf8);
    EXPECT_EQ(decoded.charset, c.charset);
    EXPECT_FALSE(decoded.mended) << c.charset;
  }
}

TEST(DecodeText, BelievesAByteOrderMarkFirst) {
  EXPECT_EQ(decode_text("\xEF\xBB\xBF\xC3\xA9", {.transport = "shift_jis"}).utf8, "é");
  EXPECT_EQ(decode_text("\xFF\xFE<\0\xE9\0"s, {.transport = "utf-8"}).utf8, "<é");
  EXPECT_EQ(decode_text("\xFE\xFF\0<\0\xE9"s).utf8, "<é");
  EXPECT_EQ(decode_text("\xFF\xFE\0\0<\0\0\0"s).utf8, "<");
}

TEST(DecodeText, SeesWideTextWithoutAMark) {
  EXPECT_EQ(decode_text("<\0?\0\xE9\0"s).utf8, "<?é");
  EXPECT_EQ(decode_text("\0<\0?\0\xE9"s, {.document = "utf-8"}).utf8, "<?é");
}

TEST(DecodeText, FallsBackToUtf8ThenWindows1252) {
  EXPECT_EQ(decode_text("\xE2\x80\x99").charset, "utf-8");
  const DecodedText decoded = decode_text(
      "it\x92s \x80"
      "5");
  EXPECT_EQ(decoded.utf8, "it’s €5");
  EXPECT_EQ(decoded.charset, "windows-1252");
}

TEST(DecodeText, DoesNotBelieveLatin1OfUtf8) {
  EXPECT_EQ(decode_text("caf\xC3\xA9", {.transport = "ISO-8859-1"}).utf8, "café");
  EXPECT_EQ(decode_text("\xD0\xC2", {.transport = "ISO-8859-1", .document = "gb2312"}).charset,
            "windows-1252");
}

TEST(DecodeText, MendsStrayBytesOfUtf8) {
  const DecodedText decoded = decode_text("caf\xC3\xA9 \x93yes\x94 \xE9", {.transport = "utf-8"});
  EXPECT_EQ(decoded.utf8, "café “yes” é");
  EXPECT_TRUE(decoded.mended);
}

TEST(DecodeText, MarksWhatMakesNoSense) {
  const DecodedText decoded = decode_text("a\x81", {.transport = "shift_jis"});
  EXPECT_TRUE(decoded.mended);
  EXPECT_TRUE(is_valid_utf8(decoded.utf8));
}

TEST(DecodeText, IgnoresNamesThatHideMarkupOrDoNotExist) {
  for (const char* name : {"utf-7", "UNICODE-1-1-UTF-7", "x-imap4-modified-utf7", "scsu", "ibm-037",
                           "cp500", "ebcdic-cp-us", "klingon", "hz-gb-2312", "utf-16", ""}) {
    const DecodedText decoded = decode_text("+ADw-b+AD4- \xC3\xA9", {.transport = name});
    EXPECT_EQ(decoded.utf8, "+ADw-b+AD4- é") << name;
  }
}

TEST(DeclaredCharset, IsFoundInXmlAndHtml) {
  EXPECT_EQ(xml_charset("\n<?xml version='1.0' encoding = 'KOI8-R'?><rss/>"), "KOI8-R");
  EXPECT_EQ(xml_charset("<?xml version=\"1.0\"?><a encoding='no'/>"), std::nullopt);
  EXPECT_EQ(xml_charset("<rss/>"), std::nullopt);
  EXPECT_EQ(html_charset("<html><META CHARSET=Shift_JIS>"), "shift_jis");
  EXPECT_EQ(
      html_charset(
          "<meta name=x><meta http-equiv='Content-Type' content='text/html; charset=koi8-r'>"),
      "koi8-r");
  EXPECT_EQ(html_charset("<p>charset=utf-8"), std::nullopt);
}

}  // namespace
}  // namespace kin::text
