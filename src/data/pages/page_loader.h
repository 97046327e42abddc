// Unpacked data pages, read from a file or found among kept ones.
#pragma once

#include <cstdint>
#include <string>

#include "base/file.h"
#include "base/result.h"
#include "data/kept_pages.h"
#include "data/pages/codec.h"
#include "data/pages/footer.h"
#include "data/pages/page.h"

namespace kin::data {

// The column chunk that pages belong to.
struct PageOwner {
  const File& file;
  const Leaf& leaf;
  Codec codec = Codec::kNone;
  KeptPages* kept = nullptr;  // nothing: pages are not kept
};

// Loads one page after another. Its buffers are as large as the largest page that is not kept. One
// thread only.
class PageLoader {
 public:
  // Whether the page is loaded again later. After its last use it is not kept.
  enum class Use { kAgain, kLast };

  // The views are valid until the next load().
  Result<PageBody> load(const PageOwner& owner, const PagePlace& page, Use use);

  PageCodec& codecs() { return codecs_; }
  // A buffer for other work between two loads.
  PageBuffer& stored() { return stored_; }
  PageBuffer& unpacked() { return unpacked_; }

 private:
  Result<PageBody> divide_kept(const PageOwner& owner, const PagePlace& page);

  PageCodec codecs_;
  PageBuffer stored_;
  PageBuffer unpacked_;
  KeptPages::Page held_;  // the page that was loaded last, if it is or was kept
};

}  // namespace kin::data
