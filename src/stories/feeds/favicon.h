// The small picture of a site: found, fetched, and looked at before it is believed.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "base/result.h"
#include "net/http_client.h"

namespace kin::stories {

// Pictures made of pixels. SVG is none of them: it can hold script, and is never taken.
enum class ImageType { kPng, kGif, kJpeg, kWebp, kIco, kBmp };

// What to serve it as: "image/png" and so on.
std::string_view content_type(ImageType type);

// What the bytes are, whatever anybody says they are; nothing for what is no picture we serve, or
// one of more than 2,048 pixels a side. Thread-safe.
std::optional<ImageType> sniff_image(std::string_view bytes);

struct Favicon {
  std::string url;
  ImageType type = ImageType::kPng;
  std::string bytes;
};

inline constexpr std::size_t kLargestFavicon = std::size_t{256} << 10;

// The icon of the site at `address`: the first of those its page names, and then of /favicon.ico,
// that is a picture of no more than kLargestFavicon bytes. Nothing if it has none. An error if the
// address is no address. Asks the site a handful of times at most. Thread-safe.
Result<std::optional<Favicon>> find_favicon(net::HttpClient& client, std::string_view address);

}  // namespace kin::stories
