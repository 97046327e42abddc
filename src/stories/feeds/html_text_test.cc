#include "stories/feeds/html_text.h"

#include <gtest/gtest.h>

#include "stories/feeds/html_scanner.h"

namespace kin::stories {
namespace {

TEST(HtmlToText, KeepsWhatAReaderSees) {
  const std::pair<const char*, const char*> cases[] = {
      {"<p>One</p><p>two</p>", "One two"},
      {"f<b>oo</b> b<i>a</i>r", "foo bar"},
      {"a<br>b<br/>c", "a b c"},
      {"  a \n\t b&nbsp;c\u3000d ", "a b c d"},
      {"<ul><li>x<li>y</ul>", "x y"},
      {"a<script>alert('</b>')</script>b", "a b"},
      {"a<STYLE>p{}</sTyLe >b", "a b"},
      {"a<script>never closed", "a"},
      {"a<!-- <b>no</b> -->b<!-->c", "abc"},
      {"<![CDATA[a < b]]>", "a < b"},
      {"1 < 2 && 3 > 2", "1 < 2 && 3 > 2"},
      {"I <3 feeds", "I <3 feeds"},
      {"a < b", "a < b"},
      {"<a href='x>y' title=\"<b>\">link</a>", "link"},
      {"<p", ""},
      {"<a href=\"never closed", ""},
      {"x<?php echo 1 ?>y", "xy"},
      {"<svg onload=alert(1)><text>t</text></svg>z", "z"},
      {"a<svg onload=alert(1)>b<svg>c", "a b c"},
      {"", ""},
  };
  for (const auto& [html, text] : cases) EXPECT_EQ(html_to_text(html), text) << html;
}

TEST(HtmlToText, DecodesReferencesOnce) {
  const std::pair<const char*, const char*> cases[] = {
      {"Tom &amp; Jerry&#8217;s", "Tom & Jerry’s"},
      {"&#x201C;q&#X201d;", "“q”"},
      {"caf&eacute;&hellip;", "café…"},
      {"&amp;lt;b&amp;gt;", "&lt;b&gt;"},
      {"&lt;b&gt;", "<b>"},
      {"AT&T &unknown; &;", "AT&T &unknown; &;"},
      {"&amp &lt3", "& &lt3"},
      {"?a=1&amp=2", "?a=1&amp=2"},
      {"&#150;&#146;", "–’"},
      {"&#0;&#xD800;&#99999999999;", "���9;"},
      {"&#", "&#"},
      {"&#x;", "&#x;"},
      {"&apos;&copy;", "'©"},
  };
  for (const auto& [html, text] : cases) EXPECT_EQ(html_to_text(html), text) << html;
}

TEST(HtmlToText, TakesTimeLinearInHostileText) {
  std::string many;
  for (int i = 0; i < 200'000; ++i) many += "<a <!-- &";
  EXPECT_LT(html_to_text(many).size(), many.size());
  EXPECT_EQ(html_to_text(std::string(1'000'000, '<')).size(), 1'000'000u);
}

TEST(OneLine, DropsWhatIsNotSeen) {
  EXPECT_EQ(one_line("a\u202Eb\u200Bc\u00ADd\x01 e\uFEFF"), "abcd e");
  EXPECT_EQ(one_line("a\x7F\xC2\x80"
                     "b"),
            "ab");
  EXPECT_EQ(one_line("\u0645\u06CC\u200C\u062E"), "\u0645\u06CC\u200C\u062E");
  EXPECT_EQ(one_line("\xFF x"), "\uFFFD x");
}

TEST(FeedText, UndoesOneEscapeTooMany) {
  EXPECT_EQ(feed_text("It&amp;#8217;s M&amp;amp;S"), "It’s M&S");
  EXPECT_EQ(feed_text("Use of the &amp;lt;div&amp;gt; tag"), "Use of the &lt;div&gt; tag");
  EXPECT_EQ(feed_text("<b>Bold</b> &lt;i&gt; &amp; plain"), "Bold <i> & plain");
  EXPECT_EQ(feed_text("&lt;p&gt;One&lt;/p&gt; &lt;em&gt;two&lt;/em&gt;"), "One two");
  EXPECT_EQ(feed_text("a&lt;script&gt;x&lt;/script&gt;"), "a");
}

TEST(Clipped, CutsAtCharactersAndWords) {
  EXPECT_EQ(clipped("short", 10), "short");
  EXPECT_EQ(clipped("one two three four", 14), "one two…");
  EXPECT_EQ(clipped("ééééé", 8), "éé…");
  EXPECT_EQ(clipped(std::string(50, 'x'), 10), "xxxxxxx…");
}

}  // namespace
}  // namespace kin::stories
