// Stories that are about the same subject, without being the same event.
#pragma once

#include <cstddef>
#include <vector>

#include "base/result.h"
#include "stories/ids.h"
#include "stories/newsroom/database.h"

namespace kin::stories {

// At most `most` stories that share rare words with the headlines of `story`, the most related
// first: at least two words, and a good part of the words that distinguish this story. Hidden
// stories, and stories more than a month before or after, are left out. Reads one snapshot, within
// a transaction of the caller. One thread at a time.
Result<std::vector<StoryId>> related_to(NewsDatabase& database, StoryId story, std::size_t most);

}  // namespace kin::stories
