// Favicons: finds, fetches and verifies the icon of a site.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "base/result.h"
#include "net/http_client.h"

namespace kin::stories {

// Accepted formats. SVG is not accepted, because it can contain scripts.
enum class ImageType { kPng, kGif, kJpeg, kWebp, kIco, kBmp };

// "image/png" and so on.
std::string_view content_type(ImageType type);

// Detects the format from the bytes alone. Nothing if it is not an accepted format, or if a side is
// longer than 2,048 pixels. Thread-safe.
std::optional<ImageType> sniff_image(std::string_view bytes);

struct Favicon {
  std::string url;
  ImageType type = ImageType::kPng;
  std::string bytes;
};

inline constexpr std::size_t kLargestFavicon = std::size_t{256} << 10;

// Finds the icon of the site at `address`: the first accepted image, of at most kLargestFavicon
// bytes, among those that the page links to and /favicon.ico. Nothing if there is none. An error if
// `address` is invalid. Makes a few requests at most. Thread-safe.
Result<std::optional<Favicon>> find_favicon(net::HttpClient& client, std::string_view address);

}  // namespace kin::stories
