#include "stories/feeds/favicon.h"

#include <algorithm>
#include <cstdint>

#include "net/url.h"
#include "stories/feeds/page_links.h"

namespace kin::stories {
namespace {

using namespace std::string_view_literals;

// Larger pictures are not icons, and decoding them would cost a browser much memory.
constexpr std::uint32_t kWidest = 2'048;
constexpr std::size_t kMostTries = 4;
constexpr std::uint64_t kMostOfPage = std::uint64_t{2} << 20;

std::uint32_t number_at(std::string_view bytes, std::size_t at, std::size_t size, bool big_endian) {
  std::uint32_t number = 0;
  for (std::size_t i = 0; i < size; ++i) {
    // PNG and JPEG are big-endian, the others little-endian.
    const std::size_t from = big_endian ? at + i : at + size - 1 - i;
    number = (number << 8) | static_cast<std::uint8_t>(bytes[from]);
  }
  return number;
}

bool fits(std::uint32_t width, std::uint32_t height) {
  return width > 0 && height > 0 && width <= kWidest && height <= kWidest;
}

bool is_png(std::string_view bytes) {
  return bytes.starts_with("\x89PNG\r\n\x1A\n") && bytes.size() >= 24 &&
         fits(number_at(bytes, 16, 4, true), number_at(bytes, 20, 4, true));
}

bool is_gif(std::string_view bytes) {
  return (bytes.starts_with("GIF87a") || bytes.starts_with("GIF89a")) && bytes.size() >= 10 &&
         fits(number_at(bytes, 6, 2, false), number_at(bytes, 8, 2, false));
}

// An ICO file has at least one image. The format limits its sides to 256 pixels.
bool is_ico(std::string_view bytes) {
  return bytes.starts_with("\0\0\1\0"sv) && bytes.size() >= 22 && number_at(bytes, 4, 2, false) > 0;
}

// The first frame header has the size of the image.
bool is_jpeg(std::string_view bytes) {
  if (!bytes.starts_with("\xFF\xD8\xFF")) return false;
  std::size_t at = 2;
  while (at + 9 < bytes.size() && bytes[at] == '\xFF') {
    const auto marker = static_cast<std::uint8_t>(bytes[at + 1]);
    // SOF0 to SOF15, without the three markers of that range that mean other things.
    const bool frame =
        marker >= 0xC0 && marker <= 0xCF && marker != 0xC4 && marker != 0xC8 && marker != 0xCC;
    if (frame) return fits(number_at(bytes, at + 7, 2, true), number_at(bytes, at + 5, 2, true));
    // The length counts its own two bytes; less than that would stop the loop from moving on.
    at += 2 + std::max<std::uint32_t>(number_at(bytes, at + 2, 2, true), 2);
  }
  return false;
}

bool is_webp(std::string_view bytes) {
  // Three layouts have the size at different places; the limit of bytes bounds it well enough.
  return bytes.size() >= 16 && bytes.starts_with("RIFF") && bytes.substr(8, 4) == "WEBP";
}

bool is_bmp(std::string_view bytes) {
  return bytes.size() >= 26 && bytes.starts_with("BM") &&
         fits(number_at(bytes, 18, 4, false), number_at(bytes, 22, 4, false));
}

std::vector<std::string> icon_addresses(net::HttpClient& client, const net::Url& site) {
  std::vector<std::string> found;
  const auto page = client.get({.url = site.text(), .most_bytes = kMostOfPage});
  // The page may have been redirected, and links are relative to where it is.
  const auto place = page.ok() ? net::Url::parse(page->url) : Result<net::Url>(site);
  if (page.ok() && page->status == 200 && place.ok()) {
    for (const IconLink& icon : find_page_links(page->body, *place).icons) {
      if (found.size() < kMostTries) found.push_back(icon.url);
    }
  }
  // Browsers look here when a page names no icon.
  const std::string common = (place.ok() ? *place : site).origin() + "/favicon.ico";
  if (std::ranges::find(found, common) == found.end()) found.push_back(common);
  return found;
}

}  // namespace

std::string_view content_type(ImageType type) {
  switch (type) {
    case ImageType::kPng: return "image/png";
    case ImageType::kGif: return "image/gif";
    case ImageType::kJpeg: return "image/jpeg";
    case ImageType::kWebp: return "image/webp";
    case ImageType::kIco: return "image/x-icon";
    case ImageType::kBmp: return "image/bmp";
  }
  KIN_UNREACHABLE();
}

std::optional<ImageType> sniff_image(std::string_view bytes) {
  // The content type of the answer is ignored: many servers send a page for a missing icon.
  if (is_png(bytes)) return ImageType::kPng;
  if (is_gif(bytes)) return ImageType::kGif;
  if (is_ico(bytes)) return ImageType::kIco;
  if (is_jpeg(bytes)) return ImageType::kJpeg;
  if (is_webp(bytes)) return ImageType::kWebp;
  if (is_bmp(bytes)) return ImageType::kBmp;
  return std::nullopt;
}

Result<std::optional<Favicon>> find_favicon(net::HttpClient& client, std::string_view address) {
  KIN_TRY(const net::Url site, net::Url::parse(address));
  for (const std::string& url : icon_addresses(client, site)) {
    auto answer = client.get({.url = url, .most_bytes = kLargestFavicon});
    if (!answer.ok() || answer->status != 200) continue;
    const auto type = sniff_image(answer->body);
    if (type) return std::optional(Favicon{answer->url, *type, std::move(answer->body)});
  }
  return std::optional<Favicon>();
}

}  // namespace kin::stories
