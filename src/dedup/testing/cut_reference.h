// Cutting by brute force, one window at a time.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "dedup/options.h"

namespace kin::dedup {

using Texts = std::vector<std::optional<std::string>>;  // the fields of one record
using Corpus = std::vector<Texts>;

struct ReferenceUnit {
  std::size_t begin;
  std::size_t end;
  std::string text;  // the compared text
  bool compared = true;
};

// The units of a text. Needs options.cut.
std::vector<ReferenceUnit> split_reference(const std::string& text, const DedupOptions& options);

bool is_blank_reference(std::string_view text);

// The rest of each record; nothing for an emptied one.
std::vector<std::optional<Texts>> cut_by_brute_force(const Corpus& corpus,
                                                     const DedupOptions& options);

}  // namespace kin::dedup
