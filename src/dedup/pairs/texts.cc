#include "dedup/pairs/texts.h"

#include <algorithm>
#include <mutex>

#include "dedup/record_text.h"
#include "dedup/scan/scan.h"

namespace kin::dedup {

std::uint64_t KeptTexts::long_bytes(RecordId record) const {
  const auto at = std::ranges::lower_bound(long_texts, record, {}, &LongText::record);
  return at != long_texts.end() && at->record == record ? at->bytes : 0;
}

Result<KeptTexts> make_kept_texts(const KeptTextsOptions& options) {
  KeptTexts kept;
  // A text is long if it has this many times the mean, so at most one text in as many is long.
  constexpr std::uint64_t kTimesTheMean = 8;
  constexpr std::uint64_t kLeastLong = 1024;
  kept.long_from = std::max(kLeastLong, kTimesTheMean * options.mean_bytes);
  store::KeptValuesOptions how;
  how.temporary_parent = options.folder;
  if (options.with_ids) {
    KIN_TRY(kept.ids, store::KeptValues::open(how));
  }
  how.write_buffer_bytes = std::max<std::size_t>(how.write_buffer_bytes, options.memory);
  KIN_TRY(kept.texts, store::KeptValues::open(how));
  return kept;
}

Result<RecordSet> texts_wanted(const Scan& scan, const Classes& classes,
                               const Candidates& candidates, bool names_removed) {
  RecordSet wanted(classes.size());
  for (std::size_t bin = 0; bin < Spill::kBins; ++bin) {
    KIN_RETURN_IF_ERROR(candidates.edges->visit(bin, [&](std::string_view block) {
      for (std::size_t at = 0; at < block.size(); at += sizeof(Edge)) {
        const auto edge = load_le<Edge>(block.data() + at);
        for (const RecordId id : {edge.a, edge.b}) {
          wanted.insert(id);
          wanted.insert(classes.text_owner(id));
        }
      }
    }));
  }
  if (!names_removed) return wanted;
  for (std::size_t row = 0; row < classes.size(); ++row) {
    const bool left_out = scan.left_out.get(record_id(row)) != 0;
    if (left_out || classes.has_twin(record_id(row))) wanted.insert(record_id(row));
  }
  return wanted;
}

Status collect_texts(data::Dataset& dataset, const DedupOptions& options, const Classes& classes,
                     const RecordSet& wanted, KeptTexts& kept) {
  data::ScanOptions scan_options;
  scan_options.columns = options.fields;
  if (kept.ids) scan_options.columns.push_back(*options.id_column);
  scan_options.optional_columns = scan_options.columns.size();
  scan_options.threads = options.threads;
  scan_options.on_error = options.on_error;
  scan_options.only = &wanted;
  next_phase(kept.work, wanted.count());
  std::vector<std::string> joined(static_cast<std::size_t>(options.threads));
  std::mutex mutex;  // guards the long texts
  const auto visit = [&](const data::Batch& batch, int worker) -> Status {
    count_work(kept.work, batch.size());
    for (std::size_t i = 0; i < batch.size(); ++i) {
      const RecordId row = batch.row(i);
      if (kept.ids) {
        if (const auto id = batch.value(options.fields.size(), i))
          KIN_RETURN_IF_ERROR(kept.ids->append(row, *id));
      }
      if (classes.text_owner(row) != row) continue;
      const auto text =
          text_of(batch, i, options.fields.size(), joined[static_cast<std::size_t>(worker)]);
      if (!text) continue;
      KIN_RETURN_IF_ERROR(kept.texts->append(row, *text));
      if (text->size() < kept.long_from) continue;
      const std::scoped_lock lock(mutex);
      kept.long_texts.push_back({row, text->size()});
    }
    return Done{};
  };
  KIN_RETURN_IF_ERROR(dataset.scan(scan_options, visit));
  std::ranges::sort(kept.long_texts);
  return Done{};
}

}  // namespace kin::dedup
