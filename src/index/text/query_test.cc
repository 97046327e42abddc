#include "index/text/query.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

namespace kin::index {
namespace {

// A query written out in full: must +, must not -, should nothing.
std::string shape(const TextQuery& query) {
  const std::string field = query.field.empty() ? "" : query.field + ":";
  std::string text = query.text;
  std::ranges::replace(text, kAnyText, '*');
  std::ranges::replace(text, kAnyCharacter, '?');
  switch (query.kind) {
    case TextQuery::Kind::kWords: return field + text;
    case TextQuery::Kind::kPhrase: return field + '"' + text + '"';
    case TextQuery::Kind::kPattern: return field + "pattern " + text;
    case TextQuery::Kind::kFuzzy: return fmt::format("{}{}~{}", field, text, query.distance);
    case TextQuery::Kind::kEverything: return "everything";
    case TextQuery::Kind::kBoolean: break;
  }
  std::string parts;
  for (const TextQuery& part : query.must) parts += " +" + shape(part);
  for (const TextQuery& part : query.should) parts += " " + shape(part);
  for (const TextQuery& part : query.must_not) parts += " -" + shape(part);
  return "(" + (parts.empty() ? parts : parts.substr(1)) + ")";
}

std::string parsed(std::string_view text) {
  const auto query = parse_query(text, {});
  return query.ok() ? shape(*query) : query.error().message;
}

TEST(TextQuery, ReadsWordsOperatorsAndGroups) {
  EXPECT_EQ(parsed("apple"), "apple");
  EXPECT_EQ(parsed("apple pie"), "(apple pie)");
  EXPECT_EQ(parsed("apple OR pie"), "(apple pie)");
  EXPECT_EQ(parsed("a AND b OR c"), "((+a +b) c)");
  EXPECT_EQ(parsed("a AND (b OR c)"), "(+a +(b c))");
  EXPECT_EQ(parsed("a AND NOT b"), "(+a -b)");
  EXPECT_EQ(parsed("a NOT b"), "(a -b)");
  EXPECT_EQ(parsed("a OR NOT b"), "(a (-b))");
  EXPECT_EQ(parsed("+a b -c"), "(+a b -c)");
  EXPECT_EQ(parsed("NOT NOT a"), "a");
  EXPECT_EQ(parsed("or and not ORDER"), "(or and not ORDER)");
  EXPECT_EQ(parsed(" \t "), "()");
}

TEST(TextQuery, ReadsPhrasesPatternsFieldsAndDistances) {
  EXPECT_EQ(parsed("\"apple pie\" x"), "(\"apple pie\" x)");
  EXPECT_EQ(parsed("app* w?ld*"), "(pattern app* pattern w?ld*)");
  EXPECT_EQ(parsed("appel~1 x~2 y~"), "(appel~1 x~2 y~1)");
  EXPECT_EQ(parsed("title:apple tag:x*"), "(title:apple tag:pattern x*)");
  EXPECT_EQ(parsed("title:(a \"b c\" tag:d)"), "(title:a title:\"b c\" tag:d)");
  EXPECT_EQ(parsed("*"), "everything");
  EXPECT_EQ(parsed("is it so?"), "(is it so)");
}

TEST(TextQuery, TakesABackslashAtItsWord) {
  EXPECT_EQ(parsed("a\\*b 12\\:30 \\(x"), "(a*b 12:30 (x)");
  EXPECT_EQ(parsed("\"say \\\"hi\\\"\""), "\"say \"hi\"\"");
}

TEST(TextQuery, PointsAtTheCharacterThatIsWrong) {
  EXPECT_EQ(parsed("apple \"pie"),
            "this \" is not closed (column 7 of the query)\n  apple \"pie\n        ^");
  EXPECT_EQ(parsed("äß (b"), "this ( is not closed (column 4 of the query)\n  äß (b\n     ^");
  EXPECT_EQ(parsed("a) b"), "there is no ( for this ) (column 2 of the query)\n  a) b\n   ^");
  for (const auto& [query, column] : std::vector<std::pair<std::string, int>>{{"AND a", 1},
                                                                              {"a AND", 3},
                                                                              {"a OR", 3},
                                                                              {"OR a", 1},
                                                                              {"a AND OR b", 3},
                                                                              {"a OR AND b", 6},
                                                                              {"x NOT", 3},
                                                                              {"a ()", 3},
                                                                              {"a colour:b", 3},
                                                                              {"title: b", 6},
                                                                              {"ab~3", 4},
                                                                              {"a*b~1", 4},
                                                                              {"\"a b\"~2", 6}}) {
    EXPECT_THAT(parsed(query), testing::HasSubstr(fmt::format("(column {} of", column))) << query;
  }
}

TEST(TextQuery, BearsNoEndlessParentheses) {
  EXPECT_THAT(parsed(std::string(10'000, '(') + "a"), testing::HasSubstr("too deep"));
}

}  // namespace
}  // namespace kin::index
