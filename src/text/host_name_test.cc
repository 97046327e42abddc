#include "text/host_name.h"

#include <gtest/gtest.h>

namespace kin::text {
namespace {

std::string ascii_of(std::string_view name) {
  const auto ascii = host_name_to_ascii(name);
  return ascii.ok() ? *ascii : "refused";
}

TEST(HostName, IsWrittenInPunycode) {
  const std::pair<const char*, const char*> cases[] = {
      {"bücher.example", "xn--bcher-kva.example"},
      {"BÜCHER.Example", "xn--bcher-kva.example"},
      {"bu\u0308cher.example", "xn--bcher-kva.example"},
      {"faß.example", "xn--fa-hia.example"},
      {"例え.テスト", "xn--r8jz45g.xn--zckzah"},
      {"点看。example", "xn--3pxu8k.example"},
      {"ｆｕｌｌ．ｅｘａｍｐｌｅ", "full.example"},
      {"пример.рф.", "xn--e1afmkfd.xn--p1ai."},
      {"مثال.إختبار", "xn--mgbh0fb.xn--kgbechtv"},
      {"münchen-ost.a--b.example", "xn--mnchen-ost-9db.a--b.example"},
      {"１２７.０.０.１", "127.0.0.1"},
      {"xn--bcher-kva.example", "xn--bcher-kva.example"},
      {"Plain_Name.example", "plain_name.example"},
  };
  for (const auto& [name, expected] : cases) EXPECT_EQ(ascii_of(name), expected) << name;
}

TEST(HostName, RefusesNamesThatAreNotValid) {
  const std::string long_label(64, 'a');
  for (const std::string& name :
       {std::string(), std::string("."), std::string("..."), std::string("a b"), std::string("a/b"),
        std::string("\xFF.example"), std::string("b\xC3.example"),
        std::string("℀.example"),           // maps to "a/c"
        std::string("a\u200Cb.example"),    // a joiner that joins nothing
        std::string("\u0301a.example"),     // begins with a combining mark
        std::string("\uFFFD.example"),      // the replacement character
        std::string("\u2488.example"),      // maps to "1."
        std::string("ü..example"),          // an empty label
        std::string("xn--\u00FC.example"),  // punycode that is not ASCII
        std::string("אa.example"),          // two directions in one label
        "ü" + long_label + ".example", std::string(300, 'a'), "ü." + std::string(260, 'a')})
    EXPECT_EQ(ascii_of(name), "refused") << name;
}

}  // namespace
}  // namespace kin::text
