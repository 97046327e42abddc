// For any text in a story, the feeds are well formed and contain no markup from the text.
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

#include "server/api/stories_feeds.h"
#include "stories/feed_parser.h"

namespace {

void require(bool truth) {
  if (!truth) std::abort();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace kin::server;
  const std::string text(reinterpret_cast<const char*>(data), size);
  FeedDocument document{
      .origin = "http://localhost", .target = "/stories.xml?q=" + text, .stories = {}};
  kin::stories::StoryView story;
  story.id = kin::stories::StoryId{1};
  story.count = 3;
  story.representative = {.feed = kin::stories::FeedId{1},
                          .source = text,
                          .title = "x" + text,
                          .url = "https://example.org/" + text,
                          .summary = text,
                          .author = text};
  story.others = {story.representative};
  document.stories = {story};
  require(xml_escaped(text).find_first_of("<>\"'") == std::string::npos);
  for (const std::string& feed : {atom_feed(document), json_feed(document)}) {
    const auto parsed = kin::stories::parse_feed(
        {.bytes = feed, .address = "http://localhost/", .now = kin::stories::Time{}});
    require(parsed.ok() && parsed->mended.empty() && parsed->items.size() == 1);
  }
  return 0;
}
