#include "dedup/known/dataset.h"

#include <algorithm>
#include <atomic>
#include <deque>

#include "base/workers.h"

namespace kin::dedup {

KnownDataset::KnownDataset(const KnownRecords& known, std::size_t fields)
    : known_(known), fields_(fields) {
  for (const KnownRecords::File& file : known.files()) {
    data::Input input;
    input.shown_as = file.name;
    files_.push_back(std::move(input));
    first_rows_.push_back(file.first);
  }
}

Result<data::ScanEnd> KnownDataset::scan(const data::ScanOptions& options,
                                         const data::Visitor& visitor) {
  const data::ScanEnd end{
      .position = {.file = static_cast<std::uint32_t>(files_.size()), .row = known_.size()},
      .finished = true,
      .found = std::vector<bool>(options.columns.size(), true)};
  if (options.only == nullptr) return end;
  constexpr std::size_t kAtOnce = 256;
  std::vector<RecordId> wanted;
  const std::uint64_t last = std::min<std::uint64_t>(options.only->size(), known_.size());
  for (std::uint64_t row = 0; row < last; ++row) {
    if (options.only->contains(record_id(row))) wanted.push_back(record_id(row));
  }
  std::atomic<std::size_t> next{0};
  KIN_RETURN_IF_ERROR(run_workers(std::max(options.threads, 1), [&](int worker) -> Status {
    for (std::size_t begin = next.fetch_add(kAtOnce); begin < wanted.size();
         begin = next.fetch_add(kAtOnce)) {
      const std::size_t count = std::min(kAtOnce, wanted.size() - begin);
      KIN_RETURN_IF_ERROR(give(std::span(wanted).subspan(begin, count), options, worker, visitor));
    }
    return Done{};
  }));
  return end;
}

Status KnownDataset::give(std::span<const RecordId> rows, const data::ScanOptions& options,
                          int worker, const data::Visitor& visitor) const {
  // Long texts are passed on one at a time, so that a thread holds little.
  data::BatchContent content;
  std::deque<std::string> arena;
  content.values.resize(options.columns.size());
  std::size_t held = 0;
  Status outcome = Done{};
  const auto hand_over = [&] {
    if (outcome && !content.rows.empty()) outcome = visitor(data::Batch(content), worker);
    content.rows.clear();
    content.places.clear();
    for (auto& column : content.values) column.clear();
    arena.clear();
    held = 0;
  };
  const auto keep = [&](std::optional<std::string_view> value) -> std::string_view {
    if (!value) return {};
    arena.emplace_back(*value);
    return arena.back();
  };
  KIN_RETURN_IF_ERROR(known_.read(
      rows, [&](RecordId row, std::optional<std::string_view> id, std::string_view text) {
        content.rows.push_back(row);
        content.places.push_back(row_number(row));
        for (std::size_t column = 0; column < content.values.size(); ++column) {
          const bool is_id = column >= fields_;
          content.values[column].push_back(keep(is_id         ? id
                                                : column == 0 ? std::optional(text)
                                                              : std::nullopt));
        }
        held += text.size();
        if (held >= (1 << 18)) hand_over();
      }));
  hand_over();
  return outcome;
}

}  // namespace kin::dedup
