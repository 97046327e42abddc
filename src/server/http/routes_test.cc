#include "server/http/routes.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "server/http/target.h"

namespace kin::server {
namespace {

using testing::ElementsAre;

Request request(std::string method, std::string path) {
  return {.method = std::move(method), .target = path, .path = path};
}

std::function<Response(const Request&, std::uint64_t)> says(const std::string& words) {
  return [words](const Request&, std::uint64_t id) {
    return Response{.body = words + " " + std::to_string(id)};
  };
}

RouteTable some_routes() {
  RouteTable routes;
  routes.add({.method = "GET", .pattern = "/feeds", .handler = says("list")});
  routes.add({.method = "POST", .pattern = "/feeds", .handler = says("add"), .lane = Lane::kSlow});
  routes.add({.method = "GET", .pattern = "/feeds/{id}/icon", .handler = says("icon")});
  return routes;
}

std::string body_of(const RouteTable& routes, const Request& asked) {
  const Plan plan = routes.plan(asked);
  return plan.refusal ? std::to_string(plan.refusal->status) : plan.handler(asked).body;
}

TEST(RouteTable, FindsByMethodAndPath) {
  const RouteTable routes = some_routes();
  EXPECT_EQ(body_of(routes, request("GET", "/feeds")), "list 0");
  EXPECT_EQ(body_of(routes, request("POST", "/feeds")), "add 0");
  EXPECT_EQ(routes.plan(request("POST", "/feeds")).lane, Lane::kSlow);
  EXPECT_EQ(body_of(routes, request("HEAD", "/feeds")), "list 0");
  EXPECT_EQ(body_of(routes, request("GET", "/feeds/18446744073709551615/icon")),
            "icon 18446744073709551615");
}

TEST(RouteTable, SaysThatThereIsNothing) {
  const RouteTable routes = some_routes();
  for (const char* path :
       {"/", "/feed", "/feeds/", "/feeds/x/icon", "/feeds//icon", "/feeds/-1/icon",
        "/feeds/1x/icon", "/feeds/18446744073709551616/icon", "/feeds/1/icon/"})
    EXPECT_EQ(body_of(routes, request("GET", path)), "404") << path;
}

TEST(RouteTable, SaysWhichMethodsThereAre) {
  const RouteTable routes = some_routes();
  const Plan plan = routes.plan(request("DELETE", "/feeds"));
  ASSERT_TRUE(plan.refusal);
  EXPECT_EQ(plan.refusal->status, 405);
  EXPECT_EQ(net::find_header(plan.refusal->headers, "Allow"), "GET, HEAD, POST");
}

TEST(Target, IsDecoded) {
  const auto target = parse_target("/a%20b/c+d?q=caf%C3%A9+m4&&empty=&flag&q=2#part");
  ASSERT_TRUE(target.ok());
  EXPECT_EQ(target->path, "/a b/c+d");
  EXPECT_THAT(target->query, ElementsAre(Parameter{"q", "café m4"}, Parameter{"empty", ""},
                                         Parameter{"flag", ""}, Parameter{"q", "2"}));
}

TEST(Target, RefusesWhatIsNone) {
  for (const std::string_view text :
       {"", "*", "x", "http://h/", "/%", "/%1", "/%g1", "/%ff", "/%0a", "/%7f", "/?%c3"})
    EXPECT_FALSE(parse_target(text).ok()) << text;
  std::string many = "/?";
  for (int i = 0; i < 65; ++i) many += "a=b&";
  EXPECT_FALSE(parse_target(many).ok());
}

}  // namespace
}  // namespace kin::server
