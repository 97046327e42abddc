// Xapian at the same job, where the program was built with it.
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "app/text_collection.h"
#include "base/result.h"
#include "index/text_document.h"

namespace kin::bench {

// One thread only.
class TextPeer {
 public:
  // Nothing if the program was built without it. The index is made in `folder`.
  static Result<std::unique_ptr<TextPeer>> create(
      const std::filesystem::path& folder, const std::vector<app::CollectionDocument>& documents,
      const index::Bm25& ranking);
  virtual ~TextPeer() = default;

  // The places of the ten best documents for any of the words.
  virtual std::vector<std::uint32_t> search(const std::vector<std::string>& words) = 0;
  virtual std::uint64_t bytes() const = 0;
};

}  // namespace kin::bench
