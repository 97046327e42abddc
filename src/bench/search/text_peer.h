// Xapian, if the program was built with it.
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "base/result.h"
#include "index/text_document.h"
#include "search/document.h"

namespace kin::bench {

// One thread only.
class TextPeer {
 public:
  // Builds the index in `folder`. Null if the program was built without Xapian.
  static Result<std::unique_ptr<TextPeer>> create(const std::filesystem::path& folder,
                                                  const std::vector<search::Document>& documents,
                                                  const index::Bm25& ranking);
  virtual ~TextPeer() = default;

  // Positions of the ten best documents that have any of the words.
  virtual std::vector<std::uint32_t> search(const std::vector<std::string>& words) = 0;
  virtual std::uint64_t bytes() const = 0;
};

}  // namespace kin::bench
