#include "text/normalize.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <random>
#include <string>
#include <thread>
#include <vector>

#include "text/reference.h"

namespace kin::text {
namespace {

constexpr std::array kPresets{Normalization::kNone, Normalization::kLight, Normalization::kStandard,
                              Normalization::kAggressive};

std::string normalized(std::string_view utf8, Normalization preset) {
  std::string out = "left over";
  normalize(utf8, preset, out);
  return out;
}

TEST(UnicodeVersion, IsOneOfThisCentury) {
  const std::string version = unicode_version();
  EXPECT_GE(std::stoi(version), 4) << version;
  EXPECT_EQ(std::count(version.begin(), version.end(), '.'), 2) << version;
}

TEST(Normalize, LeavesTextUntouchedWithNone) {
  EXPECT_EQ(normalized(" A\t\u00E9!  e\u0301 ", Normalization::kNone), " A\t\u00E9!  e\u0301 ");
}

TEST(Normalize, ComposesAndCollapsesWhiteSpaceWithLight) {
  EXPECT_EQ(normalized("\n A\t\u00A0 B, e\u0301\u2003", Normalization::kLight), "A B, \u00E9");
}

TEST(Normalize, LowersAndDropsPunctuationWithStandard) {
  EXPECT_EQ(normalized("  Hello, \u201CWORLD\u201D\u2014it\u2019s 42! ", Normalization::kStandard),
            "hello world it s 42");
  EXPECT_EQ(normalized("\u00C9TUDE E\u0301tude \u0391\u03A3", Normalization::kStandard),
            "\u00E9tude \u00E9tude \u03B1\u03C3");
}

TEST(Normalize, KeepsMarksAndNumbersOfEveryScript) {
  EXPECT_EQ(normalized("\u0939\u093F\u0928\u094D\u0926\u0940\u0964 \u0663\u00BD",
                       Normalization::kStandard),
            "\u0939\u093F\u0928\u094D\u0926\u0940 \u0663\u00BD");
}

TEST(Normalize, FoldsAccentsAndWidthsWithAggressive) {
  EXPECT_EQ(normalized("\u00C9tude \uFB01ne \uFF21\uFF22 \u00BD", Normalization::kAggressive),
            "etude fine ab 1 2");
}

TEST(Normalize, GivesNothingForTextWithoutWords) {
  for (const char* text : {"", " ", "\t\n", "\u00A0\u2003"}) {
    EXPECT_EQ(normalized(text, Normalization::kLight), "");
    EXPECT_EQ(normalized(text, Normalization::kStandard), "");
  }
  EXPECT_EQ(normalized("?!\u2026\u201C", Normalization::kStandard), "");
}

TEST(Normalize, AgreesWithTheReferenceOnEveryCharacterAndItsNeighbours) {
  const auto encode = [](char32_t c) {
    std::string out;
    if (c < 0x80) return std::string(1, static_cast<char>(c));
    const auto byte = [&out](char32_t value) { out += static_cast<char>(value); };
    if (c < 0x800) {
      byte(0xC0 | c >> 6);
    } else if (c < 0x10000) {
      byte(0xE0 | c >> 12), byte(0x80 | (c >> 6 & 0x3F));
    } else {
      byte(0xF0 | c >> 18), byte(0x80 | (c >> 12 & 0x3F)), byte(0x80 | (c >> 6 & 0x3F));
    }
    byte(0x80 | (c & 0x3F));
    return out;
  };
  for (char32_t c = 0; c < 0x110000; ++c) {
    if (c >= 0xD800 && c < 0xE000) continue;
    if (c >= 0x30000 && c % 64 != 0) continue;  // planes of long uniform ranges
    const std::string marked = "Q" + encode(c) + "\u0316\u0307" + encode(c) + "\u4E2Dz";
    const std::string plain = "Q" + encode(c) + "x " + encode(c) + "\u0E48\u4E2Dz";
    for (const std::string& text : {marked, plain}) {
      for (const Normalization preset : kPresets) {
        const std::string once = normalized(text, preset);
        ASSERT_EQ(once, normalize_reference(text, preset)) << std::hex << static_cast<int>(c);
        ASSERT_EQ(normalized(once, preset), once) << std::hex << static_cast<int>(c);
      }
    }
  }
}

TEST(Normalize, GivesTheSameFromManyThreads) {
  const std::string text = "Zo\u00EB \u13A0\uAB70 \u10A0 \U00010400 \u1E9E \u2C00 \uA640!";
  std::vector<std::string> results(8);
  std::vector<std::thread> threads;
  for (std::string& result : results) {
    threads.emplace_back([&] { normalize(text, Normalization::kStandard, result); });
  }
  for (std::thread& thread : threads) thread.join();
  for (const std::string& result : results) {
    EXPECT_EQ(result, normalize_reference(text, Normalization::kStandard));
  }
}

// Bytes after the end of the text are never read, even if its last bytes announce more.
TEST(Normalize, ReadsIllFormedBytesAndNothingBeyondThem) {
  std::mt19937_64 random(7);
  for (int i = 0; i < 2'000; ++i) {
    std::string bytes(random() % 40, '\0');
    for (char& byte : bytes) byte = static_cast<char>(random() | (random() % 4 != 0 ? 0x80 : 0));
    const std::string before_letters = bytes + "abcdefgh";
    const std::string before_marks = bytes + "\xCC\x81\xCC\x81\xCC\x81\xCC\x81";
    EXPECT_EQ(normalized(bytes, Normalization::kNone), bytes);
    for (const Normalization preset : kPresets) {
      const std::string_view one = std::string_view(before_letters).substr(0, bytes.size());
      const std::string_view other = std::string_view(before_marks).substr(0, bytes.size());
      EXPECT_EQ(normalized(one, preset), normalized(other, preset));
    }
  }
}

TEST(ParseNormalization, KnowsEveryNameAndListsThemOtherwise) {
  for (const Normalization preset : kPresets) {
    EXPECT_EQ(*parse_normalization(name_of(preset)), preset);
  }
  const auto unknown = parse_normalization("Standard");
  ASSERT_FALSE(unknown.ok());
  EXPECT_EQ(unknown.error().code, Code::kInvalidArgument);
  for (const char* name : {"none", "light", "standard", "aggressive"}) {
    EXPECT_NE(unknown.error().message.find(name), std::string::npos);
  }
}

TEST(IsValidUtf8, AcceptsWellFormedText) {
  EXPECT_TRUE(is_valid_utf8(""));
  EXPECT_TRUE(is_valid_utf8("plain text of more than eight bytes"));
  EXPECT_TRUE(is_valid_utf8("\u0080\u07FF\u0800\uD7FF\uE000\uFFFF\U00010000\U0010FFFF"));
  EXPECT_TRUE(is_valid_utf8("some ASCII before \u00E9 and after"));
}

TEST(IsValidUtf8, RefusesIllFormedText) {
  for (const char* bytes : {
           "\x80",  // a tail without a lead
           "\xC0\x80",
           "\xC1\xBF",  // overlong
           "\xE0\x9F\xBF",
           "\xF0\x8F\xBF\xBF",
           "\xED\xA0\x80",
           "\xED\xBF\xBF",  // surrogates
           "\xF4\x90\x80\x80",
           "\xF5\x80\x80\x80",
           "\xFF",  // beyond U+10FFFF
           "\xC3",
           "\xE2\x82",
           "\xF0\x9F\x98",
           "abcdefgh\xE2\x82",  // cut short
           "\xC3(",
           "\xE2(\xA1",
           "\xE2\x82(",
           "\xF0\x9F\x98(",
       }) {
    EXPECT_FALSE(is_valid_utf8(bytes)) << bytes;
  }
}

}  // namespace
}  // namespace kin::text
