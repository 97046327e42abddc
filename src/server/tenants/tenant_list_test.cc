#include "server/tenants/tenant_list.h"

#include <gmock/gmock.h>

#include "base/ascii.h"
#include "server/http/gatekeeper.h"

namespace kin::server {
namespace {

using testing::HasSubstr;

std::string line(const std::string& tenant, const std::string& token,
                 const std::string& more = {}) {
  return R"({"tenant": ")" + tenant + R"(", "token_sha256": ")" + to_hex(sha256(token)) + "\"" +
         more + "}\n";
}

std::string problem(const std::string& text) {
  const auto parsed = TenantList::parse(text);
  return parsed.ok() ? "" : parsed.error().message;
}

TEST(TenantList, TokensLeadToTheirTenants) {
  const auto list = TenantList::parse(
      "# two tenants, one with two tokens\n\n" +
      line("acme", "first-token",
           R"(, "entities": 10, "bytes": 1000, "queries_per_second": 0.5, "weight": 3)") +
      line("other", "second-token") + line("other", "third-token"));
  ASSERT_TRUE(list.ok()) << list.error().message;
  EXPECT_EQ(list->size(), 2U);
  EXPECT_EQ(*list->of_token("first-token"),
            (Tenant{.name = "acme",
                    .quotas = {.entities = 10, .bytes = 1000, .queries_per_second = 0.5},
                    .weight = 3}));
  EXPECT_EQ(list->of_token("second-token")->name, "other");
  EXPECT_EQ(list->of_token("third-token")->name, "other");
  EXPECT_EQ(list->of_token("first-toke"), nullptr);
  EXPECT_EQ(list->of_token(""), nullptr);
  EXPECT_EQ(list->find("nobody"), nullptr);
}

TEST(TenantList, ALineThatIsWrongIsNamed) {
  EXPECT_THAT(problem("\n" + line("a.b", "t")), HasSubstr("line 2: \"a.b\" is not a name"));
  EXPECT_THAT(problem("{}"), HasSubstr("line 1"));
  EXPECT_THAT(problem("tenant: a"), HasSubstr("line 1"));
  EXPECT_THAT(problem(R"({"tenant": "a", "token_sha256": "secret"})"), HasSubstr("sha256sum"));
  EXPECT_THAT(problem(line("a", "t") + line("b", "t")), HasSubstr("line 2: this token"));
  EXPECT_THAT(problem(line("a", "t") + line("a", "u", R"(, "entities": 1)")),
              HasSubstr("other quotas"));
  EXPECT_THAT(problem(line("a", "t", R"(, "entitys": 1)")), HasSubstr("entitys"));
  EXPECT_THAT(problem(line("a", "t", R"(, "queries_per_second": 0)")), HasSubstr("queries"));
}

}  // namespace
}  // namespace kin::server
