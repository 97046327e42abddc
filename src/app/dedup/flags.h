// The flags that dedup, plan, eval and explain share.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "app/options.h"
#include "base/result.h"
#include "dedup/options.h"

namespace kin::app {

// The flags as the user wrote them. Unset ones are left to the preset.
struct DedupFlags {
  std::vector<std::string> fields;
  std::optional<std::string> id;
  std::optional<std::string> source;
  std::optional<std::string> by;
  std::optional<std::string> threshold;
  std::optional<std::string> shingle;
  std::optional<std::string> normalize;
  std::optional<std::string> hashes;
  std::optional<std::string> bands;
  std::optional<std::string> verify;
  std::optional<std::string> hamming;
  std::optional<std::string> chunk;
  std::vector<std::string> against;
  std::optional<std::string> contains;
  std::optional<std::string> contains_words;
  std::optional<std::string> tag;
  std::optional<std::string> repeats;
  std::optional<std::string> min_length;
  std::optional<std::string> repeats_keep;
  std::optional<std::string> keep;
  std::optional<std::string> group;
  std::optional<std::string> preset;
  std::optional<std::string> max_memory;
  std::optional<std::string> temp;
  std::optional<std::string> max_hot_signatures;
  std::optional<std::string> signature_store;
  bool other_fields = false;
  bool append = false;
  std::string on_error = "fail";
  int threads = 0;
};

// Adds the flags to `verb`; they are written to `flags` when it is parsed.
void add_dedup_flags(Verb verb, DedupFlags& flags);

// Adds the flags of kindred dedup alone: references, tags, and cutting.
void add_run_flags(Verb verb, DedupFlags& flags);

// The options: defaults, overridden by the preset, overridden by the flags.
Result<dedup::DedupOptions> understand(const DedupFlags& flags);
// The same for verbs about pairs of records, which refuse the flags of cutting.
Result<dedup::DedupOptions> understand_pairs(const DedupFlags& flags);

}  // namespace kin::app
