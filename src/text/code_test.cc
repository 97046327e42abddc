#include "text/code.h"

#include <gtest/gtest.h>

namespace kin::text {
namespace {

std::string tokens(std::string_view code) {
  std::string out;
  code_tokens(code, guess_comments(code), out);
  return out;
}

constexpr std::string_view kC = R"(#include <stdio.h>

/* Adds two numbers,
   and prints them. */
int main(void) {
  int a = 1;  // the first
  printf("http://example.org /* not a comment */ %d\n", a + 2);
  return 0;
}
)";

constexpr std::string_view kPython = R"py(#!/usr/bin/env python3
"""Counts words."""
import sys  # for the arguments


def count(text):
    # every word once
    return len(set(text.split("#"))) // 2


print(count(sys.argv[1]))
)py";

constexpr std::string_view kShell = R"(# Makes a copy.
if [ $# -lt 1 ]; then
  echo "usage: copy FILE  # really"
  exit 1
fi
cp "$1" "${1%.txt}.bak"   # beside it
)";

constexpr std::string_view kRuby = R"(require 'set'
# Greets.
def greet(name)
  puts "hello #{name}" # politely
end
)";

constexpr std::string_view kSql = R"(-- all customers
SELECT name, 'it''s -- not a comment'
FROM customers /* of today */
WHERE id = 7; -- lucky
)";

constexpr std::string_view kLua = R"(--[[ a module
     of two lines ]]
local t = {}
function t.add(a, b) -- adds
  return a + b
end
return t
)";

constexpr std::string_view kHtml = R"(<!DOCTYPE html>
<html><!-- a
comment --><body class="a">it's // here # and -- there</body></html>
)";

constexpr std::string_view kRust = R"(/// A point.
struct Point<'a> { x: f64, name: &'a str }

impl<'a> Point<'a> {
    fn norm(&self) -> f64 { self.x.abs() } // always positive
}
)";

constexpr std::string_view kGo = R"(package main

import "fmt"

func main() {
	// prints
	fmt.Println(`a // raw
string`, 1)
}
)";

TEST(GuessComments, TellsLanguagesApart) {
  EXPECT_EQ(guess_comments(kC), Comments::kSlash);
  EXPECT_EQ(guess_comments(kRust), Comments::kSlash);
  EXPECT_EQ(guess_comments(kGo), Comments::kSlash);
  EXPECT_EQ(guess_comments(kPython), Comments::kHash);
  EXPECT_EQ(guess_comments(kPython.substr(kPython.find('\n') + 1)), Comments::kHash);
  EXPECT_EQ(guess_comments(kShell), Comments::kHash);
  EXPECT_EQ(guess_comments(kRuby), Comments::kHash);
  EXPECT_EQ(guess_comments(kSql), Comments::kDash);
  EXPECT_EQ(guess_comments(kLua), Comments::kDash);
  EXPECT_EQ(guess_comments(kHtml), Comments::kMarkup);
}

TEST(GuessComments, TakesNothingForACommentWhereNothingSpeaksForALanguage) {
  EXPECT_EQ(guess_comments(""), Comments::kNone);
  EXPECT_EQ(guess_comments("A sentence with a # and a // in it"), Comments::kNone);
}

TEST(CodeTokens, LeavesOutTheCommentsOfC) {
  EXPECT_EQ(tokens(kC),
            "# include < stdio . h > int main ( void ) { int a = 1 ; printf ( "
            "\"http://example.org /* not a comment */ %d\\n\" , a + 2 ) ; return 0 ; }");
}

TEST(CodeTokens, LeavesOutTheCommentsOfPython) {
  EXPECT_EQ(tokens(kPython),
            "\"\"\"Counts words.\"\"\" import sys def count ( text ) : return len ( set ( text . "
            "split ( \"#\" ) ) ) / / 2 print ( count ( sys . argv [ 1 ] ) )");
}

TEST(CodeTokens, LeavesOutTheCommentsOfAShell) {
  EXPECT_EQ(tokens(kShell),
            "if [ $ # - lt 1 ] ; then echo \"usage: copy FILE  # really\" exit 1 fi cp \"$1\" "
            "\"${1%.txt}.bak\"");
}

TEST(CodeTokens, LeavesOutTheCommentsOfRubySqlLuaAndHtml) {
  EXPECT_EQ(tokens(kRuby), "require 'set' def greet ( name ) puts \"hello #{name}\" end");
  EXPECT_EQ(tokens(kSql), "SELECT name , 'it' 's -- not a comment' FROM customers WHERE id = 7 ;");
  EXPECT_EQ(tokens(kLua), "local t = { } function t . add ( a , b ) return a + b end return t");
  EXPECT_EQ(tokens(kHtml),
            "< ! DOCTYPE html > < html > < body class = \" a \" > it ' s / / here # and - - there "
            "< / body > < / html >");
}

TEST(CodeTokens, OperatorsCountAndSpacesDoNot) {
  EXPECT_NE(tokens("int f(int a, int b) {\n  return a + b;\n}\n"),
            tokens("int f(int a, int b) {\n  return a - b;\n}\n"));
  EXPECT_EQ(tokens("int f(int a,int b){\n\treturn a+b;}\n"),
            tokens("int f( int a, int b )\n{\n  return a + b;  // the sum\n}\n"));
}

TEST(CodeTokens, EndAtTheEndOfWhatIsNotClosed) {
  EXPECT_EQ(tokens("x = \"open\nint b;\nint c;\n"), "x = \" open int b ; int c ;");
  std::string out;
  code_tokens("int a; /* open", Comments::kSlash, out);
  EXPECT_EQ(out, "int a ;");
  code_tokens("'''open", Comments::kHash, out);
  EXPECT_EQ(out, "'''open");
  code_tokens("\"a\\", Comments::kSlash, out);
  EXPECT_EQ(out, "\" a \\");
}

TEST(CodeTokens, KeepsOtherScriptsWhole) {
  EXPECT_EQ(tokens("größe = 1; // Größe\nname = \"新闻\";\n"), "größe = 1 ; name = \"新闻\" ;");
}

}  // namespace
}  // namespace kin::text
