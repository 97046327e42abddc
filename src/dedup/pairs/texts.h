// The second pass over the input: reads the texts and ids that are needed.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/record_set.h"
#include "base/result.h"
#include "data/dataset.h"
#include "dedup/options.h"
#include "dedup/pairs/candidates.h"
#include "dedup/pairs/classes.h"
#include "store/kept_values.h"

namespace kin::dedup {

// Texts for verification and for the audit log, ids for the audit log. A text is kept once for all
// records that share it: ask for that of classes.text_owner(record).
struct KeptTexts {
  // The lengths of texts that are much longer than others, sorted by record.
  struct LongText {
    RecordId record;
    std::uint64_t bytes;
    friend auto operator<=>(const LongText&, const LongText&) = default;
  };

  // The length of a text that is among them; 0 for others, which have about the mean length.
  std::uint64_t long_bytes(RecordId record) const;

  std::unique_ptr<store::KeptValues> texts;
  std::unique_ptr<store::KeptValues> ids;  // nothing if the records have no ids
  StageWork* work = nullptr;               // counts the records that are read
  std::vector<LongText> long_texts;
  std::uint64_t long_from = 1 << 16;  // bytes
};

struct KeptTextsOptions {
  std::filesystem::path folder;  // for texts beyond `memory` bytes
  bool with_ids = false;
  std::uint64_t memory = 0;
  std::uint64_t mean_bytes = 0;  // of a text
};
Result<KeptTexts> make_kept_texts(const KeptTextsOptions& options);

// The records whose texts are compared; if outputs name removed records, also those.
Result<RecordSet> texts_wanted(const Scan& scan, const Classes& classes,
                               const Candidates& candidates, bool names_removed);

// Reads the records in `wanted` again and keeps them.
Status collect_texts(data::Dataset& dataset, const DedupOptions& options, const Classes& classes,
                     const RecordSet& wanted, KeptTexts& kept);

}  // namespace kin::dedup
