// Reads headlines from datasets and writes their stories.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "base/json_writer.h"
#include "base/result.h"
#include "stories/agreement.h"
#include "stories/grouper.h"

namespace kin::app {

struct HeadlineColumns {
  std::string id = "id";
  std::string title = "title";
  std::string time = "published_at";
  // These columns may be missing.
  std::string source = "source";
  std::string url = "url";
  std::string summary = "summary";
  // Column of the true story; empty: none.
  std::string label{};
};

struct Headlines {
  std::vector<std::string> ids;       // as in the input
  std::vector<stories::Item> items;   // numbered from 0
  std::vector<std::uint64_t> labels;  // hashes of the true stories, if a column was named
};

// Reads all records, in the order of the inputs. A missing title is read as an empty one, but at
// least one record must have a title. A missing id, time or label, or an invalid time, is an error.
Result<Headlines> read_headlines(std::span<const std::string> inputs,
                                 const HeadlineColumns& columns);

// Writes id, story_id, is_representative and similarity to `output`, atomically, in the format of
// its extension; as JSONL to standard output if it is empty or "-".
Status write_placements(const Headlines& headlines, std::span<const stories::Placement> placements,
                        const std::string& output);

// How well placements agree with the true stories in `labels`, in the same order.
stories::AgreementFigures agreement_of(std::span<const stories::Placement> placements,
                                       std::span<const std::uint64_t> labels);
// The fields true_stories, bcubed and pairwise.
void write_agreement(JsonWriter& json, const stories::AgreementFigures& figures);

}  // namespace kin::app
