// Headlines in datasets: how they come in, and how their stories go out.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "base/result.h"
#include "stories/grouper.h"

namespace kin::app {

struct HeadlineColumns {
  std::string id = "id";
  std::string title = "title";
  std::string time = "published_at";
  // May be missing.
  std::string source = "source";
  std::string url = "url";
  std::string summary = "summary";
  // Of the true story; empty if there is none.
  std::string label{};
};

struct Headlines {
  std::vector<std::string> ids;       // as the input has them
  std::vector<stories::Item> items;   // numbered from 0
  std::vector<std::uint64_t> labels;  // hashes of the true stories, if a column was named
};

// All records, in the order of the inputs. A record without a title has an empty one, but some must
// have one; a record without an id, a time or a label, or with a time that cannot be read, is an
// error.
Result<Headlines> read_headlines(std::span<const std::string> inputs,
                                 const HeadlineColumns& columns);

// Writes id, story_id, is_representative and similarity to `output`, whole or not at all, in the
// format of its extension; to standard output as JSONL if it is empty or "-".
Status write_placements(const Headlines& headlines, std::span<const stories::Placement> placements,
                        const std::string& output);

}  // namespace kin::app
