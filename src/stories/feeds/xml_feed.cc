#include <fmt/format.h>

#include <pugixml.hpp>

#include "stories/feeds/format_readers.h"
#include "stories/feeds/html_text.h"

namespace kin::stories {
namespace {

enum class Space {
  kCore,
  kAtom,
  kDublinCore,
  kContent,
  kMedia,
  kItunes,
  kRdf,
  kFeedburner,
  kOther
};

struct KnownSpace {
  std::string_view uri;
  std::string_view prefix;  // used in feeds that do not declare it
  Space space;
};

constexpr KnownSpace kSpaces[] = {
    {"http://www.w3.org/2005/Atom", "atom", Space::kAtom},
    {"http://purl.org/atom/ns#", "", Space::kAtom},
    {"http://purl.org/dc/elements/1.1", "dc", Space::kDublinCore},
    {"http://purl.org/dc/terms", "dcterms", Space::kDublinCore},
    {"http://purl.org/rss/1.0/modules/content", "content", Space::kContent},
    {"http://search.yahoo.com/mrss", "media", Space::kMedia},
    {"http://www.itunes.com/dtds/podcast-1.0.dtd", "itunes", Space::kItunes},
    {"http://www.w3.org/1999/02/22-rdf-syntax-ns#", "rdf", Space::kRdf},
    {"http://rssnamespace.org/feedburner/ext/1.0", "feedburner", Space::kFeedburner},
    {"http://purl.org/rss/1.0", "rss", Space::kCore},
    {"http://my.netscape.com/rdf/simple/0.9", "", Space::kCore},
    {"http://backend.userland.com/rss2", "", Space::kCore},
};

struct Name {
  Space space;
  std::string_view local;
  friend bool operator==(const Name&, const Name&) = default;
};

std::string_view declared_uri(pugi::xml_node node, std::string_view prefix) {
  const std::string attribute = "xmlns:" + std::string(prefix);
  // The nearest declaration wins.
  for (; node; node = node.parent()) {
    const pugi::xml_attribute found = node.attribute(attribute.c_str());
    if (found) return found.value();
  }
  return {};
}

Space space_of(pugi::xml_node node, std::string_view prefix) {
  std::string_view uri = declared_uri(node, prefix);
  // Feeds write the same namespace with and without a slash.
  while (uri.ends_with('/')) uri.remove_suffix(1);
  for (const KnownSpace& known : kSpaces) {
    // Prefixes that are not declared mean what they usually mean.
    if (uri.empty() ? known.prefix == prefix : known.uri == uri) return known.space;
  }
  return Space::kOther;
}

Name name_of(pugi::xml_node node) {
  const std::string_view name = node.name();
  const std::size_t colon = name.find(':');
  // The default namespace is ignored: the root tells which format has names without a prefix.
  if (colon == std::string_view::npos) return {Space::kCore, name};
  return {space_of(node, name.substr(0, colon)), name.substr(colon + 1)};
}

bool is_text(pugi::xml_node node) {
  return node.type() == pugi::node_pcdata || node.type() == pugi::node_cdata;
}

// Most bytes of markup that are read from one field.
constexpr std::size_t kLongestMarkup = std::size_t{256} << 10;

enum class Inner {
  kText,           // the text alone
  kMarkup,         // text as it is, and the tags without attributes
  kEscapedMarkup,  // the same, with text that looks like markup escaped
};

std::string escaped(std::string_view text) {
  std::string out;
  for (const char c : text) out += c == '<' ? "&lt;" : c == '&' ? "&amp;" : std::string(1, c);
  return out;
}

// The content of `top`. Not recursive, so that deep nesting cannot overflow the stack.
std::string inner(pugi::xml_node top, Inner wanted) {
  std::string out;
  pugi::xml_node node = top.first_child();
  while (node && out.size() < kLongestMarkup) {
    if (is_text(node))
      out += wanted == Inner::kEscapedMarkup ? escaped(node.value()) : std::string(node.value());
    const bool tag = wanted != Inner::kText && node.type() == pugi::node_element;
    if (tag) out += fmt::format("<{}>", name_of(node).local);
    // Down first, then to the next sibling of the nearest ancestor that has one.
    if (node.first_child()) {
      node = node.first_child();
      continue;
    }
    while (node != top && !node.next_sibling()) {
      node = node.parent();
      if (wanted != Inner::kText && node != top) out += fmt::format("</{}>", name_of(node).local);
    }
    if (node == top) break;
    node = node.next_sibling();
  }
  // May cut a character; the text is made valid later.
  if (out.size() > kLongestMarkup) out.resize(kLongestMarkup);
  return out;
}

std::string plain(pugi::xml_node node) {
  return one_line(inner(node, Inner::kText));
}

// A text of RSS. Feeds write HTML in it, although RSS does not specify that.
std::string rss_text(pugi::xml_node node) {
  return feed_text(inner(node, Inner::kMarkup));
}

std::string rss_title(pugi::xml_node node) {
  return title_text(inner(node, Inner::kMarkup));
}

// Text constructs of RFC 4287 declare their type. References that are left in type "text" were
// escaped twice.
std::string atom_text(pugi::xml_node node, std::string (*read_html)(pugi::xml_node) = rss_text) {
  const std::string_view type = node.attribute("type").value();
  if (type == "xhtml" || type == "application/xhtml+xml")
    // Here text is text and tags are tags, so text that looks like a tag is escaped first.
    return html_to_text(inner(node, Inner::kEscapedMarkup));
  if (type == "html" || type == "text/html" ||
      std::string_view(node.attribute("mode").value()) == "escaped")
    return read_html(node);
  return feed_text(escaped(inner(node, Inner::kText)));
}

void keep_first(std::string& field, std::string value) {
  if (field.empty()) field = std::move(value);
}

// "ed@example.com (Ed Itor)" is Ed Itor.
std::string person(std::string text) {
  const std::size_t open = text.find('(');
  const std::size_t close = text.rfind(')');
  // RSS wants an e-mail address in front of the name.
  if (text.find('@') == std::string::npos || open == std::string::npos ||
      close == std::string::npos || close < open + 2)
    return text;
  return text.substr(open + 1, close - open - 1);
}

class XmlFeedReader {
 public:
  explicit XmlFeedReader(const FeedSource& source) : limits_(source.limits), now_(source.now) {
    const auto address = net::Url::parse(source.address);
    if (address.ok()) base_ = *address;
  }

  Result<Feed> read(pugi::xml_node root) {
    const Name name = name_of(root);
    if (name.local == "rss" || name.local == "RDF" || name.local == "channel") {
      read_rss(root, name.local);
    } else if (name.local == "feed") {
      read_atom(root);
    } else {
      return Error{Code::kInvalidArgument,
                   fmt::format("this XML is not a feed: it starts with <{}>",
                               std::string_view(root.name()).substr(0, 60))};
    }
    return std::move(feed_);
  }

 private:
  // The base address at `node`: applies the xml:base of its ancestors, the outermost first.
  std::optional<net::Url> base_at(pugi::xml_node node) const {
    std::vector<std::string_view> bases;
    for (; node; node = node.parent()) {
      const pugi::xml_attribute found = node.attribute("xml:base");
      if (found) bases.push_back(found.value());
    }
    std::optional<net::Url> base = base_;
    // Each xml:base is relative to the one outside it.
    for (auto it = bases.rbegin(); it != bases.rend(); ++it) {
      const auto url = base ? base->resolve(*it) : net::Url::parse(*it);
      if (url.ok()) base = *url;
    }
    return base;
  }

  std::string resolved(pugi::xml_node node, std::string_view reference) const {
    return make_absolute(base_at(node), reference);
  }

  // The address in an attribute of `node`.
  std::string linked(pugi::xml_node node, const char* attribute) const {
    return resolved(node, node.attribute(attribute).value());
  }

  FeedFormat rss_format(pugi::xml_node root, std::string_view local) const {
    // RSS 0.90 and 1.0 share the root; a namespace distinguishes them.
    if (local == "RDF") {
      for (const pugi::xml_attribute attribute : root.attributes()) {
        if (std::string_view(attribute.value()).find("netscape.com/rdf/simple") !=
            std::string_view::npos)
          return FeedFormat::kRss09;
      }
      return FeedFormat::kRss10;
    }
    return std::string_view(root.attribute("version").value()).starts_with("0.")
               ? FeedFormat::kRss09
               : FeedFormat::kRss20;
  }

  void read_rss(pugi::xml_node root, std::string_view local) {
    feed_.format = rss_format(root, local);
    const pugi::xml_node channel = local == "channel" ? root : core_child(root, "channel");
    read_channel(channel);
    // Relative links in RSS are relative to the site, not to the feed.
    const auto site = net::Url::parse(feed_.site);
    if (site.ok()) base_ = *site;
    // RSS 1.0 has its items beside the channel, the others in it.
    for (const pugi::xml_node parent : {root, channel}) {
      for (const pugi::xml_node node : parent.children()) {
        if (name_of(node) == Name{Space::kCore, "item"}) add(node, &XmlFeedReader::rss_item);
      }
      if (channel == root) break;
    }
  }

  static pugi::xml_node core_child(pugi::xml_node parent, std::string_view local) {
    for (const pugi::xml_node node : parent.children()) {
      if (name_of(node) == Name{Space::kCore, local}) return node;
    }
    return {};
  }

  void read_channel(pugi::xml_node channel) {
    std::string site_from_atom;
    for (const pugi::xml_node node : channel.children()) {
      const Name name = name_of(node);
      if (name == Name{Space::kCore, "title"}) keep_first(feed_.title, rss_title(node));
      if (name == Name{Space::kCore, "link"})
        keep_first(feed_.site, resolved(node, link_text(node)));
      if (name == Name{Space::kAtom, "link"} && is_alternate(node))
        keep_first(site_from_atom, linked(node, "href"));
    }
    keep_first(feed_.site, site_from_atom);
  }

  // Some feeds write <link href="…"/> as in Atom.
  static std::string link_text(pugi::xml_node node) {
    std::string text = plain(node);
    return text.empty() ? std::string(node.attribute("href").value()) : text;
  }

  static bool is_alternate(pugi::xml_node link) {
    const std::string_view rel = link.attribute("rel").value();
    return rel.empty() || rel == "alternate" ||
           rel == "http://www.iana.org/assignments/relation/alternate";
  }

  void add(pugi::xml_node node, FeedItem (XmlFeedReader::*read_item)(pugi::xml_node)) {
    // Items that are left out are counted but not read.
    if (feed_.items.size() >= limits_.items)
      ++feed_.left_out;
    else
      feed_.items.push_back((this->*read_item)(node));
  }

  // Fields that a feed may write in several ways. All are collected; the best one is chosen when
  // the item is complete.
  struct Choices {
    std::string link, original_link, atom_link, permalink;
    std::string description, content;
    std::string date, other_date, updated;
    std::string creator, author;
    std::string image;
  };

  FeedItem rss_item(pugi::xml_node item) {
    FeedItem out;
    Choices c;
    for (const pugi::xml_node node : item.children()) read_rss_field(node, out, c);
    // FeedBurner's original address first: the other one is a redirect through it.
    for (std::string* link : {&c.original_link, &c.link, &c.atom_link, &c.permalink})
      keep_first(out.url, std::move(*link));
    // The identifier of RSS 1.0.
    keep_first(out.guid, item.attribute("rdf:about").value());
    // The content is often the whole article.
    out.summary = c.description.empty() ? c.content : c.description;
    for (std::string* date : {&c.other_date, &c.updated}) keep_first(c.date, std::move(*date));
    set_date(out, c.date, now_);
    // dc:creator is a name; <author> of RSS is an e-mail address.
    out.author = c.creator.empty() ? person(c.author) : c.creator;
    out.image = c.image;
    return out;
  }

  void read_rss_field(pugi::xml_node node, FeedItem& out, Choices& c) {
    const auto [space, local] = name_of(node);
    switch (space) {
      case Space::kCore: return read_core_field(node, local, out, c);
      case Space::kAtom:
        if (local == "link" && is_alternate(node)) keep_first(c.atom_link, linked(node, "href"));
        if (local == "published") keep_first(c.other_date, plain(node));
        if (local == "updated") keep_first(c.updated, plain(node));
        return;
      case Space::kDublinCore:
        if (local == "date" || local == "created" || local == "issued")
          keep_first(c.other_date, plain(node));
        if (local == "modified") keep_first(c.updated, plain(node));
        if (local == "creator") keep_first(c.creator, html_to_text(plain(node)));
        if (local == "title") keep_first(out.title, rss_title(node));
        return;
      case Space::kContent:
        if (local == "encoded") keep_first(c.content, rss_text(node));
        return;
      case Space::kMedia: return read_media(node, local, c.image);
      case Space::kItunes:
        if (local == "image") keep_first(c.image, linked(node, "href"));
        if (local == "author") keep_first(c.author, plain(node));
        return;
      case Space::kFeedburner:
        if (local == "origLink") keep_first(c.original_link, resolved(node, plain(node)));
        return;
      case Space::kRdf:
      case Space::kOther: return;
    }
  }

  void read_core_field(pugi::xml_node node, std::string_view local, FeedItem& out, Choices& c) {
    if (local == "title") keep_first(out.title, rss_title(node));
    if (local == "link") keep_first(c.link, resolved(node, link_text(node)));
    // A guid is also the address of the item unless it says otherwise.
    if (local == "guid") {
      keep_first(out.guid, plain(node));
      // A guid that is not an absolute address is not a link, whatever isPermaLink says.
      const std::string_view permanent = node.attribute("isPermaLink").value();
      if (permanent != "false") keep_first(c.permalink, make_absolute(std::nullopt, plain(node)));
    }
    if (local == "description" || local == "summary") keep_first(c.description, rss_text(node));
    if (local == "content" || local == "body") keep_first(c.content, rss_text(node));
    if (local == "pubDate" || local == "pubdate") keep_first(c.date, plain(node));
    if (local == "date" || local == "published") keep_first(c.other_date, plain(node));
    if (local == "updated") keep_first(c.updated, plain(node));
    if (local == "author") keep_first(c.author, html_to_text(plain(node)));
    const std::string_view type = node.attribute("type").value();
    if (local == "enclosure" && type.starts_with("image/"))
      keep_first(c.image, linked(node, "url"));
    if (local == "image") keep_first(c.image, resolved(node, image_text(node)));
  }

  static std::string image_text(pugi::xml_node node) {
    const pugi::xml_node url = core_child(node, "url");
    return url ? plain(url) : link_text(node);
  }

  void read_media(pugi::xml_node node, std::string_view local, std::string& image) {
    const std::string_view medium = node.attribute("medium").value();
    const std::string_view type = node.attribute("type").value();
    const bool picture = local == "thumbnail" ||
                         (local == "content" && (medium == "image" || type.starts_with("image/")));
    if (picture) keep_first(image, linked(node, "url"));
    if (local != "group" && local != "content") return;
    for (const pugi::xml_node child : node.children()) {
      if (name_of(child) == Name{Space::kMedia, "thumbnail"})
        keep_first(image, linked(child, "url"));
    }
  }

  // The local name of an Atom element, with or without a prefix; empty for other elements.
  static std::string_view atom_name(const Name& name) {
    return name.space == Space::kCore || name.space == Space::kAtom ? name.local
                                                                    : std::string_view();
  }

  void read_atom(pugi::xml_node root) {
    feed_.format = FeedFormat::kAtom;
    for (const pugi::xml_node node : root.children()) {
      const std::string_view local = atom_name(name_of(node));
      if (local == "title") keep_first(feed_.title, atom_text(node, rss_title));
      if (local == "link" && is_alternate(node)) keep_first(feed_.site, linked(node, "href"));
      if (local == "author") keep_first(author_, atom_person(node));
      if (local == "entry") add(node, &XmlFeedReader::atom_entry);
    }
    // RFC 4287: entries without an author have the feed's. It may come after them.
    for (FeedItem& item : feed_.items) keep_first(item.author, author_);
  }

  static std::string atom_person(pugi::xml_node person) {
    for (const pugi::xml_node node : person.children()) {
      if (atom_name(name_of(node)) == "name") return plain(node);
    }
    return {};
  }

  FeedItem atom_entry(pugi::xml_node entry) {
    FeedItem out;
    Choices c;
    for (const pugi::xml_node node : entry.children()) {
      const Name name = name_of(node);
      const std::string_view local = atom_name(name);
      if (name.space == Space::kMedia) read_media(node, name.local, c.image);
      if (name == Name{Space::kDublinCore, "creator"}) keep_first(c.creator, plain(node));
      if (name == Name{Space::kFeedburner, "origLink"})
        keep_first(c.original_link, resolved(node, plain(node)));
      if (local == "id") keep_first(out.guid, plain(node));
      if (local == "title") keep_first(out.title, atom_text(node, rss_title));
      if (local == "summary") keep_first(c.description, atom_text(node));
      if (local == "content") keep_first(c.content, atom_text(node));
      if (local == "published" || local == "issued" || local == "created")
        keep_first(c.date, plain(node));
      if (local == "updated" || local == "modified") keep_first(c.updated, plain(node));
      if (local == "author") add_person(c.author, atom_person(node));
      if (local == "link") read_atom_link(node, c);
    }
    out.url = c.original_link.empty() ? c.link : c.original_link;
    out.summary = c.description.empty() ? c.content : c.description;
    // <updated> is required and <published> is not.
    set_date(out, c.date.empty() ? c.updated : c.date, now_);
    out.author = c.author.empty() ? c.creator : c.author;
    out.image = c.image;
    return out;
  }

  static void add_person(std::string& people, const std::string& name) {
    constexpr std::size_t kEnough = 1'000;
    if (name.empty() || people.size() > kEnough) return;
    people.append(people.empty() ? "" : ", ").append(name);
  }

  void read_atom_link(pugi::xml_node node, Choices& c) {
    const std::string_view rel = node.attribute("rel").value();
    const std::string_view type = node.attribute("type").value();
    if (is_alternate(node)) keep_first(c.link, linked(node, "href"));
    if (rel == "enclosure" && type.starts_with("image/")) keep_first(c.image, linked(node, "href"));
  }

  FeedLimits limits_;
  Time now_;
  std::optional<net::Url> base_;
  Feed feed_;
  std::string author_;  // of the feed, for entries without one
};

}  // namespace

std::string make_absolute(const std::optional<net::Url>& base, std::string_view reference) {
  // An empty reference would resolve to the base itself.
  if (reference.find_first_not_of(" \t\r\n") == std::string_view::npos) return {};
  const auto url = base ? base->resolve(reference) : net::Url::parse(reference);
  return url.ok() ? url->text() : std::string();
}

Result<Feed> read_xml_feed(const pugi::xml_document& document, const FeedSource& source) {
  return XmlFeedReader(source).read(document.document_element());
}

}  // namespace kin::stories
