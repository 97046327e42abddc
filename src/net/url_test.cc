#include "net/url.h"

#include <gtest/gtest.h>

namespace kin::net {
namespace {

std::string text_of(std::string_view address) {
  const auto url = Url::parse(address);
  return url.ok() ? url->text() : "refused";
}

TEST(Url, IsWrittenOneWay) {
  const std::pair<const char*, const char*> cases[] = {
      {"HTTP://Example.COM", "http://example.com/"},
      {" \n https://example.com:443/a \t", "https://example.com/a"},
      {"http://example.com:443/", "http://example.com:443/"},
      {"https://example.com:8443?q=1#x", "https://example.com:8443/?q=1#x"},
      {"https://example.com/a/./b/../c/..", "https://example.com/a/"},
      {"https://example.com/../../x", "https://example.com/x"},
      {"https://example.com/%2e%2E/x", "https://example.com/x"},
      {"https://example.com/a b\"<>", "https://example.com/a%20b%22%3C%3E"},
      {"https://example.com/%zz?%", "https://example.com/%25zz?%25"},
      {"https://example.com/é?ü", "https://example.com/%C3%A9?%C3%BC"},
      {"https://exa\nmple.com/a\tb", "https://example.com/ab"},
      {"https://user:p%40ss@example.com/", "https://example.com/"},
      {"feed://example.com/rss", "https://example.com/rss"},
      {"feed:http://example.com/rss", "http://example.com/rss"},
      {"http://[::1]:8080/", "http://[::1]:8080/"},
      {"https://München.example/", "https://xn--mnchen-3ya.example/"},
      {"http://bücher.example:8080/ü", "http://xn--bcher-kva.example:8080/%C3%BC"},
      {"http://ｅｘａｍｐｌｅ。com/", "http://example.com/"},
      {"https://a.example\\@b.example/", "https://a.example/%5C@b.example/"},
  };
  for (const auto& [address, expected] : cases) EXPECT_EQ(text_of(address), expected) << address;
}

TEST(Url, RefusesTextThatIsNotAWebAddress) {
  for (const char* address : {"",
                              "example.com",
                              "javascript:alert(1)",
                              "JaVa\nScript:alert(1)",
                              "data:text/html,x",
                              "file:///etc/passwd",
                              "ftp://example.com/",
                              "gopher://example.com/",
                              "http:",
                              "http://",
                              "http:///x",
                              "http://.",
                              "http://a b/",
                              "http://example.com:0/",
                              "http://example.com:65536/",
                              "http://example.com:8x/",
                              "http://[::1/",
                              "http://[not]/",
                              "http://a\"b/",
                              "http://<script>/",
                              "http://℀.example/",
                              "http://ü..example/",
                              "http://\xFF.example/",
                              "http:/example.com/"}) {
    EXPECT_EQ(text_of(address), "refused") << address;
  }
  EXPECT_EQ(text_of("https://example.com/" + std::string(9000, 'a')), "refused");
}

TEST(Url, ResolvesReferences) {
  const Url base = Url::parse("http://a/b/c/d?q#f").value();
  const std::pair<const char*, const char*> cases[] = {
      {"g", "http://a/b/c/g"},
      {"./g", "http://a/b/c/g"},
      {"g/", "http://a/b/c/g/"},
      {"/g", "http://a/g"},
      {"//g", "http://g/"},
      {"?y", "http://a/b/c/d?y"},
      {"g?y", "http://a/b/c/g?y"},
      {"#s", "http://a/b/c/d?q#s"},
      {"g#s", "http://a/b/c/g#s"},
      {"g?y#s", "http://a/b/c/g?y#s"},
      {"", "http://a/b/c/d?q"},
      {".", "http://a/b/c/"},
      {"..", "http://a/b/"},
      {"../g", "http://a/b/g"},
      {"../../g", "http://a/g"},
      {"../../../g", "http://a/g"},
      {"g;x=1/../y", "http://a/b/c/y"},
      {"https://x/y", "https://x/y"},
      {"a:b", "refused"},
      {"javascript:x", "refused"},
      {" g\n", "http://a/b/c/g"},
      {"1:2", "http://a/b/c/1:2"},
  };
  for (const auto& [reference, expected] : cases) {
    const auto url = base.resolve(reference);
    EXPECT_EQ(url.ok() ? url->text() : "refused", expected) << reference;
  }
}

TEST(Url, KnowsItsParts) {
  const Url url = Url::parse("https://me:s%3Acret@example.com:99/p?q#f").value();
  EXPECT_EQ(url.user(), "me:s:cret");
  EXPECT_EQ(url.origin(), "https://example.com:99");
  EXPECT_EQ(url.request_text(), "https://example.com:99/p?q");
  EXPECT_EQ(url.port(), 99);
  EXPECT_EQ(Url::parse("https://example.com/").value().port(), 443);
  EXPECT_EQ(url.resolve("/x").value().user(), "");
}

TEST(RefusedPorts, AreThoseOfOtherServices) {
  for (const int port : {22, 25, 6667, 10080, 1}) EXPECT_TRUE(is_refused_port(port)) << port;
  for (const int port : {80, 443, 8080, 8443, 3000}) EXPECT_FALSE(is_refused_port(port)) << port;
}

}  // namespace
}  // namespace kin::net
