#include "stories/opml.h"

#include <fmt/format.h>

#include <algorithm>
#include <pugixml.hpp>

#include "base/ascii.h"
#include "stories/feeds/format_readers.h"
#include "stories/feeds/html_text.h"
#include "stories/feeds/xml_text.h"

namespace kin::stories {
namespace {

constexpr std::size_t kLongestTitle = 500;

// Programs write the names of attributes in upper, lower and mixed case.
std::string_view attribute(pugi::xml_node node, std::string_view lower_name) {
  for (const pugi::xml_attribute found : node.attributes()) {
    if (same_but_for_case(found.name(), lower_name)) return found.value();
  }
  return {};
}

std::string title_of(pugi::xml_node outline) {
  for (const char* name : {"title", "text"}) {
    std::string title = one_line(attribute(outline, name));
    if (!title.empty()) return clipped(std::move(title), kLongestTitle);
  }
  return {};
}

class OpmlReader {
 public:
  Opml read(pugi::xml_node root) {
    opml_.title = clipped(one_line(root.child("head").child_value("title")), kLongestTitle);
    // load_xml() bounds the depth of nesting, and so of this recursion.
    const pugi::xml_node body = root.child("body");
    read_outlines(body ? body : root);
    return std::move(opml_);
  }

 private:
  void read_outlines(pugi::xml_node parent) {
    for (const pugi::xml_node node : parent.children("outline")) {
      const std::string_view address = attribute(node, "xmlurl");
      // An outline may be a feed and hold others at the same time.
      if (!address.empty()) add(node, address);
      if (!node.child("outline")) continue;
      // Deeper levels are read, and their feeds put into the deepest folder.
      const bool deeper = folders_.size() < kDeepestFolder;
      const std::string title = title_of(node);
      if (deeper && !title.empty()) folders_.push_back(title);
      read_outlines(node);
      if (deeper && !title.empty()) folders_.pop_back();
    }
  }

  void add(pugi::xml_node node, std::string_view address) {
    OpmlFeed feed{.url = make_absolute(std::nullopt, address),
                  .title = title_of(node),
                  .site = make_absolute(std::nullopt, attribute(node, "htmlurl")),
                  .folders = folders_};
    // Counted, so that the user learns how many are missing.
    if (feed.url.empty() || opml_.feeds.size() >= kMostOpmlFeeds)
      ++opml_.left_out;
    else
      opml_.feeds.push_back(std::move(feed));
  }

  Opml opml_;
  std::vector<std::string> folders_;
};

pugi::xml_node folder_in(pugi::xml_node parent, const std::string& name) {
  for (const pugi::xml_node node : parent.children("outline")) {
    // Feeds of one folder need not follow each other in the list.
    if (!node.attribute("xmlUrl") && node.attribute("text").value() == name) return node;
  }
  pugi::xml_node folder = parent.append_child("outline");
  folder.append_attribute("text").set_value(name.c_str());
  folder.append_attribute("title").set_value(name.c_str());
  return folder;
}

void append_feed(pugi::xml_node folder, const OpmlFeed& feed) {
  const std::string& title = feed.title.empty() ? feed.url : feed.title;
  pugi::xml_node outline = folder.append_child("outline");
  outline.append_attribute("type").set_value("rss");
  outline.append_attribute("text").set_value(title.c_str());
  if (!feed.title.empty()) outline.append_attribute("title").set_value(title.c_str());
  outline.append_attribute("xmlUrl").set_value(feed.url.c_str());
  if (!feed.site.empty()) outline.append_attribute("htmlUrl").set_value(feed.site.c_str());
}

struct StringWriter : pugi::xml_writer {
  void write(const void* bytes, std::size_t size) override {
    out.append(static_cast<const char*>(bytes), size);
  }
  std::string out;
};

}  // namespace

Result<Opml> parse_opml(std::string_view bytes) {
  KIN_TRY(const LoadedXml loaded, load_xml({.bytes = bytes}));
  const pugi::xml_node root = loaded.document->document_element();
  if (std::string_view(root.name()) != "opml")
    return Error{Code::kInvalidArgument, fmt::format("this is not OPML: it starts with <{}>",
                                                     std::string_view(root.name()).substr(0, 60))};
  Opml opml = OpmlReader().read(root);
  // Repairing that leaves nothing is a failure.
  if (!loaded.mended.empty() && opml.feeds.empty())
    return Error{Code::kInvalidArgument, fmt::format("the XML is broken at {}", loaded.mended)};
  return opml;
}

std::string write_opml(const Opml& opml) {
  pugi::xml_document document;
  pugi::xml_node declaration = document.append_child(pugi::node_declaration);
  declaration.append_attribute("version").set_value("1.0");
  declaration.append_attribute("encoding").set_value("UTF-8");
  pugi::xml_node root = document.append_child("opml");
  root.append_attribute("version").set_value("2.0");
  root.append_child("head").append_child("title").text().set(opml.title.c_str());
  pugi::xml_node body = root.append_child("body");
  for (const OpmlFeed& feed : opml.feeds) {
    pugi::xml_node folder = body;
    for (const std::string& name : feed.folders) folder = folder_in(folder, name);
    append_feed(folder, feed);
  }
  StringWriter writer;
  document.save(writer, "  ", pugi::format_default, pugi::encoding_utf8);
  return std::move(writer.out);
}

}  // namespace kin::stories
